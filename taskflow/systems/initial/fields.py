"""Initial fields: expressions evaluated by each block for its cells, functions evaluated once by the client, and the
state of another run, a file or a dataset.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from taskflow.cases import Case
from taskflow.cases.formulas.expression import Expression
from taskflow.cases.formulas.noise import PIECE as WAVES
from taskflow.cases.formulas.noise import RandomVelocity
from taskflow.cases.tables.initial import GivenState, Initial
from taskflow.common.errors import BadInput, named
from taskflow.flow import StaggeredGrid
from taskflow.flow.model import VELOCITY
from taskflow.geometry import Composition
from taskflow.output import Checkpoint, load_initial
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box, Location
from taskflow.systems.bodies import solids

if TYPE_CHECKING:
    from taskflow.output import SavedState

PIECE = 1 << 20  # cells that are evaluated at a time
SAMPLES = 64  # points per direction at which formulas are tried
LARGEST = 4  # times its rms: hardly any value of a noise exceeds it


class CellMeans(ABC):
    """Means over cells as a function of their centres, in modules that blocks can import."""

    @abstractmethod
    def __call__(self, x: Any, y: Any, z: Any) -> np.ndarray:
        """Return the means [z, y, x] over the cells with these centres."""


COMPUTED = Expression, Composition, CellMeans  # profiles whose values blocks compute; others are computed before


@dataclass(frozen=True)
class InitialFields:
    """The fields at time 0, by name: an expression or shapes, or None if the values are in the store `saved`; and a
    noise added to the velocity.

    - `points`: returns x, y, z of the values at a location in the cells of a box
    - `checkpoint`: of another run, replaces all of them
    - `unchanged`: the projection leaves the velocity unchanged
    - `sums`: derived fields whose sums hold after the start, when they are written
    - `centred`: the velocity is also in cell centres
    """

    points: Callable[[Location, Box], tuple[np.ndarray, np.ndarray, np.ndarray]]
    profiles: Mapping[str, Expression | Composition | CellMeans | None]
    saved: Path
    noise: RandomVelocity | None = None
    checkpoint: Checkpoint | None = None
    unchanged: bool = False
    sums: tuple[str, ...] = ()
    centred: bool = False

    def fill(self, shard: Shard, names: Iterable[str] | None = None) -> None:
        """Write this block's cells of every field, or of some."""
        waves, xp = self.noise.drawn() if self.noise else None, shard.device.xp
        names = [name for name in self.profiles if name not in self.sums] if names is None else list(names)
        for location in dict.fromkeys(map(self._location, names)):
            fields = [name for name in names if self._location(name) == location]

            def filled(fields: list[str] = fields) -> Iterator[tuple[Box, dict[str, Any]]]:
                for piece in pieces(shard, WAVES if waves else PIECE):
                    values: dict[str, Any] = self.values(fields, piece)
                    for name in fields:
                        if waves and name in VELOCITY:
                            extra = waves.values(list(VELOCITY).index(name), piece, xp)
                            values[name] = xp.asarray(values[name]) + extra
                    yield piece, values

            shard.write_parts(fields, filled())

    def values(self, names: Sequence[str], cells: Box) -> dict[str, np.ndarray]:
        """Return the values [z, y, x] of fields at one location in these cells, in double precision."""
        some = [profile for name in names if (profile := self.profiles[name]) is not None]
        uniform = all(isinstance(profile, Expression) and profile.uniform for profile in some)
        points = (0.0, 0.0, 0.0) if uniform else self.points(self._location(names[0]), cells)
        return {
            name: load_initial(self.saved, name, cells)
            if (profile := self.profiles[name]) is None
            else np.broadcast_to(profile(*points), cells.shape[::-1])
            for name in names
        }

    def _location(self, name: str) -> Location:
        return "c" if self.centred else VELOCITY.get(name, "c")


def pieces(shard: Shard, cells: int) -> Iterator[Box]:
    """Yield the cells of a block in planes of about `cells` cells: a host may have less memory than its GPUs."""
    for part in shard.partition.cells_of(shard.block):
        yield from solids.pieces(part, cells=cells)


def initial_profiles(case: Case) -> dict[str, Any]:
    """Return the initial fields by name: expressions and functions of x, y, z."""
    profiles: dict[str, Any] = dict(zip(VELOCITY, case.initial.velocity, strict=True))
    if case.heat:
        profiles["T"] = case.initial.temperature or Expression(case.heat.reference)
    profiles |= {scalar.name: scalar.initial for scalar in case.scalars}
    return profiles


def largest(case: Case, grid: StaggeredGrid) -> dict[str, float]:
    """Return the largest absolute value of each initial field given by a formula, at some points including corners, for
    a velocity with a prescribed mean at least the mean, plus the noise.

    Raises BadInput if a value is not finite, before blocks start.
    """
    largest = extremes(initial_profiles(case), grid, _key)
    if case.initial.noise is not None:
        for name in largest.keys() & VELOCITY.keys():
            largest[name] += LARGEST * case.initial.noise.rms
    if case.body.bulk_velocity is not None:
        for name, mean in zip(VELOCITY, case.body.bulk_velocity.means, strict=True):
            if name in largest:
                largest[name] = max(largest[name], abs(mean or 0.0))
    return largest


def extremes(profiles: Mapping[str, Any], grid: StaggeredGrid, key: Callable[[str], str]) -> dict[str, float]:
    """Return the largest absolute value, at some points, of each initial field given by a formula.

    Raises BadInput, with the `key` of the field, if a value is not finite.
    """
    largest = {}
    for name, profile in profiles.items():
        if isinstance(profile, COMPUTED):
            points = [few(p) for p in grid.points(VELOCITY.get(name, "c"), grid.box)]
            with named(key(name)):
                largest[name] = float(np.abs(profile(*points)).max())
    return largest


def _key(name: str) -> str:
    if name in (*VELOCITY, "T"):
        return "initial.velocity" if name in VELOCITY else "initial.temperature"
    return f"scalars, name = {name}, initial"


def few(coordinates: np.ndarray) -> np.ndarray:
    """Return up to SAMPLES of the coordinates along an axis, including the first and the last."""
    chosen = np.linspace(0, coordinates.size - 1, min(coordinates.size, SAMPLES)).round().astype(int)
    return coordinates.take(chosen, axis=int(np.argmax(coordinates.shape)))


def named_state(table: Initial) -> SavedState | None:
    """Return the state named by a table, or None. Raises BadInput if it cannot be read."""
    if table.source is None:
        return None
    from taskflow.output import saved_state  # which loads xarray

    source = table.source.dataset if isinstance(table.source, GivenState) else table.source
    with naming(table):
        return saved_state(source, table.time)


@contextmanager
def naming(table: Initial) -> Iterator[None]:
    """Prefix errors about the state named by a table with its key."""
    key = "initial.source" if table.time is None else f"initial.source = {table.source}, initial.time"
    try:
        yield
    except BadInput as error:
        text = f"{error}"
        raise BadInput(f"initial.{text}" if text.startswith("time = ") else f"{key}: {text}") from None
