"""The tables [time] and [method] of a case that is solved by artificial compressibility."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from taskflow.cases.formulas.values import positive, saying, share, word_or
from taskflow.cases.language.capabilities import FORCE_IN_PLACE, HEAT_ON_SIDES, PLANES_OF_CHARTS, TIMED, Supports
from taskflow.cases.language.problems import Problem, exclusive, missing, present, wrong
from taskflow.cases.language.table import (
    NonNegative,
    Positive,
    Table,
    Text,
    Truth,
    Vector,
    Whole,
    entry,
    optional,
    reads,
)
from taskflow.cases.tables.method import Method
from taskflow.cases.timing.intervals import Every
from taskflow.common.errors import BadInput
from taskflow.flow.models.artificial_compressibility.convergence import PATIENCE
from taskflow.flow.models.artificial_compressibility.implicit.lag import EACH, Lag
from taskflow.flow.models.artificial_compressibility.implicit.model import ImplicitCompressibility
from taskflow.flow.models.artificial_compressibility.method import Marching
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.runtime.regions import Triple
from taskflow.systems.artificial_compressibility.implicit import CflRamp, Linear

NAME = "artificial-compressibility"
OUTER_PATIENCE = 200  # outer iterations
IN_REAL_TIME = 1e6  # the CFL number of outer iterations
WITH_THE_GRID = "walls move with the grid; omit velocity"
CARTESIAN = "it needs a Cartesian grid; omit it"
BY_FORMULA = 'bodies in charts have a formula; give "box", "sphere", "cylinder" or "implicit"'
LAYER = "it requires a Cartesian grid; give a side, or a chart and i, j or k: the number of a layer of its cells"
UNDAMPED = 'walls of body-fitted grids damp no eddy viscosity; give turbulence.damping = "none"'
ON_BOXES = (
    "log_law", "table", "phase", "loss", "roughness", "type.vent", "pressure.advected", "pressure.timed",
    "temperature.timed", "heat_flux.timed", "outside_temperature.timed",
)  # fmt: skip
SUPPORTS = Supports(
    places=HEAT_ON_SIDES | PLANES_OF_CHARTS | {
        "fluid.viscosity", "heat.diffusivity", "heat.expansion", "heat.reference", "body.gravity", "body.force",
        "boundaries", "openings", "motion", "pictures", "scalars", "turbulence", "initial.velocity",
        "initial.temperature", "initial.source", "initial.time", "grid.stretching", "machine.cuts",
        FORCE_IN_PLACE, TIMED, "obstacles", "bodies",
    },
    lacks={
        "obstacles.temperature": None, "obstacles.type.surface": BY_FORMULA,
        "obstacles.type.heights": BY_FORMULA,
        "pressure": "the pressure is marched with the velocity, without a separate solver; omit it",
        "surfaces": CARTESIAN, "isosurfaces": CARTESIAN, "spectra": CARTESIAN,
        "planes.x": LAYER, "planes.y": LAYER, "planes.z": LAYER,
        "time.diffusion": "method.cfl bounds pseudo-time, and real time has no such bound; omit it",
        "time.capillary": "one fluid has no capillary waves; omit it",
        "time.scheme": "method.march sets the scheme in pseudo-time, and real time uses BDF2; omit it",
        "boundaries.inflow.phase": "one fluid has no phases; omit it",
        "initial.velocity.function": None, "initial.velocity.array": None,
        "initial.temperature.function": None, "initial.temperature.array": None, "scalars.initial.function": None,
        "scalars.initial.array": None, "scalars.source": None, "scalars.sources": None, "scalars.scheme": None,
        "scalars.boundaries.value.timed": None,
        **dict.fromkeys(f"openings.{key}" for key in ON_BOXES),
        "turbulence.damping.van-driest": UNDAMPED, "boundaries.outflow.pressure.advected": None,
        "boundaries.outflow.pressure.timed": None, "boundaries.wall.temperature.timed": None,
        "boundaries.wall.heat_flux.timed": None, "boundaries.wall.outside_temperature.timed": None,
        "boundaries.inflow.temperature.timed": None, "scalars.boundaries.flux.timed": None,
    },
    apart={
        ("probes", "motion"): None,
        ("openings", "motion"): None,
        ("obstacles", "motion"): None, ("obstacles", "heat"): None, ("obstacles", "scalars"): None,
        ("obstacles", "turbulence"): None,
        ("boundaries.wall.velocity.nonzero", "motion"): WITH_THE_GRID,
        ("boundaries.wall.velocity.timed", "motion"): WITH_THE_GRID,
    },
)  # fmt: skip
LEFT = "the residual over that at the beginning of the step"
STEADY = "time.steady marches to the steady state, without real time; omit one of them"


class Inner(Table):
    """Steps of pseudo-time within a step of real time."""

    tolerance: Annotated[float, Field(gt=0, lt=1), reads(share(LEFT))] = entry(
        "a step ends when the residuals of momentum, heat and scalars have fallen to this fraction of their"
        " initial values, and max abs(div u) is at most 1e-4 `reference_speed` over the length of the smallest"
        " side",
        1e-3,
    )
    iterations: Whole | None = optional(
        "maximum number of pseudo-time steps. If it is not enough a warning is printed, and after five such"
        " steps in a row the run fails",
        otherwise="1000, with `implicit` marching 50",
    )


def _steady(value: object) -> float:
    if isinstance(value, Mapping):
        raise BadInput("a table is for the projection; give a number, the relative residual")
    return share("the residual over its largest value so far")(value)


class MarchTime(Table):
    """End of the march: the steady state, or in real time."""

    steady: Annotated[float, Field(gt=0, lt=1), reads(_steady)] | None = optional(
        "march to the steady state: the run ends when the root mean square residual of each equation has"
        " fallen to this fraction of its largest value",
        otherwise="the run is in real time",
    )
    end: Positive | None = optional("in real time: the final time", otherwise="given by `steps`")
    steps: Whole | None = optional(
        "the most steps: of pseudo-time to the steady state, where it is required, or of real time, instead of `end`"
    )
    step: Positive | None = optional("in real time: the time step", otherwise="given by `cfl`")
    cfl: Positive | None = optional(
        "in real time, instead of `step`: the largest dt max(sum over directions of abs(u.S)) / V, of the velocity"
        " alone. `method.cfl` is for pseudo-time"
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if present(values, "steady"):
            for key in present(values, "end", "step", "cfl"):
                yield wrong(key, values[key], STEADY)
            if not present(values, "steps"):
                yield missing("steps", "give the largest number of steps")
            return
        needed = "give the time at which to stop, or time.steps; or time.steady, as 1e-8, for a steady state"
        yield from exclusive(values, "end", "steps", needed=missing("end", needed))
        yield from exclusive(values, "step", "cfl", needed=missing("step", "give the length of a step, or time.cfl"))


class LocalCompressibility(Table):
    """b = max(|u|^2, factor times the square of the reference speed), once per step."""

    local: Truth = entry("`true`", True)
    factor: Positive = entry("the least b over the square of the reference speed", 1.0)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if values.get("local") is False:
            yield wrong("local", False, 'give true, or compressibility = "auto", which is the same everywhere')


class Damping(Table):
    """Fourth differences, which central fluxes need."""

    type: Literal["jst", "pressure"] = entry(
        "`jst`: of all variables. `pressure`: of the pressure in continuity alone (Xue & Roy)", "jst"
    )
    fourth: NonNegative = entry("fourth-difference coefficient", 1 / 64)


def _table_or(table: type[Table], kind: Callable[[object], Any]) -> Callable[[object], Any]:
    def read(value: object) -> Any:
        if isinstance(value, Mapping):
            return table(**value)
        return value if isinstance(value, table) else kind(value)

    return read


SQUARED = 'give a number > 0, a velocity squared, "auto", or { local = true }'
RAMP = "give a number > 0, or of implicit marching a table, as { start = 5.0 }"
_number_or_auto = word_or("auto", positive, 'give a number > 0, or "auto"')
_compressibility = _table_or(LocalCompressibility, word_or("auto", positive, SQUARED))
_cfl = _table_or(CflRamp, saying(positive, RAMP))


class CompressibilityMethod(Method):
    """How the steady state, or the end of a step of real time, is approached: steps in a pseudo-time, with an
    artificial compressibility b.
    """

    type: Text = entry("`artificial-compressibility`", NAME)
    compressibility: Annotated[float | Literal["auto"] | LocalCompressibility, reads(_compressibility)] = entry(
        "b, a velocity squared. `auto`: 2.5 times the square of the reference speed. `{ local = true, factor = 1.0 }`:"
        " max(abs(u)^2, `factor` times that square)",
        "auto",
    )
    reference_speed: Annotated[float | Literal["auto"], reads(_number_or_auto)] = entry(
        "`auto`: the largest speed given on a side or in the initial state, or the velocity of free convection", "auto"
    )
    flux: Literal["upwind", "central"] = entry(
        "at faces: `upwind`, by flux difference splitting, or `central` with a `damping`", "upwind"
    )
    reconstruction: Literal["third", "second", "first"] | None = optional(
        "of upwind fluxes: values on both sides of a face by parabolas, lines, or constants",
        otherwise="`third` of upwind fluxes",
    )
    limiter: Literal["none", "van-albada"] = entry("of `third` upwind fluxes", "none")
    damping: Damping | None = optional(
        "of central fluxes: see below", otherwise='`{ type = "jst", fourth = 0.015625 }` of central fluxes'
    )
    march: Literal["euler", "rk3", "rk4", "rk5", "implicit"] = entry(
        "the stages of an explicit step, or `implicit`: outer iterations with linear equations", "rk4"
    )
    cfl: Annotated[float | CflRamp, reads(_cfl)] | None = optional(
        "of pseudo-time: a number, or with `implicit` marching a table, see below",
        otherwise="of `euler` 0.4, `rk3` 1.2, `rk4` 1.5, `rk5` 2.5. With `second` of `rk3` 1, `rk4` 0.6, `rk5` 1.2,"
        " with `first` of `rk4` 1.2",
    )
    linear: Linear | None = optional("of `implicit` marching: see below", otherwise="as below")
    steps: Literal["local", "global"] = entry("pseudo-time steps of each cell, or the smallest for all", "local")
    inner: Inner | None = optional("in real time: see below", otherwise="as below")
    stall: Literal["fail", "accept"] = entry(
        "if the residuals of a steady run have fallen by less than 10 % in 5000 steps, or 200 outer iterations: an"
        " error, or the end of the run",
        "fail",
    )
    pressure_at: Vector | None = optional(
        "the point of zero pressure, if no side prescribes the pressure", otherwise="the mean over the volume is 0"
    )

    @property
    def explicit(self) -> Marching:
        """The marching scheme of explicit steps, the default one if marching is implicit."""
        return "rk4" if self.march == "implicit" else self.march

    def marching(
        self, tile: Triple, *, real: bool, double: bool
    ) -> tuple[Callable[..., ArtificialCompressibility], dict[str, Any]]:
        """Return the class of the model and its further arguments, with tiles of `tile` cells. `real`: physical time
        steps, `double`: double precision.
        """
        if self.march != "implicit":
            return ArtificialCompressibility, {}
        usual = CflRamp(start=IN_REAL_TIME, most=IN_REAL_TIME) if real else CflRamp()
        ramp, linear = self.cfl if isinstance(self.cfl, CflRamp) else usual, self.linear or Linear()
        how = {"ramp": ramp.ramp(), "ordering": linear.ordering, "tile": tile, "precision": linear.precision}
        lag = Lag(linear.lag) if real else EACH
        solver, coupled = linear.made(real=real), linear.coupled is not None
        return ImplicitCompressibility, {"solver": solver, "double": double, "coupled": coupled, "lag": lag, **how}

    def looks(self, every: Every) -> tuple[Every, int]:
        """Return the interval of residual checks, for a log written at the interval `every`, and the number of steps in
        which residuals have to fall. An outer iteration costs much more than a check.
        """
        return (Every(steps=1), OUTER_PATIENCE) if self.march == "implicit" else (every, PATIENCE)

    @property
    def ordering(self) -> str:
        """The ordering of factors, as in `Linear`; empty without factors."""
        return (self.linear or Linear()).ordering if self.march == "implicit" else ""

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        central, march = values.get("flux") == "central", values.get("march")
        reconstruction = values.get("reconstruction") or "third"
        yield from _of_the_march(values)
        if central:
            for key in present(values, "reconstruction", "limiter"):
                if values[key] != "none":
                    yield wrong(key, values[key], 'central fluxes have none; omit it, or give flux = "upwind"')
        else:
            for key in present(values, "damping"):
                yield wrong(key, values[key], 'upwind fluxes need none; omit it, or give flux = "central"')
            if values.get("limiter") == "van-albada" and reconstruction != "third":
                yield wrong("limiter", "van-albada", 'it applies to reconstruction = "third" only; omit one of them')
            if march == "euler" and reconstruction != "first":
                unstable = f'unstable with reconstruction = "{reconstruction}"'
                yield wrong("march", march, f'{unstable}; give "first", flux = "central", or another march')


def _of_the_march(values: Mapping[str, Any]) -> Iterator[Problem]:
    implicit, cfl = values.get("march") == "implicit", values.get("cfl")
    ramp = isinstance(cfl, Mapping | CflRamp)
    if implicit and isinstance(cfl, int | float):
        yield wrong("cfl", cfl, 'with march = "implicit" it is a table; give { start = 5.0 }, or omit it')
    if implicit and values.get("steps") == "global":
        yield wrong("steps", "global", 'march = "implicit" has steps of each cell; omit it')
    if not implicit and ramp:
        yield wrong("cfl", cfl, 'a table belongs to march = "implicit"; give a number')
    for key in () if implicit else present(values, "linear"):
        yield wrong(key, values[key], 'it belongs to march = "implicit"; omit it')
