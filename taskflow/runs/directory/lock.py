"""The lock of a run directory: one run has exclusive use of it, from its first look at it to its end.

    DIR/lock        owner: host, process, token; in a second line a number that grows while the process lives

The lock of an exited process of this host is void. A process that is not visible from this host, on another host or in
another container, keeps its lock as long as its number grows, and loses it if the number is constant for `SILENCE`
seconds of this process's sleep clock. Times of day are not used. A process that was suspended for so long finds another
lock when it resumes: its blocks check before they write.
"""

from __future__ import annotations

import json
import os
import re
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass as validated

from taskflow.common.errors import BadInput, RunFailed
from taskflow.output import LOCK
from taskflow.runs.directory.lock_file import content, first, make, remove
from taskflow.runs.state.remedies import OUTPUT, unlocking

STARTED = 19  # index after the name in /proc/PID/stat: start of the process, in ticks after boot
Number = Annotated[int, Field(ge=0, lt=2**63)]
BEAT = 5.0  # seconds between two numbers
SILENCE, LOOK = 60.0, 1.0  # seconds without a new number that end a lock, and between two looks
TRIES = 100  # to take a lock that others take and release meanwhile
ANOTHER = f"choose another directory ({OUTPUT})"
_held: set[bytes] = set()  # first lines of the locks of this process


@validated(frozen=True, config=ConfigDict(strict=True))
class Owner:
    """A process: host name, boot identifier of the kernel, PID namespace, PID, and the ticks from boot to its start, as
    PIDs are reused. Settable clocks are not used: `since` is informative.
    """

    host: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,255}$")]
    boot: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,64}$")]
    space: Annotated[str, Field(pattern=r"^[A-Za-z0-9_:\[\]]{0,64}$")]
    process: Number
    began: Number
    since: Annotated[str, Field(pattern=r"^[0-9T:+-]{1,40}$")]

    @classmethod
    def this(cls) -> Owner:
        """Return the present process, with the present time as `since`."""
        host = re.sub(r"[^\w.-]", "_", socket.gethostname(), flags=re.ASCII) or "localhost"
        since = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(host, _boot(), _space(), os.getpid(), (_stat(os.getpid()) or ("", 0))[1], since)

    def same(self, other: Owner) -> bool:
        return replace(self, since=other.since) == other

    def alive(self) -> bool | None:
        """Return True if the process exists; None if it is not visible from this host."""
        if not self.boot or not self.space or (self.boot, self.space) != (_boot(), _space()):
            return None
        try:
            os.kill(self.process, 0)
        except (ProcessLookupError, OverflowError):  # gone, or no number of a process
            return False
        except PermissionError:  # it exists, and belongs to another user
            pass
        now = _stat(self.process)
        if now is None:  # another user's, and hidden
            return None
        state, began = now
        return state not in "ZX" and began == self.began

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}"


def _boot() -> str:
    """Return the unique identifier of this boot; empty if the system has none."""
    return _line(Path("/proc/sys/kernel/random/boot_id"))


def _space() -> str:
    """Return the PID namespace: containers have separate ones."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def _stat(process: int) -> tuple[str, int] | None:
    """Return the state and the start of a process, or None if they cannot be read."""
    words = _line(Path(f"/proc/{process}/stat")).rpartition(") ")[2].split()
    return (words[0], int(words[STARTED])) if len(words) > STARTED else None


def _line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


@dataclass(frozen=True)
class Lock:
    """The content of a lock: a unique line, its owner, and a growing number."""

    line: bytes
    owner: Owner
    beats: int

    @classmethod
    def read(cls, directory: Path) -> Lock | None:
        """Return the lock of a run directory, or None. Raises BadInput if it cannot be read, or is damaged."""
        path = directory / LOCK
        try:
            text = content(path)
            return None if text is None else cls.parse(text)
        except OSError as error:
            raise BadInput(f"{path}: {error.strerror or error}; remove it manually, or {ANOTHER}") from None
        except ValueError:
            words = f"{path}: damaged; if no run is active: {unlocking(directory)}; otherwise {ANOTHER}"
            raise BadInput(words) from None

    @classmethod
    def parse(cls, text: bytes) -> Lock:
        """Parse a lock. Raises ValueError if the text is invalid."""
        line, _, beats = text.partition(b"\n")
        return cls(line, TypeAdapter(Owner).validate_json(line), int(beats))

    @property
    def alive(self) -> bool | None:
        """True if its run is active; None if this is not immediately visible."""
        return self.line in _held if self.owner.same(Owner.this()) else self.owner.alive()


@dataclass(frozen=True)
class HeldLock:
    """A lock held by this run. Picklable: every block gets it."""

    path: Path
    line: bytes

    def check(self) -> None:
        """Raise RunFailed if the lock was removed, or belongs to another run."""
        try:
            text = content(self.path)
        except OSError as error:
            raise RunFailed(f"{self.path}: {error.strerror or error}; the owner of the directory is unknown") from None
        if text is not None and first(text) == self.line:
            return
        now = None
        with suppress(BadInput):
            now = Lock.read(self.path.parent)
        why = f"{now.owner} has taken over {self.path.parent}" if now else f"{self.path}: it has been removed"
        raise RunFailed(f"{why} while this run was suspended or presumed dead; it ends and changes no files")


@contextmanager
def locked(directory: Path, tell: Callable[[str], None]) -> Iterator[HeldLock]:
    """Yield the lock of a run directory, and release it at the end. A missing directory is created, and removed if it
    stays empty.

    `tell` is called with a message if only waiting can show whether another run is active. Raises BadInput if one is
    active, OSError if no lock can be written.
    """
    made = [folder for folder in (directory, *directory.parents) if not folder.exists()]
    line = json.dumps({"token": uuid.uuid4().hex, **asdict(Owner.this())}).encode()
    claim, ended = HeldLock(directory.absolute() / LOCK, line), threading.Event()
    _held.add(line)
    try:
        file = _taken(directory, line, tell)
        beating = threading.Thread(target=_beat, args=(file, len(line) + 1, ended), name="taskflow-lock", daemon=True)
        beating.start()
        yield claim
    finally:
        ended.set()
        _held.discard(line)
        with suppress(OSError):
            remove(claim.path, line)
        for folder in made:
            with suppress(OSError):
                folder.rmdir()


def refusal(directory: Path, lock: Lock) -> BadInput:
    """Return the error that refuses a second run, with remedies."""
    return BadInput(
        f"{directory}: {lock.owner} has been running there since {lock.owner.since}: wait until it ends, stop it,"
        f" or {ANOTHER}; if no run is active: {unlocking(directory)}"
    )


def unlock(directory: Path, tell: Callable[[str], None]) -> bool:
    """Remove a lock whose run has ended, or that is damaged; return True if a lock existed.

    `tell` is called with its owner, and with the reason for waiting. Raises BadInput if the run is active, and OSError.
    """
    text = content(directory / LOCK)
    if text is None:
        return False
    try:
        lock = Lock.parse(text)
    except ValueError:
        tell(f"{directory / LOCK}: damaged: it names no process")
    else:
        tell(f"{directory}: locked by {lock.owner}, since {lock.owner.since}")
        if _lives(directory, lock, tell):
            raise BadInput(f"{directory}: {lock.owner} is still running: stop it there, which removes its lock")
    remove(directory / LOCK, first(text))
    return True


def _taken(directory: Path, line: bytes, tell: Callable[[str], None]) -> int:
    """Make the lock with this line, and return its open file."""
    for _ in range(TRIES):
        directory.mkdir(parents=True, exist_ok=True)
        lock = Lock.read(directory)
        if lock is None:
            with suppress(FileExistsError, FileNotFoundError):  # another process was faster, or removed it
                return make(directory / LOCK, _text(line, 0))
        elif _lives(directory, lock, tell):
            raise refusal(directory, lock)
        else:
            remove(directory / LOCK, lock.line)
    raise BadInput(f"{directory / LOCK}: other runs take and release it continually; {ANOTHER}")


def _lives(directory: Path, lock: Lock, tell: Callable[[str], None]) -> bool:
    """Return True if the run of a lock is active. An invisible process is watched by a number of looks, so that time
    does not pass while the file system, or this process, is suspended.
    """
    alive = lock.alive
    if alive is not None:
        return alive
    tell(f"{directory}: {lock.owner} is not visible from this host; its lock is watched for up to {SILENCE:g} s")
    for _ in range(round(SILENCE / LOOK)):
        time.sleep(LOOK)
        now = Lock.read(directory)
        if now is None or now.line != lock.line:
            return False
        if now.beats != lock.beats:
            return True
    return False


def _beat(file: int, place: int, ended: threading.Event) -> None:
    """Increment the number until the end. Writing to the open file never affects another file of the same name."""
    beats = 0
    while not ended.wait(BEAT):
        beats += 1
        with suppress(OSError, MemoryError):  # a disk that fails now may not do so next time
            os.pwrite(file, _text(b"", beats)[1:], place)
            os.fsync(file)
    os.close(file)


def _text(line: bytes, beats: int) -> bytes:
    return line + f"\n{beats:020}\n".encode()
