"""Surfaces of triangles, and points, as VTK PolyData (.vtp), which ParaView opens, with raw data at the file's end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from taskflow.output.disk import on_disk, replacing

KINDS = {"f8": "Float64", "i8": "Int64"}


def write_polydata(path: Path, vertices: np.ndarray, triangles: np.ndarray, values: Mapping[str, np.ndarray]) -> None:
    """Write vertices [n, 3], triangles [m, 3] and values at the vertices; u, v and w become the vector `velocity`.
    Without triangles there are points.

    Raises RunFailed where the disk is full.
    """
    at_points = dict(values)
    if set(at_points) >= set("uvw"):
        at_points = {"velocity": np.stack([at_points.pop(name) for name in "uvw"], axis=-1), **at_points}
    blocks: list[bytes] = []

    def array(name: str, data: np.ndarray, kind: str) -> str:
        offset = sum(len(block) for block in blocks)
        raw = np.ascontiguousarray(data, f"<{kind}").tobytes()
        blocks.append(len(raw).to_bytes(8, "little") + raw)
        components = data.shape[1] if data.ndim == 2 else 1
        return (
            f'<DataArray type="{KINDS[kind]}" Name={quoteattr(name)} NumberOfComponents="{components}"'
            f' format="appended" offset="{offset}"/>'
        )

    kind, cells = ("Polys", triangles) if len(triangles) else ("Verts", np.arange(len(vertices))[:, None])
    size = cells.shape[1]
    lines = [
        '<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">',
        f'<PolyData><Piece NumberOfPoints="{len(vertices)}" NumberOf{kind}="{len(cells)}">',
        "<PointData>", *(array(name, data, "f8") for name, data in at_points.items()), "</PointData>",
        "<Points>", array("points", vertices, "f8"), "</Points>",
        f"<{kind}>", array("connectivity", cells.ravel(), "i8"),
        array("offsets", np.arange(size, size * len(cells) + 1, size), "i8"), f"</{kind}>",
        '</Piece></PolyData><AppendedData encoding="raw">', "_",
    ]  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    with on_disk(f"{path}"), replacing(path) as draft, draft.open("wb") as file:
        file.write("\n".join(lines).encode())
        file.writelines(blocks)
        file.write(b"\n</AppendedData></VTKFile>\n")


def collect(path: Path, files: Iterable[tuple[float, str]]) -> Path:
    """Write the .pvd file that lists files with their times; returns it."""
    lines = [f'<DataSet timestep="{time!r}" part="0" file={quoteattr(file)}/>' for time, file in files]
    text = "\n".join(['<VTKFile type="Collection" version="1.0">', "<Collection>", *lines, "</Collection>"])
    path.parent.mkdir(parents=True, exist_ok=True)
    with on_disk(f"{path}"), replacing(path) as draft:
        draft.write_text(f"{text}\n</VTKFile>\n")
    return path
