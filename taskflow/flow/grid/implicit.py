"""The direction along which diffusion is implicit, as a choice that kernel texts are compiled for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Implicit:
    """The direction along which diffusion is implicit, by the number of its `axis`: here none."""

    axis: ClassVar[int | None] = None


class ImplicitX(Implicit):
    """Along x."""

    axis: ClassVar[int | None] = 0
    defines: ClassVar[tuple[str, ...]] = ("IMPLICIT_X",)


class ImplicitY(Implicit):
    """Along y."""

    axis: ClassVar[int | None] = 1
    defines: ClassVar[tuple[str, ...]] = ("IMPLICIT_Y",)


class ImplicitZ(Implicit):
    """Along z."""

    axis: ClassVar[int | None] = 2
    defines: ClassVar[tuple[str, ...]] = ("IMPLICIT_Z",)


EXPLICIT = Implicit()
ALONG: dict[str, Implicit] = {"x": ImplicitX(), "y": ImplicitY(), "z": ImplicitZ()}
