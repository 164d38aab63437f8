"""ucxx as the UCX channel uses it: its private core modules, loaded on first use, and a worker of our own.

The modules are private to ucxx but are what RAPIDS itself builds on; the package's extras pin their version.
"""

from __future__ import annotations

import functools
import os
import re
from types import ModuleType
from typing import Any

OPTIONS = {"MM_ERROR_HANDLING": "on", "KEEPALIVE_INTERVAL": "1s"}
"""UCX options of our contexts; UCX_... variables of the user win. With error handling UCX gives up shared memory for
TCP, eight times slower, unless MM_ERROR_HANDLING is on; the keepalive shows the death of a peer in shared memory."""

ALONE = {"TLS": "all", "NET_DEVICES": ""}
"""UCX options, whatever the user's variables say, on one host: memory and no network device. Over TCP, UCX listens on
every interface, and whoever connects there may write into the memory of the process: it knows no password."""

REMOTE = ("tcp/", "rc_", "dc_", "ud_")
"""How the names of transports between hosts begin: TCP; InfiniBand and RoCE, reliable or datagrams."""


@functools.cache
def load() -> tuple[ModuleType, Any]:
    """The core of ucxx, and its wrapper of buffers."""
    os.environ.setdefault("UCX_WARN_UNUSED_ENV_VARS", "n")  # ucxx sets variables that a UCX without CUDA does not know
    import ucxx._lib.libucxx as core
    from ucxx._lib.arr import Array

    return core, Array


@functools.cache
def ucx_problem() -> str | None:
    """Why UCX cannot be used in this process; None if it can."""
    try:
        load()
    except Exception as error:  # a missing package, a missing or mismatched shared library
        return f"ucxx cannot be loaded ({error})"
    return None


def ways_between_hosts() -> tuple[str, ...]:
    """The ways of UCX here to reach other hosts, as transport/device, such as tcp/eth0 or rc_mlx5/mlx5_0:1."""
    core, _ = load()
    ways = re.findall(r"-- (\S+/\S+)", core.UCXContext({}, feature_flags=(core.Feature.TAG,)).info)
    return tuple(way for way in ways if way.startswith(REMOTE))


def open_worker(*, alone: bool) -> tuple[Any, Any]:
    """A context and its worker, shared with nobody, whose events can be slept on. Delete the worker first. With
    `alone` nothing but processes of this host and user can reach it.
    """
    core, _ = load()
    options = {key: value for key, value in OPTIONS.items() if f"UCX_{key}" not in os.environ}
    options |= ALONE if alone else {}
    context = core.UCXContext(options, feature_flags=(core.Feature.TAG, core.Feature.WAKEUP))
    worker = core.UCXWorker(context)
    worker.init_blocking_progress_mode()
    return context, worker
