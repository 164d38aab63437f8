"""Incompressible flow by artificial compressibility (A. J. Chorin 1967, J. Comput. Phys. 2, 12), marched explicitly in
pseudo-time to a steady state; after W. Xue and C. J. Roy (2020) and L. Luo et al. (2014).

    (1/b) dp/dtau + div u = 0,    du/dtau + div(u u) + grad p - viscosity Laplacian(u) = force - expansion (T - T_0) g
    dT/dtau + div(T u) - div(diffusivity grad T) = 0

p is divided by the density. All values are stored in the centres of cells with arbitrary vertices: velocities are
Cartesian, and no derivative is taken along coordinates. In the steady state div u = 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from taskflow.flow.models.artificial_compressibility import measures, real_time
from taskflow.flow.models.artificial_compressibility.flow_on_charts import STATE, CollocatedFlow
from taskflow.flow.models.artificial_compressibility.residuals import norm, residuals
from taskflow.flow.models.artificial_compressibility.stage import stage, transport
from taskflow.flow.stability import StepLimit
from taskflow.runtime.tasks import Derive, Launch, Repeat, Roles

NAMES = {"p": "continuity", "u": "momentum_x", "v": "momentum_y", "w": "momentum_z", "T": "heat"}


@dataclass(frozen=True, eq=False)
class ArtificialCompressibility(CollocatedFlow):
    """The equations of a `CollocatedFlow`, marched explicitly.

    If no side sets the pressure level, `monitor` shifts it. Fluxes depend only on pressure differences, so steps do not
    shift it: that would cost half of a single-stage step.
    """

    def start(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Fill the ghost values of the initial state."""
        yield from self.refresh(f)
        if self.real:
            yield from real_time.start(self, f)

    def step(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        """Yield a physical time step, or in steady marches a step of pseudo-time."""
        yield from real_time.step(self.real, self, f) if self.real else self.pseudo_step(f)

    def pseudo_step(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        march, source = self.method.stages, ""
        for n, (fraction, fresh) in enumerate(zip(march.fractions, march.fresh, strict=True)):
            yield from self.ghosts(f, source)
            if n == 0:
                yield from self.pace(f)
            target = "_mid" if n % 2 else "_new"
            numbers = replace(self.numbers, fraction=fraction * self.method.courant, fresh=fresh)
            yield stage(
                (*self.of(f, STATE, source), *self.of(f, STATE, ""), *self.of(f, STATE, target), f.sides),
                (f[f"T{source}"], f.T, f[f"T{target}"]) if self.heat else None, self.past(f, "T"), *self.place(f)[1:],
                tuple(f[f"d_{name}"] for name in STATE) if march.keeps else None,
                over=self.cells, step=f.scalar("dtau" if self.method.global_steps else "one"), rate=self.change(f),
                numbers=numbers,
            )  # fmt: skip
            for scalar in self.passive:
                ages = tuple(f[f"{scalar.name}{age}"] for age in (source, "", target))
                flow, begun, place = self.of(f, STATE, source), (f.u, f.v, f.w), self.place(f)[:-1]
                step = f.scalar("dtau" if self.method.global_steps else "one")
                where: dict[str, Any] = {"over": self.cells, "step": step, "rate": self.change(f)}
                carrying = replace(self.carrying(scalar), fraction=numbers.fraction, fresh=fresh)
                yield transport(flow, begun, ages, self.past(f, scalar.name), *place, numbers=carrying, **where)
            source = target
        for name in self.state:
            f.swap(name, f"{name}{source}")

    @property
    def marched(self) -> str:
        """The marching scheme, as text."""
        return f"{self.method.march} with CFL {self.method.courant:g}"

    @property
    def remedy(self) -> str:
        """Advice if the march diverges."""
        return self.method.remedy

    def progress(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return the log entries of a step."""
        return {"cfl": self.method.courant}

    @property
    def factors_precision(self) -> str:
        """The precision of the factors of linear equations, if not the default."""
        return ""

    def rate(self, scalars: Mapping[str, float]) -> float:
        """Return the rate of the fastest cell in physical time. Steps of pseudo-time do not depend on a rate."""
        return self.real.rate(self.speed, scalars) if self.real else 0.0

    def advection(self, scalars: Mapping[str, float]) -> float:
        return scalars["rate"] if self.real else 0.0

    def step_limit(self, fixed: float | None, cfl: float, diffusion: float) -> StepLimit:
        """Return the limit of physical time steps: one length, or up to a CFL number of u. Steps of pseudo-time count 1
        each, with the step sizes of cells set by `MethodOptions.courant`.
        """
        return StepLimit(fixed=fixed, cfl=cfl) if self.real else StepLimit(fixed=1.0)

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        return {"one": 1.0, **self.rates(dt, ratio)}

    def monitor(self, f: Roles) -> Iterator[Launch]:
        """Compute the residuals, and shift the level of the pressure. Overwrites the next state with residuals."""
        if not self.real:  # which does it in every step
            yield from self.level(f)
        yield from self.ghosts(f, "")
        yield from residuals(self, f)

    def norms(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return the root mean square of R / V by equation, from the scalars of `monitor`. Scalars by their names."""
        return {NAMES.get(name, name): norm(self, scalars, name) / self.unit for name in self.state}

    @property
    def weights(self) -> dict[str, float]:
        """Factors that give all `norms` the unit of momentum."""
        differ = {scalar.name: scalar.differ for scalar in self.passive} | {"p": 1.0}
        differ |= {"T": self.heat.differ} if self.heat else {}
        weights = {name: self.numbers.speed / size for name, size in differ.items()}
        return {NAMES.get(name, name): weights.get(name, 1.0) for name in self.state}

    def pace(self, f: Roles) -> Iterator[Launch]:
        """Compute the local compressibility and the global step size, if used."""
        if self.method.local:
            yield from self.compressibility(f)
        if self.method.global_steps:
            metrics, b = self.metrics(f), f.b if self.method.local else None
            where: dict[str, Any] = {"over": self.cells, "dtau": f.scalar("dtau"), "numbers": self.numbers}
            yield measures.least_step((f.u, f.v, f.w), metrics, b, self.place(f)[4], **where)
