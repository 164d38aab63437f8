"""What passes of programs carry from one to the next, and what they overwrite."""

from __future__ import annotations

from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Coloured, Read, ReadWrite, Write, live_in, overwritten, task

CELLS = Box.of((6, 4, 5))


@task
def take(a: Read[1], b: Write) -> None:
    """b from a and its neighbours"""
    b[...] = a[...]


@task
def add(a: ReadWrite) -> None:
    """a + 1"""
    a[...] += 1


@task
def sweep(a: Coloured[1]) -> None:
    """Cells of one colour."""
    a[...] = a[...]


def partition(*, periodic: bool = True) -> Partition:
    fields = FieldSpace(Field(name, "f8") for name in ("a", "b", "c"))
    return Partition(Region(CELLS, fields, (periodic,) * 3, 1), (1, 1, 2))


def found(program, **options):
    return live_in((program,), partition(**options))


def test_what_is_made_before_it_is_read_is_not_carried():
    def program(f):
        yield take(f.a, f.b, over=CELLS)
        yield take(f.b, f.c, over=CELLS)

    assert found(program) == {"a": (CELLS,)}
    assert overwritten((program,), partition()) == {"b": (CELLS,), "c": (CELLS,)}


def test_what_is_added_to_is_carried():
    assert found(lambda f: iter([add(f.c, over=CELLS)])) == {"c": (CELLS,)}


def test_boundary_layers_that_nobody_writes_are_read_as_they_are():
    carries = found(lambda f: iter([take(f.a, f.b, over=CELLS)]), periodic=False)
    assert sum(box.volume for box in carries["a"]) == CELLS.volume + 2 * (6 * 4 + 4 * 5 + 5 * 6)


def test_cells_that_are_not_overwritten_stay():
    """Half of b is written before all of it is read."""
    half = CELLS.layer(2, 0, 0, 2)

    def program(f):
        yield take(f.a, f.b, over=half)
        yield take(f.b, f.c, over=CELLS)

    assert found(program) == {"a": (CELLS.layer(2, 0, 0, 3), CELLS.layer(2, 1, 0, 1)), "b": (CELLS.layer(2, 1, 0, 3),)}


def test_cells_of_other_colours_stay():
    assert found(lambda f: iter([sweep(f.a, over=CELLS)])) == {"a": (CELLS,)}


def test_parts_that_are_exchanged():
    """a and b take turns: b is made from a, and is a then. What the second pass reads the first has made."""

    def program(f):
        yield take(f.a, f.b, over=CELLS)
        f.swap("a", "b")

    assert found(program) == {"a": (CELLS,)}
    assert overwritten((program,), partition()) == {"b": (CELLS,), "a": (CELLS,)}


def test_what_is_wanted_after_a_turn_is_carried_where_nobody_makes_it():
    program = lambda f: iter([take(f.a, f.b, over=CELLS)])  # noqa: E731
    assert live_in((program,), partition(), ("b", "c")) == {"a": (CELLS,), "c": (CELLS,)}


def test_what_is_wanted_is_what_plays_the_role_then():
    """a and c take turns: after some turns either is a."""

    def program(f):
        yield add(f.b, over=CELLS)
        f.swap("a", "c")

    assert live_in((program,), partition(), ("a",)) == dict.fromkeys("abc", (CELLS,))
