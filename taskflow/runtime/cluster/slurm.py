"""Requests to SLURM."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass

from taskflow.errors import BadArgument

COUNTS = ("gpus", "workers", "per-node", "cores")
DIRECTIVES = ("time", "partition", "account", "qos", "constraint", "reservation", "mem")  # of sbatch, as they are
OPTIONS = (*COUNTS, "interface", *DIRECTIVES)


def untold(_: str) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True)
class Slurm:
    """Jobs of `per_node` workers, as many as make `workers` in all; each worker has `cores` cores and, with `gpu`, a
    GPU. `interface` is the network interface for Dask's connections, `directives` are options of sbatch. `told` is
    called with what is awaited, in words.
    """

    workers: int
    gpu: bool
    per_node: int = 1
    cores: int = 1
    interface: str | None = None
    directives: tuple[tuple[str, str], ...] = ()
    told: Callable[[str], None] = untold

    @classmethod
    def of(cls, text: str) -> Slurm:
        """From words such as "gpus=16,per-node=4,time=2:00:00,partition=short". Raises BadInput where they are not."""
        words = [word.partition("=") for word in text.split(",") if word.strip()]
        options = {key.strip(): value.strip() for key, _, value in words}
        for key, value in options.items():
            if key not in OPTIONS:
                close = difflib.get_close_matches(key, OPTIONS, 1)
                remedy = f"did you mean {close[0]}?" if close else f"use some of {', '.join(OPTIONS)}"
                raise _refused(key, value, remedy)
            if not value:
                raise _refused(key, value, f"give it a value: {key}=...")
        counts = {key: _count(key, options[key]) for key in COUNTS if key in options}
        if ("gpus" in counts) == ("workers" in counts):
            raise BadArgument("slurm", text, "", "say how much you want, by either gpus=N or workers=N")
        key = "gpus" if "gpus" in counts else "workers"
        per_node = counts.get("per-node", 1)
        if counts[key] % per_node:
            raise _refused("per-node", str(per_node), f"{key}={counts[key]} is not a multiple of it")
        directives = tuple((name, options[name]) for name in DIRECTIVES if name in options)
        cores = counts.get("cores", 1)
        return cls(counts[key], key == "gpus", per_node, cores, options.get("interface"), directives)

    @property
    def jobs(self) -> int:
        """Jobs to be submitted."""
        return self.workers // self.per_node


def _count(key: str, value: str) -> int:
    if not re.fullmatch(r"[1-9]\d*", value):
        raise _refused(key, value, "give a whole number from 1")
    return int(value)


def _refused(key: str, value: str, remedy: str) -> BadArgument:
    return BadArgument("slurm", f"{key}={value}", "", remedy)
