"""The fields of a saved state on the grid of another run: on the same grid to the bit, on another one by averages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.layout import StoreLayout
from taskflow.output.reading import edges, periodic
from taskflow.output.remapping import averaging, nodal
from taskflow.output.saved import SavedState, described

REACH = 0.75  # spacings beyond the outermost points of a file, up to where values are extrapolated
ROUNDING = 1e-9  # of a length

Piece = tuple[slice, slice, slice]


@dataclass(frozen=True, eq=False)
class RemappedField:
    """A field of a saved state on the grid of a layout: see `taskflow.output.remapping`.

    Along directions of which the source has cells, as stores of runs have, values in centres are averages over cells;
    where it has points alone, all values are those at points. Raises BadInput where the source lacks the field, or does
    not cover the domain.
    """

    state: SavedState
    name: str
    layout: StoreLayout

    @cached_property
    def values(self) -> xr.DataArray:
        """The field in the source [z, y, x], lazy."""
        fields, where = self.state.fields, self.state.where
        if fields is None or self.name not in fields:
            raise BadInput(f"{where} has no {self.name}; it has {described(fields.data_vars if fields else {})}")
        values = fields[self.name]
        by_axis = {str(dim)[0].lower(): dim for dim in values.dims}
        if values.ndim != 3 or by_axis.keys() != {*"xyz"}:
            dims = ", ".join(map(str, values.dims))
            raise BadInput(f"{self.name} of {where} has the dimensions {dims}; give three, named x..., y..., z...")
        ordered = values.transpose(*(by_axis[axis] for axis in "zyx"))
        for dim in ordered.dims:
            if dim not in ordered.coords:
                raise BadInput(f"{self.name} of {where}: {dim} has no coordinate; give the places of its points")
        if values.dtype.kind not in "fiub":
            raise BadInput(f"{self.name} of {where} is of type {values.dtype}; give numbers")
        return ordered

    @cached_property
    def weights(self) -> tuple[np.ndarray | None, ...]:
        """The weights along z, y and x; None where points are the same."""
        dims = zip(self.values.dims, self.layout.dims(self.name), strict=True)
        return tuple(self._along(str(source), target) for source, target in dims)

    @property
    def same(self) -> bool:
        """Return whether all points are those of the source."""
        return all(weights is None for weights in self.weights)

    def part(self, piece: Piece) -> np.ndarray:
        """The values [z, y, x] of a piece of the field's array, in double precision. Raises BadInput where one is not
        finite.
        """
        chosen = [
            np.arange(along.start, along.stop) if weights is None else np.flatnonzero(weights[along].any(axis=0))
            for weights, along in zip(self.weights, piece, strict=True)
        ]
        picked = dict(zip(self.values.dims, chosen, strict=True))
        values = self.values.isel(picked).values.astype("f8")
        if not np.isfinite(values).all():
            raise BadInput(f"{self.name} of {self.state.where} is not finite everywhere; give numbers")
        for axis, (weights, along, used) in enumerate(zip(self.weights, piece, chosen, strict=True)):
            if weights is not None:
                values = np.moveaxis(np.tensordot(weights[along][:, used], values, axes=(1, axis)), 0, axis)
        return values

    def _along(self, source: str, target: str) -> np.ndarray | None:
        """The weights along a direction, of which these are the dimensions in the source and here."""
        fields, axis = self.state.fields, target[0]
        assert fields is not None
        nodes, places = self._nodes(source), self.layout.coordinate(target)
        if np.array_equal(nodes, places):
            return None
        pair = {f"{axis}_c", f"{axis}_f"}
        cells = pair <= {*fields.coords} & {*fields.dims}
        for name in pair if cells else ():
            self._nodes(name)
        ends = _ends(self.layout, axis)
        wraps = periodic(fields, axis) if cells else self.layout.periodic["xyz".index(axis)]
        whole = edges(fields, axis) if cells else nodes
        period = (whole[-1] - whole[0] if cells else ends[-1] - ends[0]) if wraps else None
        if cells:
            self._covers(axis, ends, whole[0], whole[-1])
        elif period is None:
            reach = REACH * (nodes[1] - nodes[0] if nodes.size > 1 else np.inf)
            self._covers(axis, ends, nodes[0] - reach, nodes[-1] + reach)
        elif nodes[-1] - nodes[0] > period * (1 - ROUNDING):  # the last point is the first one again
            raise BadInput(f"{source} of {self.state.where} covers a period or more; leave the last point out")
        if cells and target.endswith("_c") and source.endswith("_c"):
            return averaging(whole, ends, period)
        return nodal(nodes, places, period)

    def _nodes(self, dim: str) -> np.ndarray:
        """The places along a dimension of the source. Raises BadInput where they are none."""
        assert self.state.fields is not None
        nodes = self.state.fields[dim].values
        if nodes.dtype.kind in "fiu":
            nodes = nodes.astype("f8")
            if nodes.size and np.isfinite(nodes).all() and (np.diff(nodes) > 0).all():
                return nodes
        kind = f"it has {nodes.size} places of type {nodes.dtype}"
        raise BadInput(f"{dim} of {self.state.where}: {kind}; give one or more, as finite numbers that increase")

    def _covers(self, axis: str, ends: np.ndarray, low: float, high: float) -> None:
        slack = ROUNDING * (ends[-1] - ends[0])
        if low > ends[0] + slack or high < ends[-1] - slack:
            raise BadInput(
                f"{self.state.where} reaches from {axis} = {low:g} to {high:g}, the domain from {ends[0]:g} to"
                f" {ends[-1]:g}; give grid.origin and grid.lengths of a domain inside of it"
            )


def _ends(layout: StoreLayout, axis: str) -> np.ndarray:
    """Where the cells of a layout begin, and the last one ends."""
    faces, centres = layout.coordinate(f"{axis}_f"), layout.coordinate(f"{axis}_c")
    return faces if faces.size > centres.size else np.append(faces, 2 * centres[-1] - faces[-1])
