"""The version, source and environment of a run: for the report and for the history of the store."""

from __future__ import annotations

import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from taskflow.common.release import __version__
from taskflow.common.rows import Row

HOME = Path(__file__).parents[2]
PACKAGES = (
    "numpy", "dask", "distributed", "zarr", "xarray",
    "cupy-cuda13x", "cupy-cuda12x", "ucxx-cu13", "ucxx-cu12", "dask-cuda",
)  # fmt: skip


def provenance() -> dict[str, Any]:
    """Return versions, git commit (None outside a checkout, marked if changed), platform, command and time."""
    return {
        "taskflow": __version__,
        "git_commit": commit(HOME),
        "python": platform.python_version(),
        "packages": dict(_versions()),
        "platform": platform.platform(),
        "command": command(),
        "started": _now(),
    }


def command() -> list[str]:
    """Return the command of this process, with `python -m` for a module, so that it can be typed again."""
    name = getattr(getattr(sys.modules["__main__"], "__spec__", None), "name", "__main__")
    return sys.argv if name == "__main__" else ["python", "-m", name.removesuffix(".__main__"), *sys.argv[1:]]


def history() -> str:
    """Return the first line of the history of a store."""
    return f"{_now()}: taskflow {__version__} ({commit(HOME) or 'no commit'})"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def build() -> str:
    """Return the version, and in a checkout its commit, as the version of an editable install becomes outdated."""
    number = commit(HOME)
    return f"{__version__}{f' (checkout at {brief(number)})' if number else ''}"


def machine_rows() -> Iterator[Row]:
    """Yield rows of `taskflow info`: this installation and this machine."""
    from taskflow.runtime.host.inventory import inventory

    about = provenance()
    yield Row("installed", str(HOME))
    yield Row("python", f"{about['python']} on {about['platform']}")
    yield Row("packages", ", ".join(f"{name} {version}" for name, version in about["packages"].items()))
    yield from inventory().rows()
    yield Row("dask-cuda", about["packages"].get("dask-cuda", "not installed: needed for GPUs"))


def brief(commit: str) -> str:
    """Return a short commit; changed files stay marked."""
    number, _, dirty = commit.partition("-")
    return f"{number[:10]}{' with changes' * bool(dirty)}"


@cache
def _versions() -> Mapping[str, str]:
    versions = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


@cache
def commit(folder: Path) -> str | None:
    """Return the git commit of taskflow's own checkout, or None, as of the modules of this process."""
    if not (folder.parent / ".git").exists():
        return None
    try:
        described = subprocess.run(
            ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return described.stdout.strip()
