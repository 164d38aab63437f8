"""Who computes a run: a process, as any other process can know it again, and whether it is still there."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

STARTED = 19  # of the numbers behind the name in /proc/PID/stat: when the process began, in ticks after the boot
TEXTS = {"host": r"[\w.-]{1,255}", "boot": r"[\w-]{0,64}", "space": r"[\w:\[\]]{0,64}", "since": r"[\dT:+-]{1,40}"}


@dataclass(frozen=True)
class Owner:
    """A process: the name of its host, which boot of which kernel that is, the namespace of its number, the number, and
    the ticks from the boot to its begin, as numbers are used again. No clock that can be set has a part in it: `since`
    is for people.
    """

    host: str
    boot: str
    space: str
    process: int
    began: int
    since: str

    @classmethod
    def this(cls) -> Owner:
        """The present process, from now on."""
        host = re.sub(r"[^\w.-]", "_", socket.gethostname(), flags=re.ASCII) or "localhost"
        since = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(host, _boot(), _space(), os.getpid(), (_stat(os.getpid()) or ("", 0))[1], since)

    @classmethod
    def of(cls, told: Any) -> Owner:
        """What `told` says. Raises ValueError where it says no owner."""
        if not isinstance(told, Mapping):
            raise ValueError("no owner")
        for name, text in TEXTS.items():
            if not isinstance(told.get(name), str) or not re.fullmatch(text, told[name], re.ASCII):
                raise ValueError(name)
        for name in ("process", "began"):
            if type(told.get(name)) is not int or not 0 <= told[name] < 2**63:
                raise ValueError(name)
        return cls(**{name: told[name] for name in (*TEXTS, "process", "began")})

    @property
    def told(self) -> dict[str, Any]:
        """For `of`."""
        return asdict(self)

    def same(self, other: Owner) -> bool:
        """Whether both are one process."""
        return self.told | {"since": ""} == other.told | {"since": ""}

    def alive(self) -> bool | None:
        """Whether the process is still there; None where that cannot be seen from here."""
        if not self.boot or not self.space or (self.boot, self.space) != (_boot(), _space()):
            return None
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        except OverflowError:  # no number of a process
            return False
        except PermissionError:  # there is one, of somebody else
            pass
        found = _stat(self.process)
        if found is None:  # somebody else's, and hidden
            return None
        state, began = found
        return state not in "ZX" and began == self.began

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}"


def _boot() -> str:
    """A name of this boot of this kernel, which no other one has; nothing where the system tells none."""
    return _line(Path("/proc/sys/kernel/random/boot_id"))


def _space() -> str:
    """The namespace in which numbers of processes are counted: containers have their own."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _stat(process: int) -> tuple[str, int] | None:
    """The state of a process, and when it began; None where that cannot be read."""
    found = _line(Path(f"/proc/{process}/stat")).rpartition(") ")[2].split()
    return (found[0], int(found[STARTED])) if len(found) > STARTED else None


def _line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
