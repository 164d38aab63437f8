"""Pictures and films, drawn with matplotlib without pyplot: no window, no global state.

It knows the results of `taskflow.analysis`, logs, task graphs, and results of profiles and benchmarks. It does not know
the equations, how a run solves them, or how its files are stored.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from taskflow.common.errors import BadInput

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 160


def save(figure: Figure, directory: str | Path, name: str, out: str | Path | None) -> Path:
    """Write a figure to the file `out`, or as NAME.png into the folder `out` or `directory`, and return the file."""
    path = Path(directory if out is None else out)
    if not path.suffix or path.is_dir():
        path = path / f"{name}.png"
    formats = figure.canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in formats:
        raise BadInput(f"{path}: cannot draw this format; choose one of {', '.join(sorted(formats))}")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
    return path
