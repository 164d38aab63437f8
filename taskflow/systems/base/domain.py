"""The cells of a case, their blocks, and the layout of records in the store; a case on its blocks, before any
equations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from taskflow.cases import Case, Output, Probe
from taskflow.cases.tables.pictures import PictureTable
from taskflow.cases.timing.intervals import Tick
from taskflow.common.caching import cached_property
from taskflow.common.rows import Row
from taskflow.flow import StaggeredGrid
from taskflow.flow.model import Ends, Model
from taskflow.output import FieldMetadata, RecordsLayout, TimeSeries
from taskflow.runtime.regions import Box, FieldSpace, Location, Partition, Triple
from taskflow.systems.bodies import Bodies, Survey, survey
from taskflow.systems.initial.fields import named_state
from taskflow.systems.records.series import InterpolationStencil, ProbeSeries

if TYPE_CHECKING:
    from taskflow.output import SavedState

Points = tuple[np.ndarray, np.ndarray, np.ndarray]


class Domain(ABC):
    """The cells of a case. Picklable: every block has a copy."""

    derives: ClassVar[bool] = False  # blocks derive the fields of pictures in cell centres; else who draws does

    @property
    @abstractmethod
    def cells(self) -> list[Any]:
        """The number of cells in each direction, for the report; a list per chart for several charts."""

    @property
    @abstractmethod
    def boxes(self) -> tuple[Box, ...]:
        """The cells in their index space: one box, or one per chart."""

    @property
    def inverse_spacing(self) -> float:
        """The sum over directions of 1 / narrowest spacing, the ratio of rate to speed; 0 if no step has a rate."""
        return 0.0

    @property
    def chart_vertices(self) -> list[np.ndarray]:
        """The initial vertices [xyz, k, j, i] of every chart; empty for a box."""
        return []

    @property
    def time(self) -> str:
        """The name of the time of a record, as text."""
        return "time"

    def placed(self, tick: Tick) -> dict[str, float]:
        """Return the numbers that give position and velocity of the cells of a record; empty for a fixed grid."""
        return {}

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield rows of `taskflow check`."""

    @abstractmethod
    def counted(self, blocks: Triple) -> str:
        """Return the number of blocks, as text."""

    def shares(self, partition: Partition) -> Iterator[Row]:
        """Yield rows on the cells of each block, unless all blocks have equal parts of a box."""
        yield from ()

    @abstractmethod
    def partition(self, fields: FieldSpace, ghost: int, blocks: Triple) -> Partition:
        """Return the region of some fields with `ghost` layers, divided into blocks."""

    @abstractmethod
    def points(self, location: Location, box: Box, time: float = 0.0) -> Points:
        """Return x, y, z of the values at a location in a box at a time, which broadcast to the shape [z, y, x]."""

    @abstractmethod
    def corners(self, location: Location, points: np.ndarray, ends: Ends) -> InterpolationStencil:
        """Return the cells that interpolate a field at a location to the `points` [point, axis] of the domain."""

    def probed(
        self, case: Case, probe: Probe, metadata: Mapping[str, FieldMetadata], model: Model
    ) -> ProbeSeries:
        """Return the series of the points of a table. `metadata` describes all fields by name."""
        names, points = probe.fields or case.fields, np.array(probe.places)
        fields = {name: metadata[name] for name in names}
        locations = tuple((metadata[name].location, model.ends(name)) for name in names)
        series = TimeSeries.at_points(probe.name, points, fields, case.output.precision, self.time)
        return ProbeSeries(series, points, locations, probe.every, self.corners, model.refill)

    @abstractmethod
    def layers(self, plane: Any) -> tuple[Box, ...]:
        """Return the layers of cells of a plane, a table of the case, in the index space of all cells."""

    def shown(self, picture: PictureTable) -> tuple[Box, ...]:
        """Return the cells that a picture needs: all, unless it is of a plane between other cells."""
        return self.boxes

    @abstractmethod
    def place(self, location: Location, cell: Triple, block: int) -> str:
        """Return a cell of a block, and the position of its value at a location, as text."""

    def layout(
        self, fields: Mapping[str, FieldMetadata], output: Output, partition: Partition, slots: int, plane: Any = None
    ) -> RecordsLayout:  # fmt: skip
        """Return the layout of snapshots, or of the records of a plane, with room for `slots` records."""
        return self._layout(
            plane,
            fields=fields,
            blocks=tuple(map(partition.cells_of, range(len(partition)))),
            precision=output.precision,
            compression=output.compression,
            relative_error=output.relative_error,
            slots=slots,
            time=self.time,
        )

    @abstractmethod
    def _layout(self, plane: Any, **about: Any) -> RecordsLayout:
        """Return the layout of all cells, or of the layers of a plane, for records described by `about`."""


@dataclass(frozen=True, eq=False)
class PartitionedCase:
    """A case on nx x ny x nz blocks, each on a "cpu" or a "gpu"."""

    case: Case
    blocks: Triple
    device: str = field(default="cpu", kw_only=True)
    steered: bool = field(default=False, kw_only=True)  # bodies that move may be given other motions

    @cached_property
    def grid(self) -> StaggeredGrid:
        return self.case.staggered

    @property
    def dtype(self) -> str:
        """The type of numbers in all fields."""
        return "f8" if self.case.machine.precision == "double" else "f4"

    @property
    def value_bytes(self) -> int:
        return np.dtype(self.dtype).itemsize

    @cached_property
    def bodies(self) -> Bodies:
        """The bodies on the grid. Raises BadInput if one of their files cannot be read."""
        return Bodies(self.case, self.grid, self.steered)

    @cached_property
    def survey(self) -> Survey | None:
        """The volumes, gaps and warnings of the bodies, or None. Raises BadInput if they are invalid."""
        return survey(self.bodies) if self.case.obstacles else None

    @cached_property
    def source(self) -> SavedState | None:
        """The saved state from which the run starts, None with formulas. Raises BadInput if it cannot be read."""
        return named_state(self.case.initial)
