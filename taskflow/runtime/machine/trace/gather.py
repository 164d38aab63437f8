"""Gathering: point tasks that one launch over a list can do, grouped in the order of a block's nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from typing import cast

import numpy as np

from taskflow.runtime.machine.device import Device
from taskflow.runtime.machine.kernel import compile_together, listable
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import Compute, Launch, Task, TaskGraph
from taskflow.runtime.tasks.privilege import Precision
from taskflow.runtime.tasks.reading import place

Group = tuple[int, ...]
SLAB = 1 << 19  # least cells per operation of a CPU, which hides the cost of its call
OWN = __name__.partition(".")[0]  # no test of this package has seen the texts of others


def text_of(launch: Launch, partition: Partition) -> tuple[Task, np.dtype]:
    """Return the task of a launch, specialised for the fields of a partition, and its precision."""
    fields = launch.task.fields
    dtypes = {name: np.dtype(partition.fields[field].dtype) for name, field in zip(fields, launch.fields, strict=True)}
    usual = (dtypes[name] for name, way in fields.items() if way.precision is None and not way.foreign)
    real = next(usual, np.dtype(partition.fields[launch.own].dtype))
    own = ((name, dtype) for name, dtype in dtypes.items() if fields[name].precision == "any")
    precisions = {name: cast(Precision, dtype.str[1:]) for name, dtype in own if dtype != real}
    return launch.task.precise(precisions), real


def listed(launch: Launch, partition: Partition, block: int, *, gpu: bool, debug: bool) -> bool:
    """Return whether a block with several pieces does a launch over lists. A CPU leaves large pieces to wavefronts, as
    its calls are cheap. Debug mode does each sweep twice, separately.
    """
    mine = place(launch, partition).cells_of(block)
    if len(mine) < 2 or launch.task.kernel is None or (debug and launch.swept is not None):
        return False
    return (gpu or max(cells.volume for cells in mine) <= SLAB) and listable(*text_of(launch, partition))


def list_keys(graph: TaskGraph, lanes: Sequence[int], *, gpu: bool, debug: bool) -> list[Hashable | None]:
    """Return a key per node, equal for point tasks that one launch over a list, on one lane, can do. None for all other
    nodes.
    """

    @cache
    def text(launch: Launch, partition: Partition, block: int) -> Hashable | None:
        if not listed(launch, partition, block, gpu=gpu, debug=debug):
            return None
        return launch if launch.task.reductions else text_of(launch, partition)

    texts = (text(n.launch, n.partition, n.block) if isinstance(n, Compute) else None for n in graph.nodes)
    parts = (getattr(node, "part", "") for node in graph.nodes)
    return [key and (key, part, lane) for key, part, lane in zip(texts, parts, lanes, strict=True)]


def gathered(graph: TaskGraph, order: Sequence[int], keys: Sequence[Hashable | None]) -> list[Group]:
    """Return the nodes in the order, in groups. A node with a key is followed by the next nodes with that key, as long
    as they wait only for nodes before the group. Point tasks of a launch that reduces may also wait for each other,
    as a list folds them in group order. A node without a key is its own group.
    """
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for n in order:
        if keys[n] is not None:
            alike[keys[n]].append(n)
    done, groups, begins = set[int](), list[Group](), dict.fromkeys(alike, 0)
    for n in order:
        if n in done:
            continue
        key, group = keys[n], [n]
        if key is not None:
            row, last = alike[key], begins[key] + 1
            node = graph.nodes[n]
            folds = isinstance(node, Compute) and bool(node.launch.task.reductions)
            while last < len(row) and all(m in done or (folds and m in group) for m in graph.waits[row[last]]):
                group.append(row[last])
                last += 1
            begins[key] = last
        done.update(group)
        groups.append(tuple(group))
    return groups


def compile_others(launches: Iterable[Launch], partition: Partition, device: Device) -> int:
    """Compile the kernels of launches to which another package gives the text, or functions in it; return their number.

    Raises BadInput without a compiler, and KernelError if a text does not compile.
    """
    texts = {text_of(launch, partition) for launch in launches if launch.task.kernel is not None}
    others = [(task, real, False) for task, real in texts if _of_others(task)]
    compile_together(others, device)
    return len(others)


def _of_others(task: Task) -> bool:
    brought = [kind.__module__ for kind in task.constants.values() if hasattr(kind, "functions")]
    return any(module.partition(".")[0] != OWN for module in (task.body.__module__, *brought))
