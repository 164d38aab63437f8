"""The state at time 0: [initial]; values that are numbers, expressions or functions of the place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np

from taskflow.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.simulation.case.grid import GridTable
from taskflow.simulation.case.problems import Problem, wrong
from taskflow.simulation.case.table import Positive, Table, Whole, entry, reads
from taskflow.simulation.expression import Expression, field_values
from taskflow.simulation.noise import FLAT, SPECTRA, Lattice
from taskflow.simulation.values import number, three

if TYPE_CHECKING:
    from taskflow.simulation.case.boundaries import Boundaries

MOST_WAVES = 1 << 21  # some hundred megabytes while their amplitudes are computed, on every block


@dataclass(frozen=True)
class Function:
    """A Python function f(x, y, z) of arrays that broadcast, given in code; a file can only name it."""

    call: Callable[..., Any]

    @property
    def source(self) -> str:
        """The function's qualified name."""
        kind = type(self.call)
        module = getattr(self.call, "__module__", None) or kind.__module__
        return f"{module}.{getattr(self.call, '__qualname__', kind.__qualname__)}"

    def __str__(self) -> str:
        return self.source

    def __call__(self, x: Any, y: Any, z: Any) -> np.ndarray:
        """Values in float64, in the shape to which x, y and z broadcast; `BadInput` where one is not finite."""
        return field_values(self.call(x, y, z), (x, y, z), f"the function {self.source}")


Profile = Expression | Function
Value = float | Expression  # at an inflow
Values = tuple[Value, Value, Value]


def profile(value: Any) -> Profile:
    """From a number, an expression or a function."""
    if isinstance(value, Profile):
        return value
    if isinstance(value, str):
        return Expression(value)
    if callable(value):
        return Function(value)
    try:
        return Expression(number(value))
    except BadInput:
        raise BadInput("give a finite number or an expression in x, y, z") from None


def one_value(value: Any) -> Value:
    """A number, or an expression in x, y, z and t."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, str):
        return Expression(value, timed=True)
    try:
        return number(value)
    except BadInput:
        raise BadInput("give a finite number or an expression in x, y, z and t") from None


def three_values(value: Any) -> Values:
    """Three numbers, where all are; else numbers and expressions."""
    numbers = not isinstance(value, (list, tuple)) or not any(isinstance(item, (str, Expression)) for item in value)
    return three(number, "three numbers")(value) if numbers else three(one_value, "three numbers or expressions")(value)


Profiles = Annotated[tuple[Profile, Profile, Profile], reads(three(profile, "three numbers or expressions"))]


class Noise(Table):
    """Random velocities without divergence."""

    rms: Positive = entry(
        "root mean square of a velocity component, on average over the components and the domain",
        remedy="give the root mean square of each component, a number > 0",
    )
    wavenumber: Positive = entry(
        "where the energy spectrum has its peak, in radians per length: 2 pi over a wave's length",
        remedy="give the wavenumber of the spectrum's peak, a number > 0",
    )
    spectrum: Literal["passot-pouquet", "von-karman"] = entry(
        "`passot-pouquet`: E ~ k^4 exp(-2 (k / `wavenumber`)^2), waves of about one length; `von-karman`: E ~ k^4"
        " below, k^(-5/3) above the peak, up to 8 times it",
        "passot-pouquet",
    )
    seed: Whole = entry("another one, another noise", 1)


class Initial(Table):
    """Values by position: each is a callable of x, y, z. The velocity is made divergence-free before the first step."""

    velocity: Profiles = entry(
        "each component on its own faces", (Expression(0.0), Expression(0.0), Expression(0.0)), otherwise="zeros"
    )
    temperature: Annotated[Profile | None, reads(profile)] = entry(
        "with heat: the temperature", None, otherwise="`heat.reference`"
    )
    noise: Noise | None = entry("random velocities without divergence that are added", None)

    def completed(self, tables: Mapping[str, Any]) -> Self:
        """With the reference temperature, where there is heat and no other one is given."""
        heat = tables.get("heat")
        if heat is None or self.temperature is not None:
            return self
        return self.model_copy(update={"temperature": Expression(heat.reference)})


def _noise_has_waves(grid: GridTable, boundaries: Boundaries, initial: Initial) -> Iterator[Problem]:
    if initial.noise is None:
        return
    uniform, noise = StaggeredGrid(grid.cells, grid.lengths, periodic=boundaries.periodic), initial.noise
    waves = Lattice(uniform, SPECTRA[noise.spectrum].end * noise.wavenumber)
    if len(waves.dimensions) < 2:
        remedy = f"it needs two directions of more than {FLAT} cells; give more, or leave it out"
        yield wrong(("initial", "noise"), noise.written(), remedy)
        return
    least, most = (min(f(axis) for axis in waves.dimensions) for f in (waves.unit, waves.finest))
    if not least <= noise.wavenumber <= most:
        remedy = f"the domain and its cells have waves of {least:g} to {most:g}; give one of these"
        yield wrong(("initial", "noise", "wavenumber"), noise.wavenumber, remedy)
    elif waves.size > MOST_WAVES:
        remedy = f"its spectrum has {waves.size:.3g} waves in this domain; give a smaller one, for at most {MOST_WAVES}"
        yield wrong(("initial", "noise", "wavenumber"), noise.wavenumber, remedy)


Initial.rules = (_noise_has_waves,)
