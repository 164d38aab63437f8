"""Dask's web pages: none by default; on request the scheduler's, on this host only.

Scheduler and workers always start an HTTP server, which does not check certificates. Dask preloads this module into
both (`PRELOAD`), which stops the server before anything runs there. TASKFLOW_DASHBOARD=PORT requests the scheduler's
pages. They show names and times of tasks to every user of this host, and are read-only.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from taskflow.common.errors import BadInput

PRELOAD = __name__
ASKED = "TASKFLOW_DASHBOARD"
HERE = ("127.0.0.1", "localhost")  # names that a browser may use; others belong to foreign pages


def pages() -> str | None:
    """Return the address of the scheduler's pages, or None if not requested. Raises BadInput if the port is invalid."""
    port = os.environ.get(ASKED)
    if not port:
        return None
    if not (port.isdecimal() and int(port) < 1 << 16):
        raise BadInput(f"{ASKED}={port}; give a port of this host, such as 8787")
    return f"{HERE[0]}:{port}"


def dask_setup(server: Any) -> None:
    """Entry point of Dask, in every scheduler and worker at its start."""
    from distributed import Scheduler

    if isinstance(server, Scheduler) and pages():
        _guard(server.http_server, server.http_application)
    else:
        server.http_server.stop()
        server.services.pop("dashboard", None)  # not advertised


def _guard(http_server: Any, application: Any) -> None:
    """Answer only requests to an address of this host, from a page of this host."""
    from tornado.httputil import HTTPServerRequest
    from tornado.routing import Matcher, Rule, RuleRouter

    class SameHost(Matcher):
        def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
            names = {request.host_name, urlsplit(request.headers.get("Origin", f"//{HERE[0]}")).hostname}
            return {} if names <= set(HERE) else None

    http_server.request_callback = RuleRouter([Rule(SameHost(), application)])
