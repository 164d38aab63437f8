"""Direction of implicit diffusion, as a compile-time choice of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from taskflow.flow.kernels import choice


@dataclass(frozen=True)
class Implicit:
    """Direction of implicit diffusion by its `axis`, here None."""

    axis: ClassVar[int | None] = None


EXPLICIT = Implicit()
ALONG: dict[str, Implicit] = {
    name: choice(Implicit, f"Implicit{name.upper()}", axis=axis, defines=(f"IMPLICIT_{name.upper()}",))()
    for axis, name in enumerate("xyz")
}
