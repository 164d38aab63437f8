"""The state at time 0: [initial]; values that are numbers, expressions or functions of the place."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np

from taskflow.cases.formulas.expression import Expression, NamedFunction, field_values
from taskflow.cases.formulas.noise import FLAT, SPECTRA, WaveLattice
from taskflow.cases.formulas.values import number, saying, three
from taskflow.cases.language.problems import Key, Problem, exclusive, present, wrong
from taskflow.cases.language.table import Number, Positive, Table, Whole, entry, optional, reads
from taskflow.cases.tables.boundaries import Boundaries
from taskflow.cases.tables.grid import GridTable
from taskflow.common.errors import BadInput
from taskflow.flow import StaggeredGrid

MOST_WAVES = 1 << 21  # some hundred megabytes while their amplitudes are computed, on every block


TAKES = "three arrays, x, y and z, and returns one like them"


@dataclass(frozen=True)
class Function(NamedFunction):
    """A function f(x, y, z) of arrays that broadcast."""

    sort = "function"

    def __call__(self, x: Any, y: Any, z: Any) -> np.ndarray:
        """Return values in float64, in the shape to which x, y, z broadcast. Raises BadInput if one is not finite."""
        return field_values(self.called(x, y, z, takes=TAKES), (x, y, z), f"the function {self.source}")


@dataclass(frozen=True, eq=False)
class ArrayValues:
    """The values of a field as an array [z, y, x], given in code; a file can only name it."""

    values: np.ndarray
    sort = "array"

    @property
    def source(self) -> str:
        """Its shape and a checksum of its values."""
        return f"array {list(self.values.shape)}, crc32 {zlib.crc32(self.values.tobytes()):08x}"

    def __str__(self) -> str:
        return self.source

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayValues) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(self.source)

    def part(self, piece: tuple[slice, ...]) -> np.ndarray:
        return self.values[piece]


@dataclass(frozen=True, eq=False)
class GivenState:
    """A dataset of xarray, or a tree of charts, with fields to begin with, given in code; a file can only name it."""

    dataset: Any

    @property
    def source(self) -> str:
        """Return the names and sizes of its variables, or the charts of a tree."""
        parts = [part.to_dataset() for part in getattr(self.dataset, "leaves", ())] or [self.dataset]
        sizes = ("; " + ", ".join(f"{dim}: {size}" for dim, size in part.sizes.items()) for part in parts)
        return f"dataset of {', '.join(map(str, parts[0].data_vars))}{''.join(sizes)}"

    def __str__(self) -> str:
        return self.source

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GivenState) and self.dataset is other.dataset

    def __hash__(self) -> int:
        return hash(self.source)


Profile = Expression | Function
NumberOrExpression = float | Expression
VectorExpression = tuple[NumberOrExpression, NumberOrExpression, NumberOrExpression]


def profile(value: Any) -> Profile:
    """Return the values of a field over x, y and z, given as a number, an expression or a function of arrays.

    Raises BadInput for anything else, and for an expression that cannot be read.
    """
    if isinstance(value, Profile):
        return value
    if isinstance(value, str):
        return Expression(value)
    if callable(value):
        return Function(value)
    return Expression(saying(number, "give a finite number or an expression in x, y, z")(value))


def start(value: Any) -> Profile | ArrayValues:
    """From a number, an expression, a function or an array [z, y, x]."""
    if isinstance(value, ArrayValues):
        return value
    if getattr(value, "ndim", 0) == 0:
        return profile(value)
    values = np.asarray(value.transpose(*sorted(value.dims, reverse=True)) if hasattr(value, "dims") else value)
    if values.ndim != 3 or values.dtype.kind not in "fiub":
        raise BadInput(f"an array of type {values.dtype} and {values.ndim} dimensions; give one of numbers [z, y, x]")
    if not np.isfinite(values).all():
        raise BadInput("it has values that are not finite; give numbers")
    return ArrayValues(values.astype(np.float64))


def state_source(value: Any) -> str | GivenState:
    """From the name of a run directory, file or store, or a dataset of xarray."""
    if isinstance(value, GivenState):
        return value
    if isinstance(value, str | PathLike) and str(value):
        return str(Path(value).absolute())
    if hasattr(value, "data_vars"):
        return GivenState(value)
    raise BadInput("give the name of a run directory, of a NetCDF file or a Zarr store; in Python also a Dataset")


def number_or_expression(value: Any) -> NumberOrExpression:
    """A number, or an expression in x, y, z and t."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, str):
        return Expression(value, timed=True)
    return float(saying(number, "give a finite number or an expression in x, y, z and t")(value))


def vector_expression(value: Any) -> VectorExpression:
    """Three numbers, where all are; else numbers and expressions."""
    if not isinstance(value, (list, tuple)) or not any(isinstance(item, (str, Expression)) for item in value):
        return three(number, "three numbers")(value)
    return three(number_or_expression, "three numbers or expressions")(value)


Start = Annotated[Profile | ArrayValues, reads(start)]
Starts = Annotated[
    tuple[Profile | ArrayValues, Profile | ArrayValues, Profile | ArrayValues],
    reads(three(start, "three numbers or expressions")),
]


class Noise(Table):
    """Random velocities without divergence."""

    rms: Positive = entry(
        "root mean square of a velocity component, averaged over the components and the domain",
        remedy="give the root mean square of each component, a number > 0",
    )
    wavenumber: Positive = entry(
        "the peak of the energy spectrum, in radians per length: 2 pi / wavelength",
        remedy="give the wavenumber of the spectrum's peak, a number > 0",
    )
    spectrum: Literal["passot-pouquet", "von-karman"] = entry(
        "`passot-pouquet`: E ~ k^4 exp(-2 (k / `wavenumber`)^2), waves of about one length. `von-karman`: E ~ k^4"
        " below and k^(-5/3) above the peak, up to 8 times the peak",
        "passot-pouquet",
    )
    seed: Whole = entry("seed of the random numbers", 1)


class Initial(Table):
    """Values by position: each is a callable of x, y, z, or an array. The velocity is made divergence-free before the
    first step. Or the state of a `source`.
    """

    velocity: Starts = entry(
        "each component on its own faces", (Expression(0.0), Expression(0.0), Expression(0.0)), otherwise="zeros"
    )
    temperature: Annotated[Profile | ArrayValues | None, reads(start)] = optional(
        "with heat: the temperature", otherwise="`heat.reference`"
    )
    noise: Noise | None = optional("random divergence-free velocity to add")
    source: Annotated[str | GivenState | None, reads(state_source)] = optional(
        "instead of `velocity`: a run directory, a NetCDF file or a Zarr store with the initial state, see below"
    )
    time: Number | None = optional("the time of this state in `source`", otherwise="its last one")

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if present(values, "source"):
            yield from exclusive(values, "source", "velocity")
        elif present(values, "time"):
            yield wrong("time", values["time"], "it belongs to initial.source; give a source, or omit it")

    def written(self) -> dict[str, Any]:
        """See `Table`; a source excludes a velocity."""
        return {key: value for key, value in super().written().items() if key != "velocity" or self.source is None}

    def completed(self, tables: Mapping[str, Any]) -> Self:
        """Return the table with the reference temperature, if the case has heat and gives no temperature."""
        heat = tables.get("heat")
        if heat is None or self.temperature is not None:
            return self
        return self.model_copy(update={"temperature": Expression(heat.reference)})


def _arrays_fit(staggered: StaggeredGrid, initial: Initial, scalars: Any) -> Iterator[Problem]:
    """An array has the points of its field, as the store has them."""
    initials: list[tuple[Key, Any, int | None]] = [(("initial", "temperature"), initial.temperature, None)]
    initials += [(("initial", "velocity", f"[{n + 1}]"), values, n) for n, values in enumerate(initial.velocity)]
    initials += [(("scalars", f"[{n}]", "initial"), scalar.initial, None) for n, scalar in enumerate(scalars, start=1)]
    for key, values, axis in initials:
        if isinstance(values, ArrayValues):
            faces = [int(a == axis and not staggered.periodic[a]) for a in range(3)]
            shape = tuple(staggered.cells[a] + faces[a] for a in (2, 1, 0))
            if values.values.shape != shape:
                remedy = f"the field has the points {list(shape)} along z, y and x; give an array of this shape"
                yield wrong(key, values.source, remedy)


def _noise_has_waves(grid: GridTable, boundaries: Boundaries, initial: Initial) -> Iterator[Problem]:
    if initial.noise is None:
        return
    uniform, noise = StaggeredGrid(grid.cells, grid.lengths, periodic=boundaries.periodic), initial.noise
    waves = WaveLattice(uniform, SPECTRA[noise.spectrum].end * noise.wavenumber)
    if len(waves.dimensions) < 2:
        remedy = f"it needs two directions of more than {FLAT} cells; give more, or omit it"
        yield wrong(("initial", "noise"), noise.written(), remedy)
        return
    least, most = (min(f(axis) for axis in waves.dimensions) for f in (waves.unit, waves.finest))
    if not least <= noise.wavenumber <= most:
        remedy = f"the domain and its cells have waves of {least:g} to {most:g}; give one of these"
        yield wrong(("initial", "noise", "wavenumber"), noise.wavenumber, remedy)
    elif waves.size > MOST_WAVES:
        remedy = f"its spectrum has {waves.size:.3g} waves in this domain; give a smaller one, for at most {MOST_WAVES}"
        yield wrong(("initial", "noise", "wavenumber"), noise.wavenumber, remedy)


Initial.rules = (_noise_has_waves, _arrays_fit)
