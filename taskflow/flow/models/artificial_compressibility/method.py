"""Options of the method, and marching schemes: explicit schemes of Runge-Kutta type in pseudo-time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from taskflow.common.errors import BadInput
from taskflow.flow.models.artificial_compressibility import equations as eq

Flux = Literal["upwind", "central"]
Reconstruction = Literal["third", "second", "first"]
Limiter = Literal["none", "van-albada"]
Damping = Literal["jst", "pressure"]
Marching = Literal["euler", "rk3", "rk4", "rk5"]


class MultistageScheme(NamedTuple):
    """A marching scheme: `fractions` of the step that stages take, each from the state at the start, weights `fresh` of
    new friction and dissipation in a stage (0: as before), and the default CFL number, except for the entries of
    `SHORTER`.
    """

    fractions: tuple[float, ...]
    fresh: tuple[float, ...]
    cfl: float

    @property
    def keeps(self) -> bool:
        """True if a stage reuses earlier friction and dissipation."""
        return any(weight != 1 for weight in self.fresh)


MARCHES = {
    "euler": MultistageScheme((1.0,), (1.0,), 0.4),
    "rk3": MultistageScheme((0.1481, 0.4, 1.0), (1.0,) * 3, 1.2),
    "rk4": MultistageScheme((1 / 4, 1 / 3, 1 / 2, 1.0), (1.0,) * 4, 1.5),
    "rk5": MultistageScheme((1 / 4, 1 / 6, 3 / 8, 1 / 2, 1.0), (1.0, 0.0, 0.56, 0.0, 0.44), 2.5),
}
"""L. Martinelli (1987), A. Jameson; rk5 has the dissipation of its first, third and fifth stage."""
SHORTER: Mapping[Reconstruction, Mapping[Marching, float]] = {
    "second": {"rk3": 1.0, "rk4": 0.6, "rk5": 1.2}, "first": {"rk4": 1.2},
}  # fmt: skip
"""CFL numbers of less stable upwind fluxes: waves two cells long grow beyond 1.15, 0.70, 1.41, and 1.39."""
CHOICES: Mapping[Flux, tuple[str, ...]] = {"upwind": ("reconstruction", "limiter"), "central": ("damping",)}
SCHEMES: Mapping[tuple[str, ...], eq.Scheme] = {
    ("upwind", "third", "none"): eq.Scheme(), ("upwind", "third", "van-albada"): eq.LimitedScheme(),
    ("upwind", "second", "none"): eq.SecondScheme(), ("upwind", "first", "none"): eq.FirstScheme(),
    ("central", "jst"): eq.CentralScheme(), ("central", "pressure"): eq.PressureDampedScheme(),
}  # fmt: skip
"""By the flux and its options, `CHOICES`."""


@dataclass(frozen=True)
class MethodOptions:
    """Options of the solution method.

    - `compressibility`: b, a velocity squared. Default: 2.5 times the square of the reference speed. With `local` it is
      max(|u|^2, `compressibility`), by default the square of the reference speed.
    - `fourth`: coefficient of fourth differences, with central fluxes
    - `cfl`: default from the marching scheme
    - `pressure_cell`: the cell with p = 0, instead of mean 0

    Raises BadInput if options are incompatible.
    """

    compressibility: float | None = None
    local: bool = False
    flux: Flux = "upwind"
    reconstruction: Reconstruction = "third"
    limiter: Limiter = "none"
    damping: Damping = "jst"
    fourth: float = 1 / 64
    march: Marching = "rk4"
    cfl: float | None = None
    global_steps: bool = False
    pressure_cell: tuple[int, int, int] | None = None

    def __post_init__(self) -> None:
        if self.compressibility is not None and not self.compressibility > 0:
            raise BadInput(f"method.compressibility = {self.compressibility}: give a number > 0, or omit it")
        if self.march == "euler" and self.flux == "upwind" and self.reconstruction != "first":
            raise BadInput(
                f'method.march = "euler": with reconstruction = "{self.reconstruction}" no step is stable; give'
                ' "first", flux = "central", or another march'
            )
        if self.limiter != "none" and (self.flux, self.reconstruction, self.limiter) not in SCHEMES:
            raise BadInput(
                f'method.limiter = "{self.limiter}": it limits reconstruction = "third" of flux = "upwind";'
                " omit it"
            )

    @property
    def scheme(self) -> eq.Scheme:
        """The reconstruction of values on faces."""
        return SCHEMES[self.flux, *(getattr(self, name) for name in CHOICES[self.flux])]

    @property
    def stages(self) -> MultistageScheme:
        return MARCHES[self.march]

    @property
    def courant(self) -> float:
        """The CFL number of pseudo-time."""
        if self.cfl is not None:
            return self.cfl
        shorter = SHORTER.get(self.reconstruction, {}) if self.flux == "upwind" else {}
        return shorter.get(self.march, self.stages.cfl)

    @property
    def remedy(self) -> str:
        """Advice if the march diverges."""
        smaller = f"give a smaller method.cfl (now {self.courant:g})"
        if self.flux != "central":
            return f'{smaller}, or begin with method.reconstruction = "first"'
        if self.march != "euler":
            return smaller
        return (
            f"{smaller} or method.reference_speed, or another march: Euler steps bear central fluxes only as far as"
            " friction damps sound"
        )

    def least_compressibility(self, speed: float) -> float:
        """Return b, or its minimum if local, for a reference speed."""
        factor = 1.0 if self.local else 2.5
        return self.compressibility if self.compressibility is not None else factor * speed**2


UPWIND_METHOD = MethodOptions()
"""Third order upwind, four stages."""
