"""Write PLOT3D grids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.geometry.grids.multiblock.grid import Chart

RECORD = 2**31 - 1  # bytes that a record mark can count


def write_plot3d(path: Path, charts: Sequence[Chart], *, text: bool = False) -> None:
    """Write charts as blocks that are read back bitwise identical.

    Text with all digits, or double precision, little-endian, in Fortran records. Raises BadInput for a block that
    exceeds a binary record, and OSError if the file cannot be written.
    """
    dims = [[n + 1 for n in chart.cells] for chart in charts]
    if text:
        lines = [str(len(charts)), *(" ".join(map(str, block)) for block in dims)]
        for chart in charts:
            lines += (" ".join(map(repr, row)) for row in chart.vertices.reshape(-1, chart.cells[0] + 1).tolist())
        path.write_text("\n".join(lines) + "\n", encoding="ascii")
        return
    large = [n for n, chart in enumerate(charts, start=1) if chart.vertices.nbytes > RECORD]
    if large:
        raise BadInput(f"{path}: block {large[0]} has more than the {RECORD} bytes of a record; cut it into several")
    with path.open("wb") as file:
        records = [np.array(len(charts), "<i4"), np.array(dims, "<i4"), *(chart.vertices for chart in charts)]
        for values in records:
            record = np.ascontiguousarray(values, "<f8" if values.dtype.kind == "f" else "<i4")
            mark = np.array(record.nbytes, "<i4").tobytes()
            file.write(mark)
            file.write(record.tobytes())
            file.write(mark)
