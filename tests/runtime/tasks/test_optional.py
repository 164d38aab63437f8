"""Fields and constants that a launch may leave out, and several fields as one argument: variants of one task."""

import pickle
import subprocess
import sys
from dataclasses import dataclass

import cloudpickle
import numpy as np
import pytest

from taskflow.runtime.machine.kernel.text import complete
from taskflow.runtime.regions import Box, Field, FieldSpace, Region
from taskflow.runtime.tasks import (
    Components,
    Read,
    ReadWrite,
    Reduce,
    Roles,
    Scalar,
    Variant,
    Write,
    offsets,
    record,
    serial,
    siblings,
    star,
    task,
)

OVER = Box.of((4, 4, 4))
ACROSS_X, ACROSS_Y = offsets(x=(0, 1)), offsets(y=(0, 1))


@dataclass(frozen=True)
class Drag:
    """A constant."""

    coefficient: float


@task
def advance(
    velocity: Components(u=Read[ACROSS_X], v=Read[ACROSS_Y]), rho: Read[1] | None,
    tracer: Components(c=Read[2], d=Read) | None, new: Components(u_new=Write, v_new=ReadWrite),
    *, dt: Scalar, drag: Drag | None, factor: float | None, n: int,
):  # fmt: skip
    """u_new = the divergence and what there is besides; v_new adds up what was left out."""
    u, v = velocity
    u_new, v_new = new
    rise = u[1, 0, 0] - u[0, 0, 0] + v[0, 1, 0] - v[0, 0, 0]
    if rho is not None:
        rise = rise * rho[0, 0, -1]
    if tracer is not None:
        c, d = tracer
        rise = rise + c[0, 2, 0] * d[...]
    u_new[...] = rise * dt * (1.0 if factor is None else factor) - (0.0 if drag is None else drag.coefficient) * n
    v_new[...] = v_new[...] + sum(item is None for item in (rho, tracer, drag, factor))


def launched(rho="rho", tracer=("c", "d"), **constants):
    values = {"drag": Drag(0.5), "factor": 2.0, "n": 3} | constants
    return advance(("u", "v"), rho, tracer, ("p", "q"), over=OVER, dt="dt", **values)


def test_a_task_knows_what_may_be_left_out():
    assert advance.optional == {"rho", "tracer", "drag", "factor"}
    assert advance.parameters == {
        "velocity": ("u", "v"), "rho": ("rho",), "tracer": ("c", "d"), "new": ("u_new", "v_new"),
    }  # fmt: skip
    assert list(advance.fields) == ["u", "v", "rho", "c", "d", "u_new", "v_new"]
    assert advance.constants == {"drag": Drag, "factor": float, "n": int}


def test_what_is_there_is_the_task_itself():
    launch = launched()
    assert launch.task is advance
    assert launch.fields == ("u", "v", "rho", "c", "d", "p", "q")
    assert launch.stencils["c"] == star(2)


def test_what_is_left_out_is_no_requirement():
    launch = launched(rho=None, tracer=None, drag=None)
    assert launch.task is advance.of(Variant(absent=frozenset({"rho", "tracer", "drag"})))
    assert launch.task.name == launch.task.symbol == "advance"
    assert launch.task.base is advance
    assert launch.fields == ("u", "v", "p", "q")
    assert dict(launch.requirements) == {"u": Read[ACROSS_X], "v": Read[ACROSS_Y], "p": Write, "q": ReadWrite}
    assert launch.constants == {"factor": 2.0, "n": 3}
    assert launch.scalars == {"dt": "dt"}
    assert launch.written == ("p", "q")


@pytest.mark.parametrize("rho", ["rho", None])
@pytest.mark.parametrize("tracer", [("c", "d"), None])
@pytest.mark.parametrize("constants", [{}, {"drag": None}, {"factor": None}, {"drag": None, "factor": None}])
def test_a_python_body_gets_tuples_and_none(rho, tracer, constants):
    """Once for every variant: what it does is what the body says."""
    names = ("u", "v", "rho", "c", "d", "p", "q")
    space = Region(OVER, FieldSpace(Field(name) for name in names), (True,) * 3, ghost=2)
    memory = {name: np.random.default_rng(0).random(array.shape) for name, array in serial.allocate(space).items()}
    inside = OVER.slices((-2, -2, -2))
    u, v, density, c, d, _, q = (np.pad(memory[name][inside], 2, mode="wrap") for name in names)
    launch = launched(rho, tracer, **constants)
    launches, _ = record(lambda f: [launch], Roles.of(names))
    serial.run_program(space, memory, launches, {"dt": 0.1})
    rise = np.roll(u, -1, 2) - u + np.roll(v, -1, 1) - v
    rise = rise * np.roll(density, 1, 0) if rho else rise
    rise = rise + np.roll(c, -2, 1) * d if tracer else rise
    rise = rise * 0.1 * (1.0 if "factor" in constants else 2.0) - (0.0 if "drag" in constants else 0.5) * 3
    np.testing.assert_array_equal(memory["p"][inside], rise[inside])
    absent = (rho is None) + (tracer is None) + len(constants)
    np.testing.assert_array_equal(memory["q"][inside], (q + absent)[inside])


# ------------------------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(("fields", "told"), [
    ((None, "rho", ("c", "d"), ("p", "q")), "velocity is None; give a tuple of fields, for u, v"),
    (("u", "rho", ("c", "d"), ("p", "q")), "velocity is 'u'; give a tuple of fields, for u, v"),
    ((("u", "v", "w"), "rho", ("c", "d"), ("p", "q")), "velocity is .*; give a tuple of fields, for u, v"),
    ((("u", "v"), ("rho",), ("c", "d"), ("p", "q")), r"rho is \('rho',\); give the name of a field, such as roles.rho"),
    ((("u", "v"), "rho", ("c", None), ("p", "q")), "tracer is .*; give the name of a field, such as roles.c"),
    ((("u", "v"), "rho", ("c", "d"), ("p", "p")), "field 'p' is written and bound to a second parameter"),
    ((("u", "v"), None, None, ("p", "u")), "field 'u' is written and bound to a second parameter"),
    ((("u", "v"), "rho", ("p", "q")), r"takes 4 fields \(velocity, rho, tracer, new\), not 3"),
])  # fmt: skip
def test_fields_that_do_not_fit(fields, told):
    with pytest.raises(TypeError, match=told):
        advance(*fields, over=OVER, dt="dt", drag=None, factor=None, n=1)


@pytest.mark.parametrize(("constants", "told"), [
    ({"n": None}, "n=None is not a int"),
    ({"drag": 0.5}, "drag=0.5 is not a Drag"),
    ({"factor": "2"}, "factor='2' is not a float"),
])  # fmt: skip
def test_constants_that_do_not_fit(constants, told):
    with pytest.raises(TypeError, match=told):
        launched(**constants)


def test_an_optional_constant_is_named_all_the_same():
    with pytest.raises(TypeError, match="takes the keywords over, dt, drag, factor, n; it was given over, dt, n"):
        advance(("u", "v"), None, None, ("p", "q"), over=OVER, dt="dt", n=1)


def test_numbers_are_always_made():
    def wrong(p: Read, q: Write, *, s: Reduce["sum"] | None): ...

    with pytest.raises(TypeError, match="parameter 's' is always computed: only inputs of a task"):
        task(wrong)


@task(kernel="""
FN real times(real a, None) { return a; }
FN real times(real a, In64 by) { return a * real(*by); }
#include "cell.h"
TASK scale(Range range, In p, Out q OPTIONAL(by)) { for_cells(range, CELL(c) { q[c] = times(p[c], by); }); }
""")
def scale(p: Read, q: Write, *, by: Scalar | None):
    """q = by p"""
    q[...] = p[...] * (1.0 if by is None else by)


@pytest.mark.parametrize("by", [None, "double"])
def test_a_scalar_may_be_left_out(by):
    """Of a body in Python, and of a kernel text."""
    launch = scale("p", "q", over=OVER, by=by)
    assert launch.scalars == ({} if by is None else {"by": "double"})
    space = Region(OVER, FieldSpace([Field("p"), Field("q")]))
    memory = serial.allocate(space)
    memory["p"][...] = 3.0
    serial.run_program(space, memory, [launch], {"double": 2.0})
    inside = OVER.slices((-1, -1, -1))
    assert (memory["q"][inside] == (3.0 if by is None else 6.0)).all()
    assert ("OPTIONAL_by , In64 by" in complete(launch.task, np.dtype("f8"), "")) == (by is not None)


def test_components_have_names_of_their_own():
    with pytest.raises(TypeError, match="task wrong: two fields have the name 'u'"):

        @task
        def wrong(velocity: Components(u=Read, v=Read), new: Components(u=Write)): ...


def test_components_are_no_keyword():
    with pytest.raises(TypeError, match="parameter 'velocity' is a field: put it before the"):

        @task
        def wrong(p: Write, *, velocity: Components(u=Read, v=Read)): ...


def test_what_is_written_may_not_all_be_left_out():
    with pytest.raises(TypeError, match="task wrong writes no field and reduces nothing"):

        @task
        def wrong(p: Read, q: Write | None): ...


# ------------------------------------------------------------------------------------------------------------ identity


def test_a_variant_is_one_object():
    one, other = (launched(rho=None, factor=factor).task for factor in (2.0, 3.0))
    assert one is other
    assert pickle.loads(pickle.dumps(one)) is one
    assert pickle.loads(cloudpickle.dumps(launched(rho=None))).task is one
    assert pickle.loads(pickle.dumps(Variant(absent=frozenset({"rho"})))) == Variant(absent=frozenset({"rho"}))


TEXT = """
TASK spread(Range range, In p OPTIONAL(s), Out q) { for_cells(range, CELL(c) { q[c] = p[c]; }); }
TASK gather(Range range, In p, Out q) { for_cells(range, CELL(c) { q[c] = p[c]; }); }
"""


@task(kernel=TEXT)
def spread(p: Read, s: Read | None, q: Write): ...


@task(kernel=TEXT)
def gather(p: Read, q: Write): ...


def test_siblings_of_a_variant_leave_out_the_same():
    alone = spread("p", None, "q", over=OVER).task
    assert [item.name for item in siblings(alone)] == ["gather", "spread"]
    assert siblings(alone)[1] is alone
    assert all("s" not in item.fields for item in siblings(alone))


SENDER = """
import cloudpickle, sys
import taskflow.runtime.tasks as tf
from taskflow.runtime.regions import Box

@tf.task
def blend(pair: tf.Components(a=tf.Read, b=tf.Read), c: tf.Read | None, d: tf.Write) -> None: ...

over = Box.of((2, 2, 2))
launches = [blend(("a", "b"), c, "d", over=over) for c in (None, "c", None)]
sys.stdout.buffer.write(cloudpickle.dumps(launches))
"""


def test_variants_of_a_script_are_one_object_each_elsewhere():
    done = subprocess.run([sys.executable, "-c", SENDER], capture_output=True, check=True)
    first, whole, again = pickle.loads(done.stdout)
    assert first.task is again.task is first.task.base.of(first.task.derived[1])
    assert whole.task is first.task.base
    assert (first.fields, whole.fields) == (("a", "b", "d"), ("a", "b", "c", "d"))
