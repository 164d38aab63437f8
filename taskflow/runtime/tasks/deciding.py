"""The ghost cells that decide how a pass goes: of those valid before it those of fields of which it reads some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks.ghosts import Geometries, GhostState, Reader, Valid
from taskflow.runtime.tasks.reading import place, readings
from taskflow.runtime.tasks.task import Launch


@dataclass(frozen=True, eq=False)
class Deciding:
    """Ghost cells before a pass: the state of each field of which it, or what follows it, has `read` ghost cells, as it
    is when that happens first, or else when the pass ends; and the ghost cells of all `others` after the pass. Where
    `read` is equal, messages, nodes and their order are, and the ghost cells of these fields afterwards.
    """

    read: Mapping[str, GhostState]
    others: Valid

    def after(self, equal: Valid) -> Valid:
        """The ghost cells after this pass, where these are valid after one with an equal `read`."""
        return self.others | {key: boxes for key, boxes in equal.items() if key[1] in self.read}


def deciding(
    launches: Sequence[Launch], following: Sequence[Launch], partition: Partition, valid: Valid, known: Geometries
) -> Deciding:
    """Return what decides how these launches and what follows go with these ghost cells, on the blocks of `known`."""
    states, nothing, read = known.states(valid), known.states({}), dict[str, GhostState]()
    for n, launch in enumerate((*launches, *following)):
        cut = place(launch, partition)
        for name, ways in readings(launch, partition).items():
            if name in read or partition.fields[name].constant:
                continue
            readers = (Reader(launch.boxes, launch.ghosts, cut, way) for way in ways)
            if any(nothing[name].read(reader)[0] for reader in readers):
                read[name] = states[name]
        for name in launch.written if n < len(launches) else ():  # what follows leaves nothing in this pass
            if name not in read:
                states[name] = states[name].written(launch.boxes, launch.ghosts)
    return Deciding(read, known.valid({name: state for name, state in states.items() if name not in read}))
