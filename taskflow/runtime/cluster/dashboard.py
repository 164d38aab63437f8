"""Dask's web pages: none, unless somebody asks for those of the scheduler, on this host alone.

Scheduler and workers begin an HTTP server whatever they are told, and to it nobody has to show a certificate. Dask
preloads this module into both (`PRELOAD`), which ends it before anything runs there. TASKFLOW_DASHBOARD=PORT asks for
the pages of the scheduler: they show names and times of what runs, to every user of this host, and change nothing.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from taskflow.common.errors import BadInput

PRELOAD = __name__
ASKED = "TASKFLOW_DASHBOARD"
HERE = ("127.0.0.1", "localhost")  # as which a browser may ask: another name is that of a page that wants to look in


def pages() -> str | None:
    """Return the address of the scheduler's pages; None where nobody has asked. Raises BadInput for what is no port."""
    port = os.environ.get(ASKED)
    if not port:
        return None
    if not (port.isdecimal() and int(port) < 1 << 16):
        raise BadInput(f"{ASKED}={port}; give a port of this host, such as 8787")
    return f"{HERE[0]}:{port}"


def dask_setup(server: Any) -> None:
    """Dask calls this in every scheduler and worker as it begins."""
    from distributed import Scheduler

    if isinstance(server, Scheduler) and pages():
        _guard(server.http_server, server.http_application)
    else:
        server.http_server.stop()
        server.services.pop("dashboard", None)  # nobody shall be sent there


def _guard(http_server: Any, application: Any) -> None:
    """Answer only a browser that was given an address of this host, by a page from here."""
    from tornado.httputil import HTTPServerRequest
    from tornado.routing import Matcher, Rule, RuleRouter

    class Here(Matcher):
        def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
            names = {request.host_name, urlsplit(request.headers.get("Origin", f"//{HERE[0]}")).hostname}
            return {} if names <= set(HERE) else None

    http_server.request_callback = RuleRouter([Rule(Here(), application)])
