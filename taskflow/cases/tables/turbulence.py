"""[turbulence]: the closure of a large-eddy simulation, and rough walls."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Literal, Self

from taskflow.cases.formulas.values import unchosen
from taskflow.cases.language.problems import Problem, present, wrong
from taskflow.cases.language.table import OTHERWISE, NonNegative, Number, Positive, Table, Text, entry, optional
from taskflow.cases.tables.boundaries import Boundaries
from taskflow.common.registry import Unusable
from taskflow.common.registry import named as of_package
from taskflow.flow import StaggeredGrid
from taskflow.flow.closures import CLOSURES, Closure
from taskflow.flow.closures.eddy_viscosity import PRANDTL


class TurbulenceTable(Table):
    """Large-eddy simulation."""

    model: Text = entry(
        "subgrid-scale model: one of these, or [your own closure](../howto/own_closure.md)",
        remedy=unchosen(None, [*CLOSURES.own]),
    )
    constant: NonNegative | None = optional("model constant")
    constants: dict[str, Number] | None = optional("further numbers of your own closure: `{ name = value }`")
    prandtl: Positive = entry("turbulent Prandtl number: eddy viscosity over eddy diffusivity", PRANDTL)
    damping: Literal["van-driest", "none"] | None = optional("damping at smooth walls, of models that need it")

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        name = values.get("model")
        try:
            kind = CLOSURES[name] if isinstance(name, str) else None  # other values have a problem already
        except KeyError:
            yield wrong("model", name, unchosen(name, [*CLOSURES]))
        except Unusable as error:
            yield wrong("model", name, str(error))
        else:
            yield from _misfits(kind, values) if kind else ()

    @classmethod
    def filled(cls, values: dict[str, Any]) -> Mapping[str, Any]:
        kind, filled = _known(values), dict(values)
        if kind is not None and not present(values, "constant"):
            filled["constant"] = _closure(kind, {}).constant
        numbers, given = kind.numbers() if kind else {}, values.get("constants") or {}
        if numbers and isinstance(given, Mapping):
            filled["constants"] = {**numbers, **given}
        return filled

    @property
    def implied(self) -> Mapping[str, str]:
        return {"damping.van-driest": "model"} if self.damping is None and CLOSURES[self.model].damps else {}

    def completed(self, tables: Mapping[str, Any]) -> Self:
        return self.model_copy(update={"damping": "van-driest"}) if self.implied else self

    @classmethod
    def as_schema(cls, made: dict[str, Any]) -> dict[str, Any]:
        """The schema with the closures that are known here, and their defaults."""
        kinds, _ = CLOSURES.available()
        keys = made["properties"]
        keys["model"]["enum"] = [*kinds]
        keys["constant"][OTHERWISE] = ", ".join(
            f"`{name}` {_closure(kind, {}).constant:g}" for name, kind in kinds.items()
        )
        needed = ", ".join(f"`{name}`" for name, kind in kinds.items() if kind.damps)
        keys["constants"][OTHERWISE] = "as in the closure"
        keys["damping"][OTHERWISE] = f"`van-driest` of {needed}"
        return made

    @property
    def closure(self) -> Closure:
        """The closure with the numbers of this table."""
        return _closure(CLOSURES[self.model], dict(self))


def _known(values: Mapping[str, Any]) -> type[Closure] | None:
    """Return the class of the closure that a table names; None if it is unknown."""
    name = values.get("model")
    with suppress(KeyError, Unusable):
        return CLOSURES[name] if isinstance(name, str) else None
    return None


def _closure(kind: type[Closure], values: Mapping[str, Any]) -> Closure:
    given = {} if values.get("constant") is None else {"constant": values["constant"]}
    known = kind.numbers()
    return kind(**given, **{name: type(known[name])(value) for name, value in (values.get("constants") or {}).items()})


def _are_numbers(values: Mapping[str, Any]) -> bool:
    """Return whether all numbers of a closure are numbers. Other values have a problem already."""
    constants = values.get("constants") or {}
    given = [values.get("constant"), *(constants.values() if isinstance(constants, Mapping) else [""])]
    return all(value is None or isinstance(value, int | float) for value in given)


def _misfits(kind: type[Closure], values: Mapping[str, Any]) -> Iterator[Problem]:
    """Numbers that a closure does not have or refuses, and damping that it does not need."""
    if not kind.damps:
        for key in present(values, "damping"):
            yield wrong(key, values[key], "its viscosity vanishes at walls of itself; omit it")
    numbers, known = values.get("constants") or {}, kind.numbers()
    if not _are_numbers(values):
        return
    remedies = {}
    for name, value in numbers.items():
        if name not in known:
            remedy = f"give one of {', '.join(known)}" if known else "omit it; its only one is turbulence.constant"
            remedies[name] = f"{kind.title} has no constant of this name; {remedy}"
        elif type(known[name]) is int and value % 1 != 0:
            remedies[name] = "give an integer"
    yield from (wrong(("constants", name), numbers[name], remedy) for name, remedy in remedies.items())
    if remedies:
        return
    try:
        _closure(kind, values)
    except ValueError as error:
        yield wrong("constant", values.get("constant"), str(error))
    except Exception as error:
        failed = f"your closure {of_package(kind)} failed ({type(error).__name__}: {error})"
        yield wrong("model", values["model"], failed)


def rough_walls_are_resolved(
    cells: StaggeredGrid, boundaries: Boundaries, turbulence: TurbulenceTable | None
) -> Iterator[Problem]:
    for face, side in boundaries.sides.items():
        key, most = ("boundaries", face, "roughness"), cells.constants.beside(face) / 2
        if side.roughness is not None and turbulence is None:
            yield wrong(key, side.roughness, "the law of the wall is one of turbulent flow; add a [turbulence] table")
        elif side.roughness is not None and side.roughness > most:
            remedy = f"the first cell is not as far from the wall; give at most {most:g}, or fewer cells in {face[0]}"
            yield wrong(key, side.roughness, remedy)


TurbulenceTable.rules = (rough_walls_are_resolved,)
