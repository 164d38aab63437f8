"""InfiniBand of this host, and whether UCX takes it between hosts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ADAPTERS = Path("/sys/class/infiniband")
RESTRICTING = ("UCX_TLS", "UCX_NET_DEVICES")  # with which a user chooses transports and devices of UCX


@dataclass(frozen=True)
class Port:
    """A port of an adapter as the kernel shows it; `link` is "InfiniBand", or "Ethernet" for RoCE."""

    adapter: str
    number: int
    active: bool
    rate: str
    link: str

    def __str__(self) -> str:
        return f"{self.adapter}:{self.number} ({self.link}, {self.rate if self.active else 'not active'})"


def ports(folder: Path = ADAPTERS) -> tuple[Port, ...]:
    """The ports of all adapters of this host."""
    return tuple(
        Port(
            adapter=path.parents[1].name,
            number=int(path.name),
            active=_told(path / "state").endswith("ACTIVE"),
            rate=_told(path / "rate"),
            link=_told(path / "link_layer"),
        )
        for path in sorted(folder.glob("*/ports/*"))
    )


def _told(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"


def unused(known: Sequence[Port], ways: Sequence[str]) -> str | None:
    """Why UCX, which has these `ways` between hosts, leaves a port aside that is active; None where it takes all."""
    devices = {way.partition("/")[2] for way in ways}
    aside = [port for port in known if port.active and f"{port.adapter}:{port.number}" not in devices]
    if not aside:
        return None
    chosen = [f"{name}={os.environ[name]}" for name in RESTRICTING if name in os.environ]
    reason = (
        f"{' and '.join(chosen)} may forbid it"
        if chosen
        else ("this UCX was built without InfiniBand, as wheels are; that of conda-forge has it (deploy/conda)")
    )
    return f"UCX does not use {', '.join(f'{port.adapter}:{port.number}' for port in aside)}: {reason}"
