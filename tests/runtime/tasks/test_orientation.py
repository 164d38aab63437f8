"""Orientation: tasks written once, and turned to each axis and each face of the domain."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from taskflow.runtime.regions import Box, region
from taskflow.runtime.tasks import (
    FACES,
    Axis,
    Components,
    Face,
    Foreign,
    Read,
    ReadWrite,
    Variant,
    Write,
    facing,
    frame,
    lines,
    offsets,
    serial,
    siblings,
    task,
)  # fmt: skip


@dataclass(frozen=True)
class Mirror:
    """Ghost = factor inside + value."""

    factor: float
    value: float


@task(kernel="TASK mirror(Range range, InOut q, Mirror mirror) {}")
def mirror(q: ReadWrite[facing(n=(1, 1))], *, mirror: Mirror, on: Face) -> None:
    """q[ghost] = factor q[inside] + value"""


OVER = Box.of((4, 4, 4))
SIDE = {"on": "y_max", "mirror": Mirror(1.0, 0.0)}


def moves(orientation: str) -> dict[str, tuple[int, int, int]]:
    """The steps N, R and S as offsets along x, y and z."""
    axis, high = frame(orientation)
    units = [tuple(int(n == m) for m in range(3)) for n in range(3)]
    r, s = (n for n in range(3) if n != axis)
    n = tuple(-step if high else step for step in units[axis])
    return {"n": n, "r": units[r], "s": units[s]}


@pytest.mark.parametrize("orientation", [*"xyz", *FACES])
def test_a_stencil_is_turned_with_its_task(orientation):
    """Each offset of the frame is one along x, y and z; no other is read."""
    step = moves(orientation)
    box = {"n": (0, 2), "r": (-1, 0), "s": (1, 1)}
    turned = facing(**box).turned(orientation)
    expected = {
        tuple(sum(count * step[name][a] for name, count in zip("nrs", counts, strict=True)) for a in range(3))
        for counts in product(*(range(first, last + 1) for first, last in box.values()))
    }
    assert {offset for offset in product(range(-3, 4), repeat=3) if offset in turned} == expected


@pytest.mark.parametrize("face", FACES)
def test_high_faces_have_the_number_of_the_cell_above(face):
    inside = facing(n=(0, 0), high=(1, 1)).turned(face)
    axis, high = frame(face)
    assert inside == offsets(**{"xyz"[axis]: (-1, -1) if high else (0, 0)})


def test_both_boxes_of_a_union_are_turned():
    both = facing(r=(0, 1)) | facing(n=(1, 1), high=(0, 0))
    assert both.turned("z_min") == offsets(x=(0, 1)) | offsets(z=(1, 1))
    assert both.turned("y_max") == offsets(x=(0, 1)) | offsets()


def test_lines_go_along_axes_and_the_one_of_a_task():
    for axis in "xyz":
        assert lines("xn").turned(axis) == lines("".join(sorted({"x", axis})))
        assert lines("n").turned(f"{axis}_max") == lines(axis)
    with pytest.raises(ValueError, match="name the axes"):
        lines("xr")


def test_a_box_whose_first_offset_lies_behind_the_last_is_refused():
    with pytest.raises(ValueError, match=r"facing\(r=\(1, 0\)\)"):
        facing(r=(1, 0))
    with pytest.raises(ValueError, match=r"facing\(high=\(0, -1\)\)"):
        facing(high=(0, -1))


def test_components_and_foreign_fields_are_turned():
    @task
    def copied(q: Components(a=Read[facing(n=(1, 1))], b=Read), g: Foreign[facing(r=(0, 1))], c: Write, *, on: Face):
        c[...] = q[0][...] + g[...]

    launch = copied(("a", "b"), "g", "c", over=OVER, on="y_max")
    assert launch.stencils == {"a": offsets(y=(-1, -1)), "b": offsets()}
    assert launch.task.fields["g"].stencil == offsets(x=(0, 1))


def test_a_body_gets_the_orientation():
    """The task has no kernel: its body turns itself."""

    @task
    def copied(a: Read[facing(n=(1, 1))], b: Write, *, on: Face) -> None:
        axis, high = frame(on)
        b[...] = a[tuple((-1 if high else 1) if n == axis else 0 for n in range(3))]

    where = region((4, 3, 2), ["a", "b"])
    for face, at, inside in (("y_min", 0, 1), ("y_max", 2, 1)):
        memory = serial.allocate(where)
        memory["a"][...] = np.arange(memory["a"].size).reshape(memory["a"].shape)
        over = Box((0, at, 0), (4, at + 1, 2))
        serial.run_program(where, memory, [copied("a", "b", over=over, on=face)], {})
        source = Box((0, inside, 0), (4, inside + 1, 2)).slices(where.bounds.lo)
        np.testing.assert_array_equal(memory["b"][over.slices(where.bounds.lo)], memory["a"][source])


@pytest.mark.parametrize(("on", "about"), [("top", "on='top' is not one of x_min, x_max, "), ("x", "not one of x_min"),
                                           (None, "on=None is not one of")])  # fmt: skip
def test_a_name_that_is_no_face_is_refused(on, about):
    with pytest.raises(TypeError, match=about):
        mirror("q", over=OVER, **{**SIDE, "on": on})


def test_a_face_is_no_axis():
    @task(kernel="TASK along(Range range, InOut q) {}")
    def along(q: ReadWrite, *, along: Axis) -> None: ...

    with pytest.raises(TypeError, match="along='x_min' is not one of x, y, z"):
        along("q", over=OVER, along="x_min")


def test_an_orientation_cannot_be_left_out():
    with pytest.raises(TypeError, match="takes the keywords over, mirror, on"):
        mirror("q", over=OVER, mirror=SIDE["mirror"])


def test_a_task_has_one_orientation():
    with pytest.raises(TypeError, match="turned twice"):

        @task
        def twice(q: ReadWrite, *, on: Face, along: Axis) -> None:
            q[...] = 0


def test_a_frame_needs_an_orientation():
    with pytest.raises(TypeError, match="not turned: give it a keyword Axis or Face"):

        @task
        def astray(q: ReadWrite[facing(n=(1, 1))]) -> None:
            q[...] = 0


def test_variants_are_one_object_each_in_a_process():
    launches = [mirror(q, over=OVER, **SIDE) for q in ("q", "r")]
    turned = launches[0].task
    assert turned is launches[1].task is mirror.of(Variant(orientation="y_max"))
    assert turned is not mirror("q", over=OVER, **{**SIDE, "on": "y_min"}).task
    assert (turned.name, turned.symbol, turned.orientation, turned.base) == ("mirror_y_max", "mirror", "y_max", mirror)
    assert turned in siblings(turned)
    assert turned.fields["q"] == ReadWrite[offsets(y=(-1, -1))]
