"""A run in a notebook: a line, a table, and a picture of its last state; progress while it runs."""

from __future__ import annotations

import html
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any

from taskflow.cases import Case
from taskflow.cases.timing.intervals import Tick
from taskflow.cases.value import html_row
from taskflow.common.errors import BadInput
from taskflow.flow.model import VELOCITY
from taskflow.runtime.cluster import Progress, unwatched
from taskflow.systems.projection import system_of

if TYPE_CHECKING:
    import xarray as xr

DPI = 70
AFTER, BETWEEN = 1.0, 0.2  # seconds of a cell before its bar is there, and from one look to the next


class CellProgress:
    """Progress of a run in a line beneath the cell of a notebook: IPython `shell`, and its function `show`."""

    def __init__(self, case: Case, shell: Any, show: Callable[..., Any]) -> None:
        self._case, self._shell, self._show = case, shell, show
        self._pseudo_time = system_of(case).pseudo_time(case)
        self._cell: object = None
        self._line: Any = None
        self._began = self._shown = 0.0

    def __call__(self, status: Mapping[str, Any]) -> None:
        """Show the status, once the cell has run for a while."""
        now = time.perf_counter()
        if self._shell.execution_count != self._cell:
            self._cell, self._line, self._began = self._shell.execution_count, None, now
        due = now - self._shown >= BETWEEN or "ended" in status
        if "step" not in status or now - self._began < AFTER or not due:
            return
        self._shown = now
        step, at, title = status["step"], status["time"], html.escape(self._case.title)
        when = "" if self._pseudo_time else f", time {at:.6g}"
        share = self._case.clock().progress(Tick(step, at))
        bar = f'<progress value="{share:.4f}"></progress> {share:.0%}'
        content = {"text/html": f"{title}: step {step}{when} {bar}"}
        if self._line is None:
            self._line = self._show(content, raw=True, display_id=True)
        else:
            self._line.update(content, raw=True)


def shown_progress(case: Case) -> Progress:
    """Return a progress display beneath the cell of a notebook; elsewhere a function without effect."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if not hasattr(shell, "kernel"):
        return unwatched
    from IPython.display import display

    return CellProgress(case, shell, display)


def as_html(line: str, table: Mapping[str, Any], records: Callable[[], xr.Dataset | xr.DataTree]) -> str:
    """Return a line, a table and, if the `records` have a velocity, its magnitude with streamlines, as HTML."""
    rows = "".join(html_row(key, value) for key, value in table.items())
    picture = b""
    with suppress(BadInput):  # nothing is there to be drawn yet, or any more
        picture = _picture(records())
    image = f'<img alt="velocity" src="data:image/png;base64,{b64encode(picture).decode()}">' if picture else ""
    return f"<p><code>{html.escape(line)}</code></p><table>{rows}</table>{image}"


def _picture(records: Any) -> bytes:
    """Return the last record as PNG; empty without a velocity."""
    charts = getattr(records, "children", {}).get("charts")
    names = next(iter(charts.children.values())).variables if charts else records.variables
    if not (VELOCITY.keys() <= names.keys() and records.sizes.get("time", 1)):
        return b""
    file = BytesIO()
    records.flow.streamlines().savefig(file, format="png", dpi=DPI)
    return file.getvalue()
