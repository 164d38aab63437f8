"""Droplets: connected parts of a phase in a snapshot, also across periodic sides, read in layers of cells.

The result does not depend on blocks or layers, except for rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from taskflow.analysis.derived import bodies, centred
from taskflow.analysis.parts import MIXED, Joined, labelled, spread
from taskflow.common.errors import BadInput
from taskflow.output.store.reading import edges, periodic

CELLS = 1 << 22  # that are read at a time
NEAR = 1e-9  # of a length, within which a centre on a periodic side is at its low end
AXES = "xyz"


def droplets(ds: xr.Dataset, phase: int = 1, layers: int | None = None) -> xr.Dataset:
    """Return volume, centre, mean velocity and extent of each connected part of a phase in one snapshot.

    See `FlowAccessor.droplets`. `layers` of cells along z are read at a time, by default some millions of cells.
    """
    if phase not in (1, 2):
        raise BadInput(f"phase = {phase!r}: give 1 or 2")
    if ds.sizes.get("time", 1) != 1:
        raise BadInput(f"the dataset has {ds.sizes['time']} snapshots; choose one, as ds.isel(time=-1)")
    if "f" not in ds or set(ds["f"].dims) - {"time"} != {"x_c", "y_c", "z_c"}:
        raise BadInput("output.fields: there is no f, the share of phase 1, in this dataset; record it with two phases")
    one = ds.isel(time=0) if "time" in ds.dims else ds
    plane = one.sizes["x_c"] * one.sizes["y_c"]
    found = _Parts(one, phase)
    found.read(layers or max(1, CELLS // plane))
    return found.dataset()


@dataclass
class _Layers:
    """Some layers of cells (`rows`, also beyond periodic ends), with labels of cells of half a share, and `spread`."""

    rows: range
    share: np.ndarray
    labels: np.ndarray
    spread: np.ndarray


@dataclass
class _Parts:
    """The parts of a phase in a snapshot, found so far."""

    ds: xr.Dataset
    phase: int
    joined: Joined = field(default_factory=Joined)
    sums: list[np.ndarray] = field(default_factory=list)  # [label, volume, moments, momenta]
    ends: list[np.ndarray] = field(default_factory=list)  # [label, low x, y, z, high x, y, z]

    def __post_init__(self) -> None:
        self.around = tuple(periodic(self.ds, axis) for axis in AXES)
        self.edges = tuple(edges(self.ds, axis) for axis in AXES)
        self.lengths = tuple(float(ends[-1] - ends[0]) for ends in self.edges)
        known = {axis: name for axis, name in zip(AXES, "uvw", strict=True) if name in self.ds}
        self.moving, self.velocity = [*known], [centred(self.ds, self.ds[name]) for name in known.values()]
        self.solid = bodies(self.ds)

    def read(self, count: int) -> None:
        """Find the parts, `count` layers of cells at a time."""
        n = self.ds.sizes["z_c"]
        seen: dict[int, tuple[int, np.ndarray]] = {}
        for low in range(0, n, count):
            core = range(low, min(low + count, n))
            layers = self._labelled(core)
            self._join_layers(layers, seen)
            self._measure(layers, core)
            kept = {*range(-MIXED, MIXED), *range(core.stop - MIXED, n + MIXED)}
            seen = {row: place for row, place in seen.items() if row in kept or row - n in kept}

    def _values(self, of: xr.DataArray, rows: range) -> np.ndarray:
        index = np.mod(rows, self.ds.sizes["z_c"])
        needed = np.unique(index)
        values = of.transpose("z_c", "y_c", "x_c").isel(z_c=needed).values
        return values[np.searchsorted(needed, index)].astype(float)

    def _labelled(self, core: range) -> _Layers:
        """Return the layers of cells `core`, and up to `MIXED` more on both sides, with labels."""
        n = self.ds.sizes["z_c"]
        rows = range(core.start - MIXED, core.stop + MIXED)
        rows = rows if self.around[2] and n > 1 else range(max(0, rows.start), min(n, rows.stop))
        share = self._values(self.ds["f"], rows)
        share = share if self.phase == 1 else 1 - share
        if self.solid is not None:
            share = np.where(self._values(self.solid, rows) > 0, 0.0, share)
        labels, count = labelled(share)
        labels[labels > 0] += self.joined.add(count)
        for axis in (0, 1):
            if self.around[axis] and self.ds.sizes[f"{AXES[axis]}_c"] > 1:
                first, last = (labels.take(end, 2 - axis) for end in (0, -1))
                self._join(first, last, axis)
        extended, beyond = labels, self._padded(share)
        for _ in range(MIXED):
            extended = spread(self._padded(extended), beyond)
        return _Layers(rows, share, labels, extended)

    def _join(self, ahead: np.ndarray, behind: np.ndarray, axis: int | None = None) -> None:
        """Join labels of identical or adjacent cells. Those `ahead` belong a length further along a periodic axis."""
        shift = np.zeros(3)
        if axis is not None:
            shift[axis] = self.lengths[axis]
        both = (ahead > 0) & (behind > 0)
        for a, b in np.unique(np.stack([ahead[both], behind[both]], axis=1), axis=0):
            self.joined.join(int(a), int(b), shift)

    def _join_layers(self, layers: _Layers, seen: dict[int, tuple[int, np.ndarray]]) -> None:
        """Join labels of layers that were read before, perhaps beyond a periodic end of the domain."""
        n = self.ds.sizes["z_c"]
        for row, labels in zip(layers.rows, layers.labels, strict=True):
            place = row % n
            if place not in seen:
                seen[place] = row, labels
                continue
            before, other = seen[place]
            ahead, behind = (other, labels) if before < row else (labels, other)
            self._join(ahead, behind, 2 if before != row else None)

    def _padded(self, values: np.ndarray) -> np.ndarray:
        """Return the values with a layer of cells more on each side, 0 beyond ends that are not periodic."""
        for axis in range(3):
            around = axis < 2 and self.around[axis]
            values = np.pad(values, [(int(n == 2 - axis),) * 2 for n in range(3)], "wrap" if around else "constant")
        return values

    def _measure(self, layers: _Layers, core: range) -> None:
        """Add the cells of the core to the sums of their labels."""
        inside = slice(core.start - layers.rows.start, core.stop - layers.rows.start)
        labels, share = layers.spread[inside], layers.share[inside]
        places = np.nonzero(labels)
        if not len(places[0]):
            return
        own, part = labels[places], share[places]
        rows = [places[2], places[1], places[0] + core.start]
        widths = [np.diff(ends)[index] for ends, index in zip(self.edges, rows, strict=True)]
        centre = [((ends[1:] + ends[:-1]) / 2)[index] for ends, index in zip(self.edges, rows, strict=True)]
        volume = part * widths[0] * widths[1] * widths[2]
        moments = [volume, *(volume * x for x in centre)]
        moments += [volume * self._values(q, core)[places] for q in self.velocity]
        known, index = np.unique(own, return_inverse=True)
        sums = np.stack([np.bincount(index, values) for values in moments], axis=1)
        self.sums.append(np.column_stack([known, sums]))
        half = part >= 0.5
        ends = np.full((len(known), 6), np.inf)
        for axis in range(3):
            np.minimum.at(ends[:, axis], index[half], self.edges[axis][rows[axis][half]])
            np.minimum.at(ends[:, axis + 3], index[half], -self.edges[axis][rows[axis][half] + 1])
        self.ends.append(np.column_stack([known, ends]))

    def dataset(self) -> xr.Dataset:
        """Return the numbers of each part, the largest first."""
        domain = math.prod(self.lengths)
        table = sorted(self._rows(), key=lambda row: (-round(row[0] / domain, 12), row[1:4].tolist()))
        values = np.array(table).reshape(len(table), 10 + len(self.velocity))
        names = ["volume", *(f"centre_{a}" for a in AXES), *(f"extent_{a}_min" for a in AXES)]
        names += [f"extent_{a}_max" for a in AXES] + [f"velocity_{a}" for a in self.moving]
        found = xr.Dataset({name: ("droplet", values[:, n]) for n, name in enumerate(names)})
        found = found.assign_coords(droplet=np.arange(len(table))).assign_attrs(phase=self.phase)
        return found.assign_coords(time=self.ds["time"]) if "time" in self.ds.coords else found

    def _rows(self) -> Iterator[np.ndarray]:
        """Yield volume, centre, low and high ends, and velocity of each part."""
        if not self.sums:
            return
        sums, ends = np.concatenate(self.sums), np.concatenate(self.ends)
        places = [self.joined.place(int(label)) for label in sums[:, 0]]
        roots, shifts = np.array([root for root, _ in places]), np.array([shift for _, shift in places])
        sums[:, 2:5] += sums[:, 1:2] * shifts
        ends[:, 1:] += np.concatenate([shifts, -shifts], axis=1)
        starts = np.array([faces[0] for faces in self.edges])
        for root in np.unique(roots):
            total, end = sums[roots == root, 1:].sum(axis=0), ends[roots == root, 1:].min(axis=0)
            means = total[1:] / total[0]
            turns = np.where(self.around, np.floor((means[:3] - starts) / self.lengths + NEAR), 0) * self.lengths
            centre, low, high = means[:3] - turns, end[:3] - turns, -end[3:] - turns
            for axis in np.flatnonzero(self.joined.endless(int(root))):
                centre[axis], low[axis], high[axis] = np.nan, self.edges[axis][0], self.edges[axis][-1]
            yield np.concatenate([total[:1], centre, low, high, means[3:]])
