"""The cluster of a run: one that is given or submitted, one that a scheduler file leads to, or one embedded here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from taskflow.errors import BadArgument, BadInput
from taskflow.runtime.cluster.certificate import security
from taskflow.runtime.cluster.local import embedded, gpus
from taskflow.runtime.cluster.placement import MachineRequest, processes
from taskflow.runtime.cluster.slurm import Slurm, submitted
from taskflow.runtime.host import choose_device, look
from taskflow.runtime.regions import Triple

if TYPE_CHECKING:
    from distributed import Client


@contextmanager
def by_scheduler_file(path: Path, *, timeout: float = 30.0) -> Iterator[Client]:
    """A client of the cluster whose scheduler wrote `path`. Raises BadInput where there is none, or no answer.

    Where the scheduler listens to TLS alone, the certificate is the one in the folder beside the file, PATH.tls, or
    else that in Dask's configuration.
    """
    from distributed import Client, Security

    def refused(problem: str, remedy: str) -> BadArgument:
        return BadArgument("scheduler_file", str(path), f": {problem}", remedy)

    if not path.is_file():
        raise refused("there is no such file", f"start a cluster with: dask scheduler --scheduler-file {path}")
    address = _address(path)
    if address is None:
        raise refused("no Dask scheduler wrote this file", "give the one that yours wrote")
    folder = path.with_name(f"{path.name}.tls")
    try:
        certificate = security(folder) if folder.is_dir() else Security()
        certified = certificate.get_connection_args("client").get("ssl_context") is not None
    except OSError as error:
        raise refused(f"its certificate cannot be read ({error})", "is it yours?") from error
    if address.startswith("tls://") and not certified:
        raise refused(
            f"this cluster wants a certificate, and there is none in {folder}, nor does Dask's configuration name one",
            "set distributed.comm.tls.ca-file, .client.cert and .client.key",
        )
    try:
        client = Client(scheduler_file=str(path), security=certificate, direct_to_workers=True, timeout=timeout)
    except (OSError, TimeoutError, ValueError, RuntimeError) as error:
        raise refused(f"the scheduler does not answer ({error})", "is it still running?") from error
    with client:
        yield client


def _address(path: Path) -> str | None:
    """The address of the scheduler in a file; None where the file has none."""
    try:
        address = json.loads(path.read_text(encoding="utf-8")).get("address")
    except (OSError, ValueError, AttributeError):
        return None
    return address if isinstance(address, str) else None


@contextmanager
def lasting_client(client: Client | Slurm | None) -> Iterator[Client | None]:
    """The client itself; or one of jobs of SLURM, which are submitted now and stay for as long."""
    if isinstance(client, Slurm):
        with submitted(client) as workers:
            yield workers
    else:
        yield client


@contextmanager
def cluster_client(
    request: MachineRequest, cells: Triple, client: Client | None, scheduler_file: str | PathLike[str] | None
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
        with by_scheduler_file(Path(scheduler_file)) as cluster:
            yield cluster, False
    else:
        count = gpus()
        device = "cpu"
        if request.device != "auto" or count:
            device = choose_device(request.device, [look("this machine")])
        workers = processes(request, cells, count or None if device == "gpu" else None)
        with embedded(workers, gpu=device == "gpu") as cluster:
            yield cluster, True
