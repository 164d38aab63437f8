"""Export of records of a run on charts as VTK files: charts with fields, sides with pressure and stress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from taskflow.analysis.charts.derived import fields_of
from taskflow.analysis.charts.metrics import vertices_of
from taskflow.analysis.charts.sides import VELOCITY, WHICH, on_patch
from taskflow.output.disk.disk import on_disk
from taskflow.output.export.vtk import collect, write_blocks, write_structured
from taskflow.output.store.chart_layout import VERTICES, ranges
from taskflow.output.store.reading import charts, patches

Values = np.ndarray | xr.DataArray
VECTORS = {"velocity": VELOCITY, **{name: tuple(f"{name}_{axis}" for axis in "xyz") for name in WHICH}}


def export_charts(records: xr.DataTree, folder: str | Path, name: str) -> Path:
    """Write every record into a folder, and return the .pvd file that lists them with their times.

    A record is NAME_000000.vtm with two groups of blocks: the charts with all fields in their cells, and the patches of
    the sides with the values in adjacent cells, p on the face, and on walls the vectors `stress` and `shear`. A
    velocity is one vector. Raises RunFailed if the disk is full.
    """
    target, files = Path(folder), []
    with on_disk(f"{target}"):
        for number, time in enumerate(records.coords["time"].values):
            file = f"{name}_{number:06}.vtm"
            _record(records.isel(time=number), target, Path(file).stem)
            files.append((float(time), file))
        return collect(target / f"{name}.pvd", files)


def _record(record: xr.DataTree, target: Path, name: str) -> None:
    (target / name).mkdir(parents=True, exist_ok=True)
    time, datasets = float(record.coords["time"]), dict(charts(record))
    blocks: dict[str, dict[str, str]] = {}
    for number, chart in datasets.items():
        file = f"{name}/chart_{number}.vts"
        data = _vectors({field: chart[field] for field in fields_of(record)})
        write_structured(target / file, [chart[axis] for axis in "xyz"], data, time)
        blocks.setdefault("charts", {})[f"chart {number}"] = file
    sides: dict[str, dict[str, str]] = {}
    for order, (side, some) in enumerate(patches(record).items()):
        for number, patch in enumerate(some):
            file = f"{name}/side_{order}_{number}.vts"
            points = [*vertices_of(datasets[patch.chart].isel(ranges(VERTICES, patch.vertices)))]
            shape, values = [max(1, n - 1) for n in points[0].shape], on_patch(record, side, patch)
            on_faces: dict[str, Values] = {str(f): values[f].values.reshape(shape) for f in values.data_vars}
            if "p_face" in on_faces:
                on_faces["p"] = on_faces.pop("p_face")
            write_structured(target / file, points, _vectors(on_faces), time)
            sides.setdefault(side, {})[f"patch {number}"] = file
    write_blocks(target / f"{name}.vtm", {**blocks, "sides": sides})


def _vectors(fields: Mapping[str, Values]) -> dict[str, Sequence[Values]]:
    """Return fields by name with their components: three for velocity and stresses."""
    data, rest = dict[str, Sequence[Values]](), dict(fields)
    for vector, names in VECTORS.items():
        if set(names) <= set(rest):
            data[vector] = [rest.pop(name) for name in names]
    return data | {name: [field] for name, field in rest.items()}
