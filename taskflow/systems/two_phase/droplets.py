"""Droplets in a run: number, Sauter diameter and largest volumes of the connected parts of a phase.

Each block labels its own cells, and adjacent blocks compare labels across their faces, so that parts are as in
`taskflow.analysis.droplets`. Volumes are exact sums, so that all numbers are bitwise identical on any blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.bodies.flags import ITSELF
from taskflow.flow.measures.phases import Phase, PhaseIntegrals
from taskflow.output import TimeSeries
from taskflow.runtime.machine import Shard
from taskflow.runtime.tasks import cut
from taskflow.systems.records.gathering import Surrounded, gathered
from taskflow.systems.records.series import Integral
from taskflow.systems.two_phase.tables import PhaseTable

LARGEST = 10


@dataclass(frozen=True, eq=False)
class Droplets:
    """The connected parts of a phase, outside of `bodies`."""

    grid: StaggeredGrid
    phase: Phase
    bodies: bool = False

    @property
    def names(self) -> dict[str, str]:
        """Names of the numbers, with descriptions."""
        words = {"droplets": "number of connected parts"}
        words |= {"sauter_diameter": "sum of d^3 over sum of d^2, with the diameters d of spheres, or circles"}
        return words | {f"droplet_volume_{n}": f"volume of part {n} by size" for n in range(1, LARGEST + 1)}

    def numbers(self, shard: Shard) -> list[float]:
        """Return the numbers of `names` in order, NaN without a part. Collective, with copies of f on the host."""
        _, parts = self.parts(shard)
        volumes = sorted(parts.values(), reverse=True)
        missing = [math.nan] * (LARGEST - len(volumes))
        return [len(volumes), self._sauter_diameter(volumes), *volumes[:LARGEST], *missing]

    def parts(self, shard: Shard) -> tuple[np.ndarray, dict[int, float]]:
        """Return the labels of this block's cells [z, y, x], 0 outside parts, and the volume of each label. Collective.
        """
        from taskflow.analysis.parts import MIXED, Joined, labelled, spread  # SciPy, for runs with droplets

        share, surrounded = self._share(shard), Surrounded(shard, self.grid.periodic)
        labels, count = labelled(share)
        counts = shard.gather(np.array([count]))[:, 0]
        labels[labels > 0] += counts[: shard.block].sum()
        around, beyond = surrounded(labels), surrounded(share)
        joined, nowhere = Joined(), np.zeros(3)
        joined.add(int(counts.sum()))
        for one, other in gathered(shard, _touching(around)):
            joined.join(int(one), int(other), nowhere)
        extended = spread(around, beyond)
        for _ in range(1, MIXED):
            extended = spread(surrounded(extended), beyond)
        roots = np.array([joined.place(label)[0] for label in range(int(counts.sum()) + 1)])
        sums: dict[int, np.ndarray] = {}
        for label, *parts in gathered(shard, _exact_sums(extended, share)):
            root = int(roots[int(label)])
            sums[root] = sums.get(root, 0.0) + np.array(parts)
        return roots[extended], {root: self.grid.volume * math.fsum(parts) for root, parts in sums.items()}

    def _share(self, shard: Shard) -> np.ndarray:
        """Return the share of the phase in the cells of this block, 0 in bodies."""
        f = np.asarray(shard.read("f"), float)
        share = f if self.phase == 1 else 1 - f
        return np.where(shard.read("solid") & ITSELF, 0.0, share) if self.bodies else share

    def _sauter_diameter(self, volumes: list[float]) -> float:
        thin = [length for cells, length in zip(self.grid.cells, self.grid.lengths, strict=True) if cells == 1]
        if len(thin) == 1:
            diameters = [math.sqrt(4 * volume / (math.pi * thin[0])) for volume in volumes]
        else:
            diameters = [math.cbrt(6 * volume / math.pi) for volume in volumes]
        return math.fsum(d**3 for d in diameters) / math.fsum(d**2 for d in diameters) if volumes else math.nan


@dataclass(frozen=True, eq=False)
class DropletIntegral(Integral):
    """Integrals over a phase, followed by the numbers of its droplets."""

    droplets: Droplets

    def values(self, shard: Shard) -> np.ndarray:
        return np.concatenate([super().values(shard), self.droplets.numbers(shard)])


def phase_record(table: PhaseTable, measured: PhaseIntegrals) -> Integral:
    """Return the record of a table: the measured integrals, with `droplets` followed by their numbers."""
    about = {"phase": table.phase}
    if not table.droplets:
        return Integral(TimeSeries.of_numbers(table.name, measured.names, about), (measured,), table.every)
    droplets = Droplets(measured.grid, measured.phase, measured.bodies)
    series = TimeSeries.of_numbers(table.name, measured.names | droplets.names, about)
    return DropletIntegral(series, (measured,), table.every, droplets)


def _touching(around: np.ndarray) -> np.ndarray:
    """Return the pairs of labels on both sides of the high faces of this block, from labels with a layer of cells more
    on each side.
    """
    pairs = []
    for number in range(3):
        inside, beyond = [slice(1, -1)] * 3, [slice(1, -1)] * 3
        inside[number], beyond[number] = slice(-2, -1), slice(-1, None)
        both = np.stack([around[tuple(inside)].ravel(), around[tuple(beyond)].ravel()], axis=1)
        pairs.append(both[(both > 0).all(axis=1)])
    return np.unique(np.concatenate(pairs), axis=0)


def _exact_sums(labels: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Return rows of a label and the three parts of the exact sum of the shares of its cells."""
    whole = share == 1  # most cells
    mixed = (labels > 0) & ~whole
    own, count = labels[mixed], int(labels.max()) + 1
    sums = [np.bincount(own, part, count) for part in cut(share[mixed], 1.0)]
    sums[0] += np.bincount(labels[whole], minlength=count)
    known = np.flatnonzero(np.any(sums, axis=0))
    return np.column_stack([known.astype(float), *(total[known] for total in sums)])
