"""Fields of a saved state on the grid of another run: bitwise on the same grid, else interpolated direction by
direction.

Values at nodes are interpolated by the cubic through the four nearest nodes. An average over a cell is the difference
of an integral at its ends, by the same cubic through the integrals up to the faces of the source. This conserves the
total, and averages are of third order (the primitive function of P. Colella, P. R. Woodward 1984, J. Comput. Phys. 54,
174, without limiter).

A velocity component is interpolated at nodes along its own direction and averaged across it. Both commute: the outflow
of a target cell is the average, with the weights of cells, of the outflow of source cells. A divergence-free velocity
on faces thus stays divergence-free to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.output.checkpoint.saved import SavedState, described
from taskflow.output.store.layout import StoreLayout
from taskflow.output.store.reading import edges, ended, periodic

NODES = 4  # through which a polynomial goes
AROUND = 4  # nodes outside each end of a period
REACH = 0.75  # spacings outside the outermost points of a file within which values are extrapolated
ROUNDING = 1e-9  # of a length

Piece = tuple[slice, slice, slice]


def nodal(nodes: np.ndarray, places: np.ndarray, period: float | None = None) -> np.ndarray:
    """Return weights [place, node], exactly 1 and 0 at nodes. With a `period` nodes cover one, from anywhere."""
    numbers, around = _around(nodes, period)
    return _folded(_through_nodes(around, places), numbers, len(nodes))


def averaging(faces: np.ndarray, ends: np.ndarray, period: float | None = None) -> np.ndarray:
    """Return weights [cell, source cell] of averages over the cells between `faces` for the cells between `ends`.

    With a `period` the faces span one period, including the last face.
    """
    numbers, around = _around(faces[:-1] if period else faces, period)
    at_ends = _through_nodes(around, ends)
    change = at_ends[1:] - at_ends[:-1]
    cells = np.arange(around.size - 1)
    used = change != 0
    first, last = used.argmax(axis=1), around.size - 1 - used[:, ::-1].argmax(axis=1)
    beyond = change[:, :0:-1].cumsum(axis=1)[:, ::-1]  # the weight of all faces above a cell
    beyond[(cells < first[:, None]) | (cells >= last[:, None])] = 0.0  # rounding errors only
    weights = beyond * np.diff(around) / np.diff(ends)[:, None]
    return _folded(weights, numbers[: cells.size], len(faces) - 1)


def _weighted(weights: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return sum_j weights[i, j] values[j], added in the order of j. BLAS would round by position, and so by block."""
    count = int((weights != 0).sum(axis=1).max())
    order = np.argsort(weights == 0, axis=1, kind="stable")[:, :count]
    shares = np.take_along_axis(weights, order, axis=1)
    return np.asarray(sum(shares[:, n, None, None] * values[order[:, n]] for n in range(count)))


def _around(nodes: np.ndarray, period: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers and positions of nodes, including some of the periods before and after."""
    if period is None:
        return np.arange(nodes.size), nodes
    numbers = np.arange(-AROUND, nodes.size + AROUND + 1)
    return numbers % nodes.size, nodes[numbers % nodes.size] + period * (numbers // nodes.size)


def _through_nodes(nodes: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the weights [place, node] of the Lagrange polynomial through the nodes around each place."""
    count = min(NODES, nodes.size)
    above = np.searchsorted(nodes, places, side="right")
    chosen = np.clip(above - count // 2, 0, nodes.size - count)[:, None] + np.arange(count)
    at, weights = nodes[chosen], np.ones((places.size, count))
    for one in range(count):
        for other in range(count):
            if other != one:
                weights[:, one] *= (places - at[:, other]) / (at[:, one] - at[:, other])
    result = np.zeros((places.size, nodes.size))
    np.put_along_axis(result, chosen, weights, axis=1)
    return result


def _folded(weights: np.ndarray, numbers: np.ndarray, count: int) -> np.ndarray:
    """Return weights of `count` nodes, summed over periodic images with these numbers."""
    result = np.zeros((weights.shape[0], count))
    np.add.at(result.T, numbers, weights.T)
    return result


@dataclass(frozen=True, eq=False)
class RemappedField:
    """Field of a saved state on the grid of a layout.

    Along directions in which the source has cells, as stores of runs do, centred values are averages over cells. If it
    has points only, all values are at points. Raises BadInput if the source lacks the field or does not cover the
    domain.
    """

    state: SavedState
    name: str
    layout: StoreLayout

    @cached_property
    def values(self) -> xr.DataArray:
        """Field in the source [z, y, x], lazy."""
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
        """Weights along z, y and x, None where points coincide."""
        dims = zip(self.values.dims, self.layout.dims(self.name), strict=True)
        return tuple(self._along(str(source), target) for source, target in dims)

    def part(self, piece: Piece) -> np.ndarray:
        """Return the values [z, y, x] of a piece, in double precision. Raises BadInput if one is not finite."""
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
                values = np.moveaxis(_weighted(weights[along][:, used], np.moveaxis(values, axis, 0)), 0, axis)
        return values

    def _along(self, source: str, target: str) -> np.ndarray | None:
        """Return the weights along a direction, given its dimensions in the source and here."""
        fields, axis = self.state.fields, target[0]
        assert fields is not None
        nodes, places = self._nodes(source), self.layout.coordinate(target)
        if np.array_equal(nodes, places):
            return None
        pair = {f"{axis}_c", f"{axis}_f"}
        cells = pair <= {*fields.coords} & {*fields.dims}
        for name in pair if cells else ():
            self._nodes(name)
        ends = ended(self.layout.coordinate(f"{axis}_f"), self.layout.coordinate(f"{axis}_c"))
        wraps = periodic(fields, axis) if cells else self.layout.periodic["xyz".index(axis)]
        whole = edges(fields, axis) if cells else nodes
        period = (whole[-1] - whole[0] if cells else ends[-1] - ends[0]) if wraps else None
        if cells:
            self._covers(axis, ends, whole[0], whole[-1])
        elif period is None:
            reach = REACH * (nodes[1] - nodes[0] if nodes.size > 1 else np.inf)
            self._covers(axis, ends, nodes[0] - reach, nodes[-1] + reach)
        elif nodes[-1] - nodes[0] > period * (1 - ROUNDING):  # the last point repeats the first one
            raise BadInput(f"{source} of {self.state.where} covers a period or more; omit the last point")
        if cells and target.endswith("_c") and source.endswith("_c"):
            return averaging(whole, ends, period)
        return nodal(nodes, places, period)

    def _nodes(self, dim: str) -> np.ndarray:
        """Return the positions along a dimension of the source. Raises BadInput if they are invalid."""
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
