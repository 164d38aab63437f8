"""The cluster of a run: one that is given or submitted, one that a scheduler file leads to, or one embedded here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from taskflow.cluster.connect import by_scheduler_file
from taskflow.cluster.local import embedded, gpus
from taskflow.cluster.placement import Wanted, processes
from taskflow.cluster.slurm import Slurm
from taskflow.cluster.submitting import submitted
from taskflow.errors import BadInput
from taskflow.machine import choose_device, look
from taskflow.regions import Triple

if TYPE_CHECKING:
    from distributed import Client


@contextmanager
def held(client: Client | Slurm | None) -> Iterator[Client | None]:
    """Whoever is given; a client of jobs of SLURM, which are submitted now and stay for as long."""
    if isinstance(client, Slurm):
        with submitted(client) as found:
            yield found
    else:
        yield client


@contextmanager
def lent(
    wanted: Wanted, cells: Triple, client: Client | None, scheduler_file: str | PathLike[str] | None
) -> Iterator[tuple[Client, bool]]:
    """The client to use, and whether its cluster is embedded: begun here, and ended on leaving.

    Raises BadInput where what is given is no client, or leads to none.
    """
    from distributed import Client

    if isinstance(client, Client):
        yield client, False
    elif client is not None:
        raise BadInput(f"client = {client!r}; give a dask.distributed.Client, as Client(address) makes one")
    elif scheduler_file is not None:
        with by_scheduler_file(Path(scheduler_file)) as found:
            yield found, False
    else:
        usable = gpus()
        here = look("this machine")
        device = "cpu" if wanted.device == "auto" and not usable else choose_device(wanted.device, [here])
        count = processes(wanted, cells, usable or None if device == "gpu" else None)
        with embedded(count, gpu=device == "gpu") as found:
            yield found, True
