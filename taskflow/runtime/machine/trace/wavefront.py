"""Wavefronts: consecutive launches of a CPU block done slab by slab, so that the next launch finds its data in the
cache.

A sweep over a field that exceeds the cache loads it from memory. But launch n + 1 depends on launch n only up to a few
planes ahead. So all launches of a chain pass through the block together, each lagging behind its dependences by the
reach of their stencils, in planes (loop skewing). Every cell is still computed by the same operation from the same
values: the results are bitwise identical.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from taskflow.common.caching import cached_property
from taskflow.runtime.machine.device import Call, Lane
from taskflow.runtime.machine.trace.binding import Binder
from taskflow.runtime.machine.trace.gather import SLAB
from taskflow.runtime.regions import STRAIGHT, Copy
from taskflow.runtime.tasks import Compute, Node, Place, Refresh

# Field and piece, the first and the last plane touched relative to the own plane, whether it is written.
Reach = tuple[Place, int, int, bool]

LARGE = 4  # times the cache: smaller fields remain in it well enough between launches


@dataclass(frozen=True, eq=False)
class SlabStage:
    """A launch or copy that can be done plane by plane: the planes [first, last)."""

    first: int
    last: int
    touched: Callable[[], Iterable[Reach]]
    bind: Callable[[int, int], Call]

    @cached_property
    def reaches(self) -> tuple[Reach, ...]:
        """Cells touched at each plane. Computed on demand: small blocks do not need them."""
        return tuple(self.touched())

    def lag(self, earlier: SlabStage) -> int | None:
        """Return the planes by which this stage must stay behind an earlier one, or None if they share no field that
        one of them writes.
        """
        return max(
            (high - low for f, low, _, w in earlier.reaches for g, _, high, v in self.reaches if f == g and (w or v)),
            default=None,
        )


@dataclass(frozen=True, eq=False)
class Wavefront:
    """Chains stages while the planes in flight fit into `cache` bytes."""

    binder: Binder
    cache: int

    def stages(self, node: Node, lane: Lane) -> list[SlabStage] | None:
        """Return the node as stages, or None if it cannot be done plane by plane: reductions, foreign fields (other
        planes), tasks that are whole, messages, copies along z.
        """
        if isinstance(node, Compute) and node.launch.task.kernel is not None:
            task = node.launch.task
            whole = task.whole or node.launch.foreign
            return None if whole or task.reductions else [self._launch(node, lane)]
        if isinstance(node, Refresh) and all(
            c.source_box.lo[2] == c.target_box.lo[2] and c.source == c.target and c.axes == STRAIGHT
            for _, c in node.copies
        ):
            return [self._copy(name, copy, lane) for name, copy in node.copies]
        return None

    def operations(self, stages: Sequence[SlabStage]) -> Iterator[tuple[SlabStage, Call]]:
        """Yield all stages, whole or slab by slab, in an order equivalent to the sequential one."""
        for chain, lags in self._chains(stages):
            if len(chain) > 1:
                yield from _skewed(chain, lags, self._slab)
            else:
                yield chain[0], chain[0].bind(chain[0].first, chain[0].last)

    def _chains(self, stages: Sequence[SlabStage]) -> Iterator[tuple[list[SlabStage], list[int]]]:
        """Yield the stages in chains, with the lag of every stage behind the front."""
        if not self._pays:
            yield from (([stage], [0]) for stage in stages)
            return
        chain: list[SlabStage] = []
        lags: list[int] = []
        for stage in stages:
            lag = max(
                (n + d for n, other in zip(lags, chain, strict=True) if (d := stage.lag(other)) is not None), default=0
            )
            if chain and not self._fits([*chain, stage], [*lags, lag]):
                yield chain, lags
                chain, lags, lag = [], [], 0
            chain.append(stage)
            lags.append(lag)
        if chain:
            yield chain, lags

    def _fits(self, chain: Sequence[SlabStage], lags: Sequence[int]) -> bool:
        """Return whether the planes of touched fields between their first and last stage fit into the cache, but not
        all planes.
        """
        arrays, span = self.binder.instances.arrays, dict[Place, tuple[int, int]]()
        for stage, lag in zip(chain, lags, strict=True):
            for name, *_ in stage.reaches:
                low, high = span.get(name, (lag, lag))
                span[name] = min(low, lag), max(high, lag)
        touched = {name: arrays[name] for name in span if name in arrays}
        in_flight = sum(a[0].nbytes * (span[name][1] - span[name][0] + self._slab) for name, a in touched.items())
        return in_flight <= self.cache < sum(a.nbytes for a in touched.values()) / LARGE

    @cached_property
    def _pays(self) -> bool:
        """Return True if a chain can be worthwhile: all fields together exceed the cache."""
        return self.cache < sum(array.nbytes for array in self.binder.instances.arrays.values()) / LARGE

    @property
    def _slab(self) -> int:
        """Planes per operation."""
        largest = max(box.shape[0] * box.shape[1] for box in self.binder.instances.boxes.values())
        return max(1, -(-SLAB // largest))

    def _launch(self, node: Compute, lane: Lane) -> SlabStage:
        first, last = node.box.lo[2], node.box.hi[2]

        def touched() -> Iterator[Reach]:
            return ((place, box.lo[2] - first, box.hi[2] - last, p.changes) for place, box, p in node.accesses())

        def bind(low: int, high: int) -> Call:
            return self.binder.compute(replace(node, box=node.box.cut(2, low, high)), lane)

        return SlabStage(first, last, touched, bind)

    def _copy(self, name: str, copy: Copy, lane: Lane) -> SlabStage:
        def bind(low: int, high: int) -> Call:
            source, target = copy.source_box.cut(2, low, high), copy.target_box.cut(2, low, high)
            part = replace(copy, source_box=source, target_box=target)
            return self.binder.copies(((name, part),), lane)[0]

        place = name, copy.target
        return SlabStage(copy.source_box.lo[2], copy.source_box.hi[2], lambda: [(place, 0, 0, True)], bind)


def _skewed(chain: Sequence[SlabStage], lags: Sequence[int], slab: int) -> Iterator[tuple[SlabStage, Call]]:
    """Yield slab after slab, each stage as far as its lag permits."""
    front = min(stage.first + lag for stage, lag in zip(chain, lags, strict=True))
    end = max(stage.last + lag for stage, lag in zip(chain, lags, strict=True))
    while front < end:
        for stage, lag in zip(chain, lags, strict=True):
            low, high = max(stage.first, front - lag), min(stage.last, front + slab - lag)
            if low < high:
                yield stage, stage.bind(low, high)
        front += slab
