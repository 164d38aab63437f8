"""Pictures of a state on charts, drawn during a run: slices as `taskflow plot` draws them, and surfaces by pyvista."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from taskflow.analysis.charts.metrics import vertices_of
from taskflow.analysis.charts.plane_meshes import corners_of, flat_plane, means, numbered
from taskflow.output.disk.disk import CHARTS
from taskflow.output.export.picture_files import Boxes, Numbers, PictureOrder
from taskflow.output.store.chart_layout import CELLS, VERTICES, ranges
from taskflow.output.store.metadata import moment
from taskflow.output.store.reading import charts, patches, tree
from taskflow.output.store.rigid_motion import places_now
from taskflow.plots import DPI
from taskflow.plots.look import Look
from taskflow.plots.snapshots import draw, plane_through
from taskflow.plots.surfaces import Scene, draw_scene
from taskflow.plots.triangles import shown
from taskflow.runtime.regions import Patch


class ChartDrawing:
    """Drawing of states of a run on charts, given the path of its store."""

    def __init__(self, store: Path) -> None:
        records = tree(store)
        self._attributes = records.attrs
        at_rest = (chart.drop_dims("time").drop_vars("time", errors="ignore") for _, chart in charts(records))
        self._charts = [chart.load() for chart in at_rest]

    def draw(self, order: PictureOrder, about: Numbers, fields: Boxes, look: Look, path: Path) -> None:
        """Draw a state into a file, given fields by role, and numbers for its time and the positions of charts."""
        record = self._record(order.fields, about, fields)
        if order.axis is None:
            draw_scene(order, self._scene(order, record), look, path)
            return
        plane = None if flat_plane(record) else f"{'xyz'[order.axis]}={order.position!r}"
        name = next(iter(order.fields))
        look = look.drawable(np.concatenate([values.ravel() for values in _values(record, name)]))
        draw(plane_through(record, plane), name, look, lines=False).savefig(path, dpi=DPI)

    def _record(self, words: Mapping[str, str], about: Numbers, fields: Boxes) -> xr.DataTree:
        parts = {"/": xr.Dataset(attrs=self._attributes).assign_coords(time=about["time"])}
        for number, chart in enumerate(self._charts):
            filled = {
                role: (CELLS, values[number], {"long_name": words.get(role, role)}) for role, values in fields.items()
            }
            parts[f"{CHARTS}/{number}"] = chart.assign(filled).assign_coords(places_now(chart, about))
        return xr.DataTree.from_dict(parts)

    def _scene(self, order: PictureOrder, record: xr.DataTree) -> Scene:
        """Return a curvilinear grid of each chart with values at its vertices, and the walls."""
        import pyvista

        parts = [vertices_of(chart) for _, chart in charts(record)]
        nodes, numbers = numbered(parts, [np.ones(x.shape[1:], bool) for x in parts])
        corners = [corners_of(number) for number in numbers]
        values = {name: means(corners, _values(record, name)) for name in order.fields}
        volumes = []
        for x, number in zip(parts, numbers, strict=True):
            volume = pyvista.StructuredGrid(*(axis.transpose(2, 1, 0) for axis in x))
            for name, at_nodes in values.items():
                volume.point_data[name] = at_nodes[number].ravel()
            volumes.append(volume)
        ends = np.stack([nodes.min(axis=0), nodes.max(axis=0)], axis=1).ravel().tolist()
        title, when = self._attributes.get("title", ""), moment(self._attributes, float(record.coords["time"]))
        return Scene(volumes, list(_walls(record)), ends, title, when, outside=True)


def _values(record: xr.DataTree, name: str) -> list[np.ndarray]:
    return [chart[name].values for _, chart in charts(shown(record, name))]


def _walls(record: xr.DataTree) -> Iterator[Any]:
    """Yield the faces on walls, oriented towards the fluid, so that they do not hide it."""
    import pyvista

    datasets = dict(charts(record))
    for name, some in patches(record).items():
        if record.attrs.get(f"boundary_{name}") == "wall":
            for patch in some:
                points, faces = _faces(datasets[patch.chart], patch)
                yield pyvista.PolyData(points, faces)


def _faces(chart: xr.Dataset, patch: Patch) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices [n, xyz] of a patch, and its faces in pyvista's format, ordered as viewed from outside."""
    x = np.stack([chart[axis].isel(ranges(VERTICES, patch.vertices)).values for axis in "xyz"])
    order = (0, 3 - patch.axis, 3 - (patch.axis + 1) % 3, 3 - (patch.axis + 2) % 3)  # as areas have it
    x = x.transpose(order)[:, 0]
    number = np.arange(x[0].size).reshape(x.shape[1:])
    around = [number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]]
    corners = np.stack([at.ravel() for at in (around if patch.end else around[::-1])], axis=1)
    return x.reshape(3, -1).T, np.hstack([np.full((len(corners), 1), 4), corners])
