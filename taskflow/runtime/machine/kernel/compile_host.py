"""The host compiler: kernel texts as shared libraries, built on first use into a cache of the user.

A library's name is a hash of everything it depends on: the text with its headers, the compiler with its version, the
flags, and the processor, since home folders are shared between different machines.

A library runs as the user who loads it, so nothing is loaded from a path that another user could write to or replace.
Its last bytes are a checksum of the rest, in the same file, so that both exist or neither does. Loaders ignore bytes
after the tables of a library. A truncated library would crash the process without a message.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from taskflow.common.errors import BadInput
from taskflow.common.ownership import first_own, make_private, scratch, scratch_folders, weakness
from taskflow.runtime.machine.kernel.agreement import KernelError

# None of these changes a value: no contraction to fused multiply-adds, no -ffast-math. Errno and floating-point traps
# are unused and disabled, because they prevent vector loops with square roots and selections.
FLAGS = (
    "-std=c++17",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fPIC",
    "-shared",
    "-Wl,-Bsymbolic",  # a task may share its name with a function of the C library, such as advance
    "-x",
    "c++",
)
LEVEL = "TASKFLOW_OPTIMIZATION"  # variable of the environment: N of -ON, by default 3
WANTED = ("-fopenmp", "-march=native")  # used if the compiler supports them
SIMD = "-fopenmp-simd"  # vector loops without OpenMP's threads
# No shorter vector loop for the remainder after each vector loop: with it GCC takes up to four times as long for large
# texts.
EPILOGUES = ("--param", "vect-epilogues-nomask=0")
LIMIT = 3600  # seconds: a compiler that hangs, not one that shares its cores
CHECKSUM = 32  # bytes, of BLAKE2b

# Spins of an idle OpenMP thread before it sleeps: about 40 microseconds, which covers the gap between two launches.
# The default, some milliseconds, starves other threads on the cores (the worker's event loop), and is starved by
# them.
PATIENCE = "2000"
_spins = {"GOMP_SPINCOUNT": PATIENCE}  # read when the first kernel loads OpenMP into the process

_lock = threading.Lock()


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: its command, its version text, and the supported flags."""

    command: tuple[str, ...]
    version: str
    flags: tuple[str, ...]

    @property
    def parallel(self) -> bool:
        """True if the compiler supports OpenMP. Otherwise kernels run on one core."""
        return "-fopenmp" in self.flags


def never_spin() -> None:
    """Let waiting OpenMP threads sleep immediately, unless the user set a policy or a kernel is already loaded."""
    _spins["GOMP_SPINCOUNT"] = "0"


def _opened(path: Path) -> ctypes.CDLL:
    """Return the library of kernels in a file. Child processes do not inherit the spin time of this one."""
    mine = {} if {"OMP_WAIT_POLICY", *_spins} & os.environ.keys() else _spins
    os.environ.update(mine)
    try:
        return ctypes.CDLL(str(path))
    finally:
        for name in mine:
            os.environ.pop(name, None)


@cache
def library(text: str, more: tuple[str, ...] = ()) -> ctypes.CDLL:
    """Return the loaded library of the text, compiled with `more` flags after the usual ones, or from the cache if any
    process has compiled it before.

    Raises BadInput if no compiler or no safe cache is available, or if $TASKFLOW_OPTIMIZATION is invalid, and
    KernelError if the compiler rejects the text.
    """
    with _lock:  # cached results
        chosen, folder, processor = compiler(), cache_folder(), _processor()
    flags = (*FLAGS, _optimization(), *chosen.flags, *more)
    identity = "\0".join((text, *chosen.command, chosen.version, *flags, processor))
    path = folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.so"
    if ready := loaded(path):
        return ready
    with alone(path):
        if ready := loaded(path):
            return ready
        _build(text, chosen, flags, path)
    try:
        return _opened(path)
    except OSError as error:
        built = f"what {shlex.join(chosen.command)} has built from a kernel text does not load"
        raise KernelError(f"{path}: {built}: {error}") from error


def _optimization() -> str:
    level = os.environ.get(LEVEL) or "3"
    if level not in ("0", "1", "2", "3"):
        raise BadInput(f'{LEVEL} = "{level}": give 0, 1, 2 or 3, or unset it for 3')
    return f"-O{level}"


@cache
def compiler() -> Compiler:
    """Return the C++ compiler of this machine: $CXX, else the first of c++, g++ and clang++.

    Raises BadInput if none is found.
    """
    chosen = os.environ.get("CXX", "").strip()
    for name in [chosen] if chosen else ["c++", "g++", "clang++"]:
        command = shlex.split(name)
        program = shutil.which(command[0])
        if program is None:
            continue
        command[0] = program
        about = _run([*command, "--version"])
        if about.returncode == 0:
            return Compiler(tuple(command), about.stdout.strip(), _flags(command, about.stdout))
    problem = (
        f"the C++ compiler CXX={chosen!r} does not run" if chosen else "there is no C++ compiler (c++, g++ or clang++)"
    )
    raise BadInput(
        f"{problem}, and kernels for CPU cores are compiled on first use: install g++, or set CXX to a C++ compiler"
    )


def _flags(command: Sequence[str], version: str) -> tuple[str, ...]:
    """Return the flags that a compiler supports, from the cache if it supports all."""
    most, known = (*WANTED, *EPILOGUES), None
    with suppress(BadInput, OSError):  # reported when kernels are compiled
        identity = "\0".join((*command, version, str(Path(command[0]).stat().st_mtime_ns), _processor(), *most))
        known = cache_folder() / f"flags-{hashlib.sha256(identity.encode()).hexdigest()[:32]}"
        if known.exists():
            return most
    flags: tuple[str, ...] = WANTED
    if not _takes(command, WANTED):
        flags = tuple(flag for flag in (*WANTED, SIMD) if _takes(command, [flag]))
    if _takes(command, EPILOGUES):
        flags += EPILOGUES
    if flags == most and known is not None:
        with suppress(OSError):
            known.touch(0o600)
    return flags


def _takes(command: Sequence[str], flags: Sequence[str]) -> bool:
    source = "#include <omp.h>\n" if "-fopenmp" in flags else "int nothing;\n"
    with scratch() as folder:
        arguments = [*command, *flags, "-fPIC", "-shared", "-x", "c++", "-", "-o", str(folder / "probe.so")]
        return _run(arguments, source, folder).returncode == 0


def _run(
    arguments: Sequence[str], source: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Run a compiler, with its temporary files in a folder of this user. Raises BadInput if it does not end."""
    environment = {**os.environ, "TMPDIR": str(folder)} if folder is not None else None
    try:
        return subprocess.run(
            arguments, input=source, capture_output=True, text=True, timeout=LIMIT, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        raise BadInput(
            f"{arguments[0]}: has not ended in {LIMIT / 60:g} minutes; try again, or set CXX to another C++ compiler"
        ) from None


@cache
def _processor() -> str:
    """Return the model and features of the (first) processor, on which -march=native depends."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    telling = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "CPU implementer", "CPU part")
    features: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in telling:
            features.setdefault(name.strip(), value.strip())
    return f"{platform.machine()} {features}"


def _build(text: str, chosen: Compiler, flags: Sequence[str], path: Path) -> None:
    """Compile in a temporary folder, then move the library into the cache."""
    with tempfile.TemporaryDirectory(prefix="build-", dir=path.parent, ignore_cleanup_errors=True) as folder:
        target = Path(folder) / "kernel.so"
        arguments = [*chosen.command, *flags, "-", "-o", str(target)]
        done = _run(arguments, text, Path(folder))
        if done.returncode:
            raise KernelError(f"a kernel text does not compile with {shlex.join(arguments)}:\n{done.stderr.strip()}")
        keep(target, path)


@cache
def cache_folder() -> Path:
    """Return the folder of compiled kernels, in $XDG_CACHE_HOME or ~/.cache; if it is read-only, a temporary one of
    this process.

    Raises BadInput if another user could write to it.
    """
    try:
        root = os.environ.get("XDG_CACHE_HOME")
        folder = (Path(root) if root else Path.home() / ".cache") / "taskflow"
        make_private(folder)
        if unsafe := weakness(folder):
            raise BadInput(
                f"compiled kernels are not kept in {folder}: {unsafe}, and could put code of others there; change"
                " owner or mode, or set XDG_CACHE_HOME to a folder of your own"
            )
        folder = folder.resolve(strict=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, RuntimeError):  # read-only, full, or no home at all
        where = first_own(scratch_folders())
        own = Path(tempfile.mkdtemp(prefix="taskflow-kernels-", dir=where))  # not accessible to other users
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        return own


def loaded(path: Path) -> ctypes.CDLL | None:
    """Return the library in this file, or None if it is missing or damaged."""
    try:
        if weakness(path):  # such as a umask of 002, which lets a group write to it
            return None
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    if len(content) <= CHECKSUM or _checksum(content[:-CHECKSUM]) != content[-CHECKSUM:]:
        return None
    with suppress(OSError):  # intact, but rejected by the loader: built on another system
        return _opened(path)
    return None


def keep(library: Path, path: Path) -> None:
    """Move a library from the same folder to `path`, with its checksum. Readers of `path` find the old or the complete
    new file, even after a crash of the machine. Raises OSError.
    """
    with library.open("r+b") as file:
        file.write(_checksum(file.read()))
        file.flush()
        os.fchmod(file.fileno(), 0o600)
        os.fsync(file.fileno())
    library.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold the lock on building `path`: the workers of a host start with the same kernels at the same moment. On file
    systems without locks each builds its own.
    """
    with path.with_suffix(".lock").open("w") as lock:
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            Path(lock.name).unlink(missing_ok=True)  # waiting processes find the library


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECKSUM).digest()
