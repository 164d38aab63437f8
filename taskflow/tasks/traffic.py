"""Traffic: what the blocks of a partition send each other in a step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from taskflow.regions import Partition
from taskflow.tasks.graph import Message


@dataclass(frozen=True, order=True)
class Traffic:
    """Messages, their bytes, and how many of them go to neighbours across faces, edges and corners of a block."""

    messages: int = 0
    nbytes: int = 0
    faces: int = 0
    edges: int = 0
    corners: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(
            self.messages + other.messages,
            self.nbytes + other.nbytes,
            self.faces + other.faces,
            self.edges + other.edges,
            self.corners + other.corners,
        )


def traffic(messages: Iterable[Message], partition: Partition) -> list[Traffic]:
    """What each block sends, of these messages; what it copies within itself is not counted."""
    fields = partition.fields
    sent = [Traffic()] * len(partition)
    for message in messages:
        if message.source != message.target:
            places = zip(partition.place(message.source), partition.place(message.target), strict=True)
            across = sum(a != b for a, b in places)
            nbytes = sum(copy.source_box.volume * fields[name].nbytes for name, copy in message.copies)
            sent[message.source] += Traffic(1, nbytes, *(int(across == n) for n in (1, 2, 3)))
    return sent
