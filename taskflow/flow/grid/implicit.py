"""The direction along which diffusion is implicit, as a choice that kernel texts are compiled for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from taskflow.flow.kernels import choice


@dataclass(frozen=True)
class Implicit:
    """The direction along which diffusion is implicit, by the number of its `axis`: here none."""

    axis: ClassVar[int | None] = None


EXPLICIT = Implicit()
ALONG: dict[str, Implicit] = {
    name: choice(Implicit, f"Implicit{name.upper()}", axis=axis, defines=(f"IMPLICIT_{name.upper()}",))()
    for axis, name in enumerate("xyz")
}
