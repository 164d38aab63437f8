"""Minima and maxima of fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Launch, Read, ReadByte, Reduce, Roles, task

TEXT = KERNELS / "extremes.cu"
Range = tuple[float, float]


@task(kernel=TEXT)
def lowest(q: Read, solid: ReadByte | None, *, low: Reduce[min]) -> None:
    """low = min of q over cells that are not `solid`"""


@task(kernel=TEXT)
def highest(q: Read, solid: ReadByte | None, *, high: Reduce[max]) -> None:
    """high = max of q over cells that are not `solid`"""


@dataclass(frozen=True, eq=False)
class Extremes:
    """Program that computes the range of some fields over all cells, excluding `bodies` if present."""

    names: tuple[str, ...]
    cells: tuple[Box, ...]
    bodies: bool = False
    __name__: ClassVar[str] = "extremes"

    def __call__(self, f: Roles) -> Iterator[Launch]:
        solid = f.solid if self.bodies else None
        for name in self.names:
            yield lowest(f[name], solid, over=self.cells, low=f.scalar(f"minimum_{name}"))
            yield highest(f[name], solid, over=self.cells, high=f.scalar(f"maximum_{name}"))

    def ranges(self, scalars: Mapping[str, float]) -> dict[str, Range]:
        """Return the minimum and maximum of each field, given the scalars of the program."""
        return {name: (scalars[f"minimum_{name}"], scalars[f"maximum_{name}"]) for name in self.names}
