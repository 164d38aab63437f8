"""A cluster that somebody else started."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from taskflow.cluster.certificate import security
from taskflow.errors import BadInput

if TYPE_CHECKING:
    from distributed import Client


@contextmanager
def by_scheduler_file(path: Path, *, timeout: float = 30.0) -> Iterator[Client]:
    """A client of the cluster whose scheduler wrote `path`. Raises BadInput where there is none, or no answer.

    Where the scheduler listens to TLS alone, the certificate is the one in the folder beside the file, PATH.tls, or
    else that in Dask's configuration.
    """
    from distributed import Client, Security

    if not path.is_file():
        raise BadInput(
            f"--scheduler-file {path}: there is no such file;"
            f" start a cluster with: dask scheduler --scheduler-file {path}"
        )
    address = _address(path)
    if address is None:
        raise BadInput(f"--scheduler-file {path}: no Dask scheduler wrote this file; give the one that yours wrote")
    beside = path.with_name(f"{path.name}.tls")
    try:
        shown = security(beside) if beside.is_dir() else Security()
        certified = shown.get_connection_args("client").get("ssl_context") is not None
    except OSError as error:
        raise BadInput(f"--scheduler-file {path}: its certificate cannot be read ({error}); is it yours?") from error
    if address.startswith("tls://") and not certified:
        raise BadInput(
            f"--scheduler-file {path}: this cluster wants a certificate, and there is none in {beside}, nor does Dask's"
            " configuration name one; set distributed.comm.tls.ca-file, .client.cert and .client.key"
        )
    try:
        client = Client(scheduler_file=str(path), security=shown, direct_to_workers=True, timeout=timeout)
    except (OSError, TimeoutError, ValueError, RuntimeError) as error:
        raise BadInput(
            f"--scheduler-file {path}: the scheduler does not answer ({error}); is it still running?"
        ) from error
    with client:
        yield client


def _address(path: Path) -> str | None:
    """Where a file says that a scheduler is; None where it says nothing of the kind."""
    try:
        address = json.loads(path.read_text(encoding="utf-8")).get("address")
    except (OSError, ValueError, AttributeError):
        return None
    return address if isinstance(address, str) else None
