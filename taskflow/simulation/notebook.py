"""What a notebook shows of a run: a line, a table, and a picture of its last state."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any

from taskflow.errors import BadInput
from taskflow.flow.model import VELOCITY
from taskflow.simulation.case.value import html_row

if TYPE_CHECKING:
    import xarray as xr

DPI = 70


def as_html(line: str, table: Mapping[str, Any], records: Callable[[], xr.Dataset | xr.DataTree]) -> str:
    """A line, a table and, where the `records` have a velocity, its magnitude with streamlines, as HTML."""
    rows = "".join(html_row(key, value) for key, value in table.items())
    picture = b""
    with suppress(BadInput):  # nothing is there to be drawn yet, or any more
        picture = _picture(records())
    image = f'<img alt="velocity" src="data:image/png;base64,{b64encode(picture).decode()}">' if picture else ""
    return f"<p><code>{html.escape(line)}</code></p><table>{rows}</table>{image}"


def _picture(records: Any) -> bytes:
    """The last record as PNG; nothing where there is no velocity."""
    charts = getattr(records, "children", {}).get("charts")
    names = next(iter(charts.children.values())).variables if charts else records.variables
    if not (VELOCITY.keys() <= names.keys() and records.sizes.get("time", 1)):
        return b""
    file = BytesIO()
    records.flow.streamlines().savefig(file, format="png", dpi=DPI)
    return file.getvalue()
