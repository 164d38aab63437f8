"""`taskflow watch --web`: a run, or a folder of runs, as a page, served on demand to this machine only, without
external resources.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import typer

from taskflow.cli.follow import Followed
from taskflow.common.errors import BadInput
from taskflow.common.units import plural
from taskflow.output import CASE
from taskflow.output.log import largest_residual, measured
from taskflow.terminal.exit_codes import refuse
from taskflow.terminal.format import tell

HERE = "127.0.0.1"
NAMES = (HERE, "localhost")  # host names of valid requests: others come from foreign pages
POINTS = 1000  # of a curve
POLICY = "default-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"
SLIGHT = 1e-6  # of the largest component of a force: components below this are not drawn
CURVES = ("time", "step", "dt", "cfl", "divergence", "residual", "kinetic_energy")


class Page(ThreadingHTTPServer):
    """Server of the page of a run, or of the runs in a folder, such as a sweep's."""

    daemon_threads = True

    def __init__(self, directory: Path, port: int) -> None:
        self.directory, self.lock, self._runs = directory, Lock(), dict[str, Followed]()
        self.followed()
        super().__init__((HERE, port), Answer)

    @property
    def names(self) -> list[str]:
        """Names of the runs in a folder, sorted, or none for a run."""
        one = (self.directory / CASE).exists()
        return [] if one else sorted(case.parent.name for case in self.directory.glob(f"*/{CASE}"))

    def followed(self, name: str = "") -> Followed:
        """Return the run of this name, by default the first one. Raises BadInput if it does not exist."""
        names = self.names
        if name and name not in names:
            raise BadInput(f"of = {name}: no such run; give one of {', '.join(names)}")
        name = name or (names[0] if names else "")
        if name not in self._runs:
            self._runs[name] = Followed(self.directory / name)
        return self._runs[name]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore broken connections, because the terminal shows the run."""

    @property
    def address(self) -> str:
        """Address of the page."""
        return f"http://{HERE}:{self.server_address[1]}/"


class Answer(BaseHTTPRequestHandler):
    """Handler of browser requests: the page, the current state of the run, a slice."""

    server: Page
    timeout = 30.0  # seconds that a connection may be idle

    def do_GET(self) -> None:
        """Send the response, or the error of the request."""
        try:
            url = urlsplit(self.path)
        except ValueError as error:
            return self._send(HTTPStatus.BAD_REQUEST, {"error": f"this is no address ({error})"})
        if self.headers.get("Host", "").rpartition(":")[0] not in NAMES:
            return self._send(HTTPStatus.FORBIDDEN, {"error": f"this page is at {self.server.address}"})
        if url.path == "/":
            text = files(__package__).joinpath("watch.html").read_bytes()
            return self._send(HTTPStatus.OK, text, "text/html; charset=utf-8")
        ways: Mapping[str, Callable[[Followed, Mapping[str, str]], Any]] = {"/run": _run, "/slice": _slice}
        asked = dict(parse_qsl(url.query))
        if url.path not in ways:
            return self._send(HTTPStatus.NOT_FOUND, {"error": f"{url.path}: there is nothing"})
        try:
            with self.server.lock:
                answer = ways[url.path](self.server.followed(asked.get("of", "")), asked) | {"runs": self.server.names}
        except (BadInput, ValueError) as error:
            return self._send(HTTPStatus.BAD_REQUEST, {"error": str(error)})
        except OSError as error:  # the directory went away
            return self._send(HTTPStatus.GONE, {"error": str(error)})
        except Exception as error:  # of this request only: the server continues, and no browser waits
            return self._send(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": f"{type(error).__name__}: {error}"})
        return self._send(HTTPStatus.OK, answer)

    def _send(self, status: HTTPStatus, content: Any, kind: str = "application/json") -> None:
        from taskflow.output.log import plain

        body = content if isinstance(content, bytes) else json.dumps(plain(content), allow_nan=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing per request."""


def _run(followed: Followed, _: Mapping[str, str]) -> dict[str, Any]:
    """Return the current state of the run, and its curves."""
    followed.look()
    log, report = followed.log, followed.report
    stride = max(1, -(-len(log) // POINTS))
    lines = [measured({**line, **largest_residual(line)}) for line in (*log[:-1:stride], *log[-1:])]
    return {
        "heading": followed.heading,
        "directory": str(followed.directory.resolve()),
        "state": followed.state,
        "over": followed.over,
        "reason": report.get("reason", ""),
        "restarts": [f"from step {restart['step']}: {restart['reason']}" for restart in report.get("restarts", ())],
        "pseudo_time": followed.meter.pseudo_time,
        "share": followed.meter.share,
        "goal": followed.goal,
        "rate": followed.meter.speed,
        "left": "" if followed.over else followed.meter.left,
        "last": measured(followed.last),
        "curves": {name: [line.get(name) for line in lines] for name in CURVES},
        "groups": dict(_groups(lines)),
        **_shown(followed.directory),
    }


def _groups(lines: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, list[float | None]]]]:
    """Yield curves that belong together: forces on each body along axes that matter, flow rates through openings."""
    for body in dict.fromkeys(name for line in lines for name in line.get("bodies", {})):
        acting = [line.get("bodies", {}).get(body, {}).get("force") or [None] * 3 for line in lines]
        columns = dict(zip("xyz", map(list, zip(*acting, strict=True)), strict=True))
        sizes = {axis: max((abs(value) for value in column if value), default=0.0) for axis, column in columns.items()}
        least = SLIGHT * max(sizes.values())
        yield f"force on {body}", {axis: column for axis, column in columns.items() if sizes[axis] > least}
    if openings := dict.fromkeys(name for line in lines for name in line.get("openings", {})):
        passing = [line.get("openings", {}) for line in lines]
        rates = {name: [each.get(name, {}).get("volume_flux") for each in passing] for name in openings}
        yield "flow rate out of openings", rates


def _shown(directory: Path) -> dict[str, Any]:
    from taskflow.analysis.shown import choices

    try:
        return choices(directory)
    except BadInput:  # no snapshots yet
        return {"fields": [], "times": [], "plane": "y"}


def _slice(followed: Followed, asked: Mapping[str, str]) -> dict[str, Any]:
    from taskflow.analysis.shown import plane_values

    missing = {"field", "plane", "snapshot"} - asked.keys()
    if missing:
        raise BadInput(f"a slice has a field, a plane and a snapshot; give {', '.join(sorted(missing))}")
    if not re.fullmatch(r"[0-9]{1,9}", asked["snapshot"]):
        raise BadInput(f"snapshot = {asked['snapshot']}; give the number of a snapshot, from 0")
    return plane_values(followed.directory, asked["field"], asked["plane"], int(asked["snapshot"]))


def serve(directory: Path, port: int) -> None:
    """Serve the page of a run or a folder of runs until Ctrl-C. Raises BadInput if none exists, or the port is in use.
    """
    try:
        page = Page(directory, port)
    except OSError as error:
        refuse(f"--port {port}: {error.strerror}; choose another port, or 0 for any")
    with page:
        heading = f"{plural(len(page.names), 'run')} in {directory}" if page.names else page.followed().heading
        tell(f"{heading}\n{page.address}  (Ctrl-C ends the page, not the run)")
        try:
            page.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            typer.echo()
