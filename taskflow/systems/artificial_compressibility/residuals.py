"""The log of a march, with residuals and forces on walls; and its end, or the end of pseudo-time within a physical time
step, judged on every block by residuals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from taskflow.cases.formulas.motion import RigidMotion
from taskflow.cases.tables.motion import GridMotion
from taskflow.cases.timing.schedule import Every, Tick
from taskflow.cases.timing.steady import Criterion, Measure, StateWatch
from taskflow.common.errors import RunFailed
from taskflow.common.rows import Row
from taskflow.flow.boundaries.condition import Side
from taskflow.flow.models.artificial_compressibility.bodies import BodyForces
from taskflow.flow.models.artificial_compressibility.convergence import PATIENCE, Convergence
from taskflow.flow.models.artificial_compressibility.forces import Forces
from taskflow.flow.models.artificial_compressibility.measures import largest
from taskflow.flow.models.artificial_compressibility.model import NAMES, ArtificialCompressibility
from taskflow.flow.models.artificial_compressibility.real_time import DIVERGENCE, LOOKS, TO_EXCEED, left
from taskflow.output.log import OF
from taskflow.runtime.machine import Shard
from taskflow.runtime.tasks import Launch, Roles
from taskflow.systems.artificial_compressibility.domain import ChartDomain

MARGIN = 1.5  # of the compressibility over its lower bound
MOST = 5  # steps in a row that may miss their tolerance
REMEDY = "give more method.inner.iterations, shorter steps, or a larger method.compressibility, which couples faster"
FIRST = 5  # steps after each of which is looked: residuals may be largest then


@dataclass(frozen=True, eq=False)
class CompressibilityMeasures:
    """Residuals, wall forces and fluxes through `openings`, over the `span` of a two-dimensional flow. `moving`: the
    motions of bodies inside charts, by name. Picklable.
    """

    model: ArtificialCompressibility
    forces: Forces
    openings: Forces
    span: float = 1.0
    motion: GridMotion | None = None
    bodies: BodyForces | None = None
    moving: Mapping[str, RigidMotion] = field(default_factory=dict)

    def monitor(self, f: Roles) -> Iterator[Launch]:
        yield from self.model.monitor(f)
        if self.model.turbulence:
            yield largest(f.nu_t, over=self.model.cells, most=f.scalar("eddy"))
        yield from self.forces.measure(f)
        yield from self.openings.measure(f)
        if self.bodies:
            yield from self.bodies.measure(f)

    @property
    def finite(self) -> tuple[str, ...]:
        return tuple(f"{OF}{NAMES[name]}" for name in self.model.flow)

    def line(self, scalars: Mapping[str, float], tick: Tick, wall: float) -> dict[str, Any]:
        """Return a line of the log:

        - steps, the CFL number of pseudo-time, and the progress of an implicit step
        - in physical time the CFL number, the number of pseudo-time steps and the largest divergence
        - residuals, and for each wall its force, the pressure part, its moment and, with heat, the heat outflow
        - what leaves through each opening that is no wall: volume, quantities times volume, and the mean temperature
        - with eddies their largest viscosity
        - the precision of factors, if double
        """
        numbers: dict[str, Any] = {"step": tick.step, "time": tick.time}
        if self.model.real:
            numbers |= {"dt": tick.dt, "cfl": tick.dt * scalars["rate"]}
            numbers["divergence"] = scalars["most_p"] / self.model.unit
            numbers["inner"] = int(self.model.look * scalars.get(LOOKS, 0.0))
        else:
            numbers |= self.model.progress(scalars)
        if self.model.factors_precision:
            numbers["factors"] = self.model.factors_precision
        numbers |= {f"{OF}{name}": norm for name, norm in self.model.norms(scalars).items()}
        if self.model.turbulence:
            numbers["eddy_viscosity"] = scalars["eddy"]
        acting = {side.name: self._acting(side, scalars, tick.time) for side in self.forces.sides}
        acting |= {name: self._pushed(name, scalars, tick.time) for name in self.bodies.points} if self.bodies else {}
        if acting:
            numbers["bodies"] = acting
        if self.openings.sides:
            numbers["openings"] = {side.name: self._leaving(side, scalars) for side in self.openings.sides}
        return {**numbers, "wall": wall}

    def _leaving(self, side: Side, scalars: Mapping[str, float]) -> dict[str, float]:
        of_all = self.openings.of(scalars, side)
        fluxes = {"volume_flux": of_all.mass, **({"flux_T": of_all.heat} if self.model.heat else {})}
        fluxes |= {f"flux_{name}": flux for name, flux in self.openings.carried(scalars, side).items()}
        numbers = {name: flux / self.span for name, flux in fluxes.items()}
        return {**numbers, "mean_T": self.openings.temperature(scalars, side)} if self.model.heat else numbers

    def _pushed(self, name: str, scalars: Mapping[str, float], time: float) -> dict[str, Any]:
        assert self.bodies is not None
        motion = self.moving.get(name)
        load = self.bodies.of(scalars, name, motion.rotation(time) if motion else np.zeros(3))
        moment = load.moment
        if motion is not None:
            point = np.array(self.bodies.points[name])
            moment = moment - np.cross(motion.pose(time).forth(point) - point, load.force)
        parts = {"force": load.force, "pressure_force": load.pressure, "moment": moment}
        return {word: (part / self.span).tolist() for word, part in parts.items()}

    def _acting(self, side: Side, scalars: Mapping[str, float], time: float) -> dict[str, Any]:
        acts = self.forces.of(scalars, side)
        moment = acts.moment
        if self.motion is not None:  # about the point of the grid that was there at rest
            point = np.array(self.forces.about[side.name])
            moment = moment - np.cross(self.motion.moved(point, time) - point, acts.force)
        acting: dict[str, Any] = {
            "force": (acts.force / self.span).tolist(),
            "pressure_force": (acts.pressure / self.span).tolist(),
            "moment": (moment / self.span).tolist(),
        }
        return {**acting, "heat_flux": acts.heat / self.span} if self.model.heat else acting


@dataclass(frozen=True, eq=False)
class ResidualCriterion(Criterion):
    """Each residual has fallen to `tolerance` times its largest value so far, checked at the interval `every`, and
    after each of the first steps; with `accept` also if they stall for `patience` steps. `thickness`: of the
    thinnest and the thickest cell.
    """

    model: ArtificialCompressibility
    tolerance: float
    every: Every
    accept: bool
    thickness: tuple[float, float]
    patience: int = PATIENCE

    @property
    def creeping(self) -> str:
        """Advice if friction is far faster than sound: b far below (viscosity / thickness)^2 of the thinnest cells."""
        most, b = self._frictions[0], self.model.method.least_compressibility(self.model.speed)
        if b > 0.01 * most:
            return ""
        return (
            "friction is much faster than sound, and pressure takes very many steps to spread: give a larger"
            f" method.compressibility (now {b:.3g}), up to {most:.2g}"
        )

    def advice(self, worst: str) -> str:
        """Return the same advice after a semicolon, if the residual of this equation is the worst: of continuity, or of
        any if friction is far faster than sound also in the thickest cells.
        """
        everywhere = self.model.method.least_compressibility(self.model.speed) <= 0.01 * self._frictions[1]
        return f"; {self.creeping}" if self.creeping and (worst == "continuity" or everywhere) else ""

    @property
    def _frictions(self) -> tuple[float, float]:
        """(viscosity / thickness)^2 of the thinnest and of the thickest cells."""
        thinnest, thickest = self.thickness
        return (self.model.fluid.viscosity / thinnest) ** 2, (self.model.fluid.viscosity / thickest) ** 2

    def watch(self, shard: Shard, measure: Measure) -> ResidualWatch:
        return ResidualWatch(self, measure)

    def rows(self) -> Iterator[Row]:
        otherwise = "ends the run" if self.accept else "is an error"
        yield Row("steady", f"when each residual has fallen to {self.tolerance:g} of its largest value so far")
        yield Row("", f"a fall of less than 10 % in {self.patience} steps {otherwise}", "detail")


class ResidualWatch(StateWatch):
    """The residual criterion on one block."""

    def __init__(self, criterion: ResidualCriterion, measure: Measure) -> None:
        self._criterion, self._measure = criterion, measure
        weights = criterion.model.weights
        self._convergence = Convergence(criterion.tolerance, criterion.accept, criterion.patience, weights)
        self._steady = False

    def go_on(self, state: Mapping[str, Any]) -> None:
        convergence = self._convergence
        convergence.largest, convergence.norms = dict(state["largest"]), dict(state["norms"])
        convergence.history = [(look["step"], look["left"]) for look in state["looks"]]

    @property
    def state(self) -> dict[str, Any]:
        """The present and the largest residuals, and the samples that count."""
        convergence = self._convergence
        looks = [{"step": step, "left": left} for step, left in convergence.history]
        return {"largest": convergence.largest, "norms": convergence.norms, "looks": looks}

    @property
    def rates(self) -> dict[str, float]:
        """Each residual over its largest value so far."""
        return self._convergence.fallen()

    @property
    def shortfall(self) -> str | None:
        if self._steady or not self.rates:
            return None
        worst = self._worst
        return (
            f"the state is not steady after time.steps: the residual of {worst} has fallen to {self.rates[worst]:.2g}"
            f" of its largest value, and {self._criterion.tolerance:g} was to be reached; give more"
            f" steps{self._criterion.advice(worst)}"
        )

    @property
    def _worst(self) -> str:
        return max(self.rates, key=lambda name: self.rates[name])

    def look(self, before: Tick, now: Tick) -> str | None:
        """Return "steady" or "stalled" if the march has ended. Raises RunFailed if residuals stall."""
        criterion = self._criterion
        if now.step > FIRST and not now.finished and not criterion.every.due(before, now.step, now.time):
            return None
        norms = criterion.model.norms(self._measure(now))
        self.insane = next((name for name, value in norms.items() if not math.isfinite(value)), None)
        try:
            if self.insane is not None or not self._convergence.note(now.step, norms):
                return None
        except RunFailed as error:
            raise RunFailed(f"{error}{criterion.advice(self._worst)}") from None
        self._steady = all(share <= criterion.tolerance for share in self.rates.values())
        return "steady" if self._steady else "stalled"


@dataclass(frozen=True, eq=False)
class InnerCriterion(Criterion):
    """A physical time step has to reach the tolerance of the model's `real`. Five successive failures are an error."""

    model: ArtificialCompressibility
    domain: ChartDomain

    def watch(self, shard: Shard, measure: Measure) -> InnerWatch:
        return InnerWatch(self, shard)

    def rows(self) -> Iterator[Row]:
        real, speed = self.model.real, self.model.speed
        assert real is not None
        yield Row(
            "inner",
            f"a step ends when its residuals have fallen to {real.tolerance:g} of their initial values, and"
            f" max |div u| to {DIVERGENCE * speed / real.length:.3g}",
        )
        checked = f"checked every {self.model.look} steps of pseudo-time, at most {real.iterations} of them"
        yield Row("", checked, "detail")


class InnerWatch(StateWatch):
    """The criterion on one block, by the residuals at the end of each physical time step."""

    def __init__(self, criterion: InnerCriterion, shard: Shard) -> None:
        self._criterion, self._shard = criterion, shard
        self._missed = 0  # steps in a row

    def go_on(self, state: Mapping[str, Any]) -> None:
        self._missed = state["missed"]

    @property
    def state(self) -> dict[str, Any]:
        """The number of successive steps that missed their tolerance."""
        return {"missed": self._missed}

    def look(self, before: Tick, now: Tick) -> str | None:
        """Note if the last step reached its tolerance. Raises RunFailed if five in a row did not."""
        model, scalars = self._criterion.model, self._shard.scalars
        real, self.concern = model.real, None
        assert real is not None
        if model.moves and scalars[TO_EXCEED] * MARGIN > model.numbers.compressibility:
            raise RunFailed(f"step {now.step}, time {now.time:g}: {self._too_small(scalars[TO_EXCEED])}")
        rest = left(real, model, scalars)
        self.insane = next((name for name, times in rest.items() if not math.isfinite(times)), None)
        worst = max(rest, key=lambda name: rest[name])
        self._missed = self._missed + 1 if rest[worst] > 1 else 0
        if not self._missed or self.insane is not None:
            return None
        words = (
            f"step {now.step}, time {now.time:g}: after {model.look * scalars[LOOKS]:.0f} steps of pseudo-time the"
            f" residual of {worst} is {rest[worst]:.2g} times what method.inner.tolerance = {real.tolerance:g} allows"
        )
        if self._missed == MOST:
            raise RunFailed(f"{words}, in the {MOST}th step in a row; {REMEDY}")
        self.concern = f"{words}; {REMEDY}" if self._missed == 1 else None
        return None

    def _too_small(self, least: float) -> str:
        """Return the places at which the grid moves faster than sound, as text. Collective."""
        cell, value = self._shard.extreme(TO_EXCEED)
        rows = self._shard.gather(np.array([*cell, value], np.float64)).reshape(-1, 4)
        block = int(np.nanargmax(rows[:, 3]))
        i, j, k = (int(n) for n in rows[block, :3])
        where = self._criterion.domain.place("c", (i, j, k), block)
        b = self._criterion.model.numbers.compressibility
        return (
            f"the grid moves too fast for a compressibility of {b:.4g} {where}, where u.n (u_g - u).n is {least:.4g};"
            f" give method.compressibility = {2 * MARGIN * least:.2g}"
        )
