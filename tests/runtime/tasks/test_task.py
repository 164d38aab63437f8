"""Tasks are checked where they are defined, launches where they are made."""

import copy
import pickle
import re
from dataclasses import dataclass
from inspect import Parameter, Signature, formatannotation
from pathlib import Path
from types import MappingProxyType

import pytest

from taskflow.common.errors import BadInput
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import (
    MOST_REDUCTIONS,
    Privilege,
    Read,
    ReadWrite,
    Reduce,
    Scalar,
    Write,
    offsets,
    star,
    task,
)
from taskflow.runtime.tasks.dependence import poison

OVER = Box.of((4, 4, 4))


@dataclass(frozen=True)
class Coefficients:
    """A constant."""

    a: float


@dataclass(frozen=True)
class Counts:
    """A constant of integers."""

    all: int
    sizes: tuple[int, int, int]


class Wide(Coefficients):
    """A constant with which more is read."""

    stencils = MappingProxyType({"p": star(2)})


@task
def smooth(p: Read[1], rhs: Read, q: Write, *, c: Coefficients, dt: Scalar, residual: Reduce[max], n: int):
    """q = a star of p"""


# ---------------------------------------------------------------------------------------------------------- definition


def test_a_task_knows_its_signature():
    assert smooth.name == "smooth"
    assert smooth.kernel is None
    assert smooth.fields == {"p": Privilege(reads=True, stencil=star(1)), "rhs": Read, "q": Write}
    assert list(smooth.fields) == ["p", "rhs", "q"]
    assert smooth.constants == {"c": Coefficients, "n": int}
    assert smooth.scalars == ("dt",)
    assert smooth.reductions == {"residual": "max"}
    assert smooth.keywords == ("c", "dt", "residual", "n")
    assert smooth.body.__doc__ == "q = a star of p"


def test_a_kernel_text_holds_the_arithmetic(tmp_path):
    text = tmp_path / "copy.cu"
    text.write_text("")

    @task(kernel=text)
    def duplicate(p: Read, q: Write):
        """q = p"""

    assert duplicate.kernel == text


def test_a_string_is_a_text_and_a_path_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("fill.cu").write_text("")
    one_line = "TASK fill(Range range, Out q) { for_cells(range, CELL(c) { q[c] = 0; }); }"

    def fill(q: Write):
        """q = 0"""

    assert task(kernel=one_line)(fill).kernel == one_line
    assert task(kernel=Path("fill.cu"))(fill).kernel == tmp_path / "fill.cu"
    with pytest.raises(TypeError, match=r"fill: the kernel text 'fill\.cu' defines no TASK; a file is given as a Path"):
        task(kernel="fill.cu")(fill)


def test_a_text_has_a_task_of_the_same_name(tmp_path):
    text = '// fil\n#include "cell.h"\nTASK fill(Range r, Out q) {}\nTASK other(Range r, Out q) {}\n'

    def fil(q: Write):
        """q = 0"""

    (tmp_path / "fill.cu").write_text(text)
    for kernel in (text, tmp_path / "fill.cu"):
        with pytest.raises(TypeError, match=r"task fil: its kernel text has no TASK fil\(\.\.\.\); it has fill, other"):
            task(kernel=kernel)(fil)
    (tmp_path / "fil.h").write_text("TASK fil(Range r, Out q) {}\n")
    for seen_by_the_compiler in ('#include "fil.h"\n', "#define FILL(x) TASK fi##x\n", "FILL(fil)\n"):
        (tmp_path / "fill.cu").write_text(text + seen_by_the_compiler)
        assert task(kernel=tmp_path / "fill.cu")(fil).name == "fil"


@pytest.mark.parametrize("kind", [str, tuple[float, float, float], float | int], ids=str)
def test_a_kernel_takes_some_constants(kind):
    def fill(q: Write, *, value):
        """q = value"""

    fill.__annotations__["value"] = kind
    assert task(fill).constants == {"value": kind}
    message = f"task fill: constant 'value' is annotated {formatannotation(kind)}; a kernel takes float, int, bool or a"
    with pytest.raises(TypeError, match=re.escape(message)):
        task(kernel="TASK fill(Range range, Out q, Value value) {}")(fill)


@pytest.mark.parametrize(("value", "message"), [
    (2**31, "n = 2147483648; an integer of a kernel lies between -2147483648 and 2147483647: declare it float"),
    (-(2**31) - 1, "n = -2147483649; an integer"),
    (Counts(1, (1, 2**40, 1)), r"n.sizes\[1\] = 1099511627776; an integer"),
])  # fmt: skip
def test_a_whole_number_of_a_kernel_has_32_bits(value, message):
    def fill(q: Write, *, n):
        """q = n"""

    fill.__annotations__["n"] = type(value)
    with pytest.raises(BadInput, match=f"fill: {message}"):
        task(kernel="TASK fill(Range range, Out q, int n) {}")(fill)("q", over=OVER, n=value)
    assert task(fill)("q", over=OVER, n=value).constants == {"n": value}


def test_annotations_may_be_strings():
    @task
    def half(p: "Read[offsets(x=(0, 1))]", q: "ReadWrite"):
        """q += p"""

    assert half.fields == {"p": Read[offsets(x=(0, 1))], "q": ReadWrite}


def undefined(p):
    """Not annotated."""


def with_default(p: Read, q: Write = None):
    """Has a default."""


def with_many(*p: Write):
    """Variadic."""


def with_rest(p: Write, **rest: Scalar):
    """Variadic keywords."""


def positional_constant(p: Write, c: float):
    """A constant among the fields."""


def positional_scalar(p: Write, dt: Scalar):
    """A scalar among the fields."""


def positional_reduction(p: Write, m: Reduce[max]):
    """A reduction among the fields."""


def keyword_field(p: Write, *, q: Read):
    """A field among the keywords."""


def keyword_over(p: Write, *, over: float):
    """Takes the name of the box."""


def without_effect(p: Read[1], *, dt: Scalar):
    """Only reads."""


def without_fields(*, dt: Scalar):
    """Nothing."""


def only_reduces(*, m: Reduce[max]):
    """Nothing to reduce."""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            undefined,
            "task undefined: parameter 'p' is not annotated; say Read, Write, ReadWrite, Scalar, Reduce or a",
        ),
        (
            with_default,
            "task with_default: parameter 'q' has a default or is variadic; name every parameter and pass every value",
        ),
        (with_many, "task with_many: parameter 'p' has a default or is variadic"),
        (with_rest, "task with_rest: parameter 'rest' has a default or is variadic"),
        (
            positional_constant,
            "parameter 'c' is positional, so a field: annotate it Read, Read[width], Write, ReadWrite, Col",
        ),
        (positional_scalar, "parameter 'dt' is positional, so a field"),
        (positional_reduction, "parameter 'm' is positional, so a field"),
        (keyword_field, "parameter 'q' is a field: put it before the *"),
        (keyword_over, "parameter 'over' has the name of the box that a launch is over; choose another name"),
        (without_effect, "task without_effect writes no field and reduces nothing: it has no effect"),
        (without_fields, "task without_fields has no field: there is nothing to visit; its positional parameters are"),
        (only_reduces, "task only_reduces has no field: there is nothing to visit"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_definition_errors(body, message):
    with pytest.raises(TypeError) as caught:
        task(body)
    assert message in str(caught.value)


def test_missing_kernel_text():
    with pytest.raises(TypeError, match=r"task fill: there is no kernel text .*nowhere\.cu"):

        @task(kernel=Path("nowhere.cu"))
        def fill(q: Write):
            """q = 0"""


def test_a_task_folds_as_many_numbers_as_an_all_reduce_has_places_for():
    def reducing(number):
        def body(p: Read, **numbers):
            """Many maxima of p."""

        field = Parameter("p", Parameter.POSITIONAL_OR_KEYWORD, annotation=Read)
        maxima = [Parameter(f"m{n}", Parameter.KEYWORD_ONLY, annotation=Reduce["max"]) for n in range(number)]
        body.__signature__ = Signature([field, *maxima])
        return body

    assert len(task(reducing(MOST_REDUCTIONS)).reductions) == MOST_REDUCTIONS
    with pytest.raises(TypeError, match="task body reduces 33 numbers; at most 32 can be: make it two tasks"):
        task(reducing(MOST_REDUCTIONS + 1))


def test_a_reduction_alone_is_an_effect():
    @task
    def largest(p: Read, *, m: Reduce[max]):
        """m = max p"""

    assert largest.reductions == {"m": "max"}


def test_a_library_does_what_the_body_says_in_one_piece():
    @task(library="forward")
    def transformed(p: Read, q: Write):
        """q = something of all of p"""
        q[...] = p[...]

    assert (transformed.library, transformed.kernel, transformed.whole) == ("forward", None, True)
    assert not smooth.whole


def test_a_library_takes_no_scalars():
    with pytest.raises(TypeError, match="task scaled is done by a library, which takes fields and constants"):

        @task(library="forward")
        def scaled(q: Write, *, dt: Scalar):
            """q = dt"""


# ------------------------------------------------------------------------------------------------------------ launches

VALUES = {"c": Coefficients(1.0), "dt": "dt", "residual": "r", "n": 3}


def test_a_launch_binds_names_and_values():
    launch = smooth("p0", "b", "p1", over=OVER, **VALUES)
    assert launch.task is smooth
    assert launch.over == OVER
    assert launch.requirements == (("p0", Read[1]), ("b", Read), ("p1", Write))
    assert launch.written == ("p1",)
    assert launch.constants == {"c": Coefficients(1.0), "n": 3}
    assert launch.scalars == {"dt": "dt"}
    assert launch.reductions == {"residual": ("r", "max")}
    assert str(launch) == "smooth(p0, b, p1)"


@pytest.mark.parametrize(
    ("fields", "changes", "message"),
    [
        (("p", "b"), {}, "smooth takes 3 fields (p, rhs, q), not 2"),
        (("p", "b", "q", "r"), {}, "smooth takes 3 fields (p, rhs, q), not 4"),
        (
            ("p", "b", "q"),
            {"tolerance": 1},
            "smooth takes the keywords over, c, dt, residual, n; it was given over, c, dt, residual, n, tol",
        ),
        (("p", "b", "q"), {"dt": 0.1}, "smooth: dt=0.1 has to be the name of a scalar"),
        (("p", "b", "q"), {"residual": 0}, "smooth: residual=0 has to be the name of a scalar"),
        (("p", "b", "q"), {"c": 1.0}, "smooth: c=1.0 is not a Coefficients"),
        (("p", "b", "q"), {"n": 1.5}, "smooth: n=1.5 is not a int"),
        (("p", "b", "p"), {}, "smooth: field 'p' is written and bound to a second parameter"),
        (("p", "q", "q"), {}, "smooth: field 'q' is written and bound to a second parameter"),
        (("p", 3, "q"), {}, "smooth: rhs is 3; give the name of a field, such as roles.rhs"),
        ((None, "b"), {}, "smooth: p is None; give the name of a field, such as roles.p"),
        (
            ("p", "b", "q"),
            {"over": (4, 4, 4)},
            "smooth: over=(4, 4, 4) is no Box; launch it over region.cells, say, or",
        ),
    ],
)
def test_launch_errors(fields, changes, message):
    with pytest.raises(TypeError) as caught:
        smooth(*fields, **({"over": OVER} | VALUES | changes))
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["c", "dt", "residual", "n"])
def test_every_value_is_passed(name):
    values = {key: value for key, value in VALUES.items() if key != name}
    with pytest.raises(TypeError, match="smooth takes the keywords over, c, dt, residual, n; it was given over, "):
        smooth("p", "b", "q", over=OVER, **values)


def test_a_launch_has_a_box():
    with pytest.raises(TypeError, match="over"):
        smooth("p", "b", "q", **VALUES)


def test_two_reductions_have_two_results():
    @task
    def extremes(p: Read, *, low: Reduce[min], high: Reduce[max]):
        """low, high = min p, max p"""

    with pytest.raises(TypeError, match="extremes: two reductions have the same result among m, m"):
        extremes("p", over=OVER, low="m", high="m")


def test_a_field_may_be_read_twice():
    launch = smooth("p", "p", "q", over=OVER, **VALUES)
    assert launch.fields == ("p", "p", "q")


def test_launches_differ_even_if_equal():
    one, other = smooth("p", "b", "q", over=OVER, **VALUES), smooth("p", "b", "q", over=OVER, **VALUES)
    assert one != other
    assert len({one, other}) == 2


# ---------------------------------------------------------------------------------------------------------- one object


def test_a_constant_of_a_derived_class_may_say_what_is_read():
    names = {"over": OVER, "dt": "dt", "residual": "r", "n": 2}
    launch, plain = (smooth("p", "rhs", "q", c=c, **names) for c in (Wide(1.0), Coefficients(1.0)))
    assert launch.stencils == {"p": star(2), "rhs": Read.stencil}
    assert plain.task is smooth
    assert smooth.fields["p"] == Read[1]
    assert launch.task is pickle.loads(pickle.dumps(launch.task))


def test_a_task_is_one_object_per_process():
    assert copy.deepcopy(smooth) is smooth
    assert copy.copy(smooth) is smooth


def test_tasks_travel_by_name():
    """Like functions. This test's module has no name that an import would find; a module of the package has."""
    assert pickle.loads(pickle.dumps(poison)) is poison
