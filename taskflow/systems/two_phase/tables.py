"""The tables [two_phase] and [[phases]] of a case, and their rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from taskflow.cases.formulas.values import non_negative, positive, tuple_of, unchosen
from taskflow.cases.language.capabilities import TIMED, Supports
from taskflow.cases.language.problems import Key, Problem, exclusive, missing, present, wrong
from taskflow.cases.language.table import (
    Natural,
    NonNegative,
    Number,
    Table,
    Truth,
    Whole,
    entry,
    optional,
    reads,
)
from taskflow.cases.tables.control import Interval
from taskflow.cases.tables.initial import Profile, profile
from taskflow.cases.tables.physics import FluidTable
from taskflow.cases.tables.probes import OFTEN, RecordTable
from taskflow.cases.tables.scalars import Corners
from taskflow.cases.timing.intervals import Every
from taskflow.common.errors import BadInput
from taskflow.systems.two_phase.start import PhaseShape

FIELDS = ("u", "v", "w", "p", "f", "phi", "kappa")
SCHEMES = ("koren", "weno5", "quick", "central")
OF_LEVEL_SETS = ("reinitialise", "conserve", "thickness")
TWO = "give two numbers {}, of phase 1 and of phase 2"
OF_BODIES = "an interface meets bodies at about 90 degrees; omit it"
HEAT_OF_WALLS = "temperature", "heat_flux", "heat_transfer", "outside_temperature"
SUPPORTS = Supports(
    places={
        "bodies", "body.gravity", "boundaries", "boundaries.inflow.phase", "boundaries.vent.phase",
        "boundaries.wall.contact_angle", "fluid.scheme", "initial.velocity", "initial.noise", "initial.source",
        "initial.time", "obstacles", "openings", "particles", "pictures", "pressure", "scalars", TIMED,
    },
    lacks={
        "obstacles.motion": None,
        "obstacles.temperature": None,
        "bodies.treatment.immersed": None,
        "boundaries.wall.velocity.timed.placed": None,
        "boundaries.outflow.pressure.nonzero": None,
        "boundaries.outflow.pressure.timed": None,
        "boundaries.outflow.pressure.advected": None,
        **{f"openings.{key}": None for key in HEAT_OF_WALLS},
        "openings.roughness": None,
        "openings.pressure.nonzero": None,
        "openings.pressure.timed": None,
        "openings.pressure.advected": None,
        "boundaries.vent.pressure.nonzero": None,
        "boundaries.vent.pressure.timed": None,
        "boundaries.vent.temperature": None,
        "two_phase.contact_angle": "it is a key of each wall, boundaries.*.contact_angle; omit it here",
        "obstacles.contact_angle": OF_BODIES,
        "openings.contact_angle": None,
        "openings.obstacle": None,
        "fluid.viscosity": "two_phase.viscosity has the viscosities of both phases; omit it",
        "scalars.scheme.central": 'with two phases a scalar stays within bounds; give "koren", or omit it',
        "particles.response_time": "it refers to one fluid; omit it: tracers follow both phases",
    },
)  # fmt: skip
LAYERS = 3  # cells on either side that differences of phi, and columns of shares, reach


def _initial(value: object) -> Profile | None:
    """Return an expression, or a number, the uniform share of phase 1: 0 or 1."""
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and value not in (0, 1):
        raise BadInput("give an expression in x, y, z that is positive in phase 1, or the number 0 or 1")
    return profile(value)


def _scheme(value: object) -> Any:
    if value not in SCHEMES:
        raise BadInput(unchosen(value, [*SCHEMES]))
    return value


class PhaseFluidTable(FluidTable):
    """The fluid table next to [two_phase], which has the densities and viscosities."""

    viscosity: SkipJsonSchema[NonNegative] = 0.0
    scheme: Annotated[Any, reads(_scheme), WithJsonSchema({"type": "string", "enum": [*SCHEMES]})] = entry(
        "advection scheme of momentum: `koren` with mass fluxes, or up to a density ratio of 10 one of the others",
        "koren",
    )

    @classmethod
    def paths(cls) -> list[Key]:
        return [("scheme",)]

    def written(self) -> dict[str, Any]:
        return {"scheme": self.scheme}


class TwoPhaseTable(Table):
    """Two immiscible fluids. Phase 1 fills the cells with positive `initial`, or the `shapes` of phase 1."""

    density: Annotated[tuple[float, float], reads(tuple_of(positive, 2, TWO.format("> 0")))] = entry(
        "of phase 1 and of phase 2, with a ratio of at most 100000",
        remedy="give the densities of phase 1 and of phase 2, two numbers > 0",
    )
    viscosity: Annotated[tuple[float, float], reads(tuple_of(non_negative, 2, TWO.format(">= 0")))] = entry(
        "dynamic, of phase 1 and of phase 2",
        remedy="give the dynamic viscosities of phase 1 and of phase 2, two numbers >= 0",
    )
    surface_tension: NonNegative = entry("between both phases", 0.0)
    method: Literal["levelset", "vof"] = entry(
        "interface method: a level set, or a volume of fluid with planes in cells, which keeps both volumes to"
        " rounding",
        "levelset",
    )
    initial: Annotated[Profile | None, reads(_initial)] = optional(
        "an [expression](#initial), positive in phase 1 and 0 on the interface, or the number 0 or 1, the"
        " fraction of phase 1 everywhere. In Python also a function f(x, y, z)",
        otherwise="this or `shapes` is required",
    )
    shapes: tuple[PhaseShape, ...] | None = optional(
        "initial regions of the phases, instead of `initial`. Where shapes overlap, the last one holds",
        otherwise="this or `initial` is required",
        remedy="give a list of tables, each under [[two_phase.shapes]]",
    )
    background: Literal[1, 2] | None = optional("with `shapes`: the phase outside them", otherwise="2, with `shapes`")
    viscosity_mean: Literal["harmonic", "arithmetic"] = entry("between the phases", "harmonic")
    reinitialise: Natural = entry("with `levelset`: number of iterations that make phi a distance after each step", 1)
    conserve: Truth = entry("with `levelset`: keep the volume of phase 1 by a shift of phi", True)
    smallest: Whole | None = optional(
        "with `vof`: every 10 steps each connected part of a phase with a volume below this number of cells becomes the"
        " other phase",
        otherwise="nothing is removed",
    )
    thickness: Number = entry("with `levelset`: half the width of the density transition, in spacings, 1 to 4", 1.5)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        remedy = "give an expression in x, y, z that is positive in phase 1, or two_phase.shapes"
        yield from exclusive(values, "initial", "shapes", needed=missing("initial", remedy))
        if values.get("shapes") in ([], ()):
            yield wrong("shapes", [], "give one shape or more, or omit it and give initial")
        if not present(values, "shapes"):
            for key in present(values, "background"):
                yield wrong(key, values[key], "it is the phase outside the shapes; omit it, or give shapes")
        for key in present(values, *OF_LEVEL_SETS) if values.get("method") == "vof" else ():
            yield wrong(key, values[key], 'it applies to two_phase.method = "levelset" only; omit it')
        for key in present(values, "smallest") if values.get("method") != "vof" else ():
            yield wrong(key, values[key], 'it applies to two_phase.method = "vof" only; give that, or omit it')
        thickness = values.get("thickness", 1.5)
        if isinstance(thickness, int | float) and not 1 <= thickness <= 4:
            yield wrong("thickness", thickness, "give a number from 1 to 4: half a width in spacings")

    def written(self) -> dict[str, Any]:
        """Return the table as in a case file, without the keys that its method does not read."""
        omitted = OF_LEVEL_SETS if self.method == "vof" else ()
        return {key: value for key, value in super().written().items() if key not in omitted}


class PhaseTable(RecordTable):
    """Integrals over one phase."""

    phase: Literal[1, 2] = entry("1 or 2", remedy="give the phase, 1 or 2")
    box: Corners | None = optional("lowest and highest corner, rounded to whole cells", otherwise="the domain")
    every: Interval = entry(OFTEN, Every(steps=10))
    droplets: Truth = entry("also number, Sauter diameter and largest volumes of the connected parts", False)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if values.get("droplets") is True and present(values, "box"):
            yield wrong("droplets", True, "parts are those in the domain, and box cuts them; omit droplets, or box")
