"""A class of constants may bring functions to a kernel text, from another package too."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from taskflow.runtime.machine.device import cpu
from taskflow.runtime.machine.kernel import KernelError, Layout, compiled
from taskflow.runtime.machine.kernel.text import struct_dtype
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Read, Write, task

TEXT = """
#include "Shape.h"
TASK shaped(Range range, In p, Out q, Shape shape) {
  for_cells(range, CELL(c) { q[c] = value(shape, p[c]); });
}
"""


@dataclass(frozen=True)
class Shape:
    """What q is of p; derived classes say."""

    factor: float = 2.0


@dataclass(frozen=True)
class Line(Shape):
    functions = "FN real value(const Shape& s, real p) { return s.factor * p; }"


@dataclass(frozen=True)
class Parabola(Shape):
    """The same members, and another function."""

    functions = "FN real value(const Shape& s, real p) { return s.factor * p * p; }"


@task(kernel=TEXT)
def shaped(p: Read, q: Write, *, shape: Shape) -> None:
    """q = f(p)"""


def run(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    box = Box.of((5, 4, 3))
    p = np.random.default_rng(0).uniform(-1, 1, box.shape[::-1])
    q = np.zeros_like(p)
    launch = shaped("p", "q", over=box, shape=shape)
    compiled(launch.task, "f8", cpu(2)).bind(box, Layout(box.lo, p.shape), [p, q], launch.constants, {})()
    return p, q


def test_each_class_has_its_function():
    p, q = run(Line(3.0))
    np.testing.assert_array_equal(q, 3.0 * p)
    p, q = run(Parabola(3.0))
    np.testing.assert_array_equal(q, 3.0 * p * p)


def test_functions_of_a_file(tmp_path):
    file = tmp_path / "cube.h"
    file.write_text("FN real value(const Shape&, real p) { return p * p * p; }")
    p, q = run(dataclass(frozen=True)(type("Cube", (Shape,), {"functions": file}))())
    np.testing.assert_array_equal(q, p * p * p)


def of_others(text: object) -> Shape:
    """A value of a class of another package with such functions."""
    return dataclass(frozen=True)(type("Theirs", (Shape,), {"functions": text, "__module__": "bazaar.shapes"}))()


@pytest.mark.parametrize(("text", "words"), [
    ("\nFN real value(const Shape& s, real p) { return s.none; }",
     r"line 2 of the functions of your shape bazaar\.shapes\.Theirs: FN real value"),
    ("FN real volume(const Shape& s, real p) { return p; }",
     r"the kernel text of shaped includes the functions of your shape bazaar\.shapes\.Theirs"),
    (3, r"functions of bazaar\.shapes\.Theirs = 3; give a kernel text, or the path of its file"),
    (Path("no_such_file.h"), r"functions of bazaar\.shapes\.Theirs: no_such_file\.h cannot be read"),
])  # fmt: skip
def test_errors_name_the_class(text, words):
    with pytest.raises(KernelError, match=words):
        run(of_others(text))


def test_a_class_without_functions_is_an_error():
    with pytest.raises(KernelError, match=r'includes "Shape\.h", which is neither in'):
        run(Shape())


def test_a_class_of_a_script_needs_no_names_of_its_module(monkeypatch):
    """Its other annotations name what the process of a block does not have there."""
    script = ModuleType("script")
    monkeypatch.setitem(sys.modules, "script", script)
    exec(
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom typing import ClassVar\n"
        "@dataclass(frozen=True)\nclass Ramp:\n    end: float = 1.0\n    title: ClassVar[str] = 'ramp'",
        vars(script),
    )
    monkeypatch.delitem(sys.modules, "script")
    assert struct_dtype(script.Ramp, np.dtype("f8")).names == ("end",)
