"""Charts of cells with vertices anywhere, for tests of artificial compressibility, and their marches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from taskflow.common.hexahedra import Vertices
from taskflow.flow.boundaries.collocated import PatchCells
from taskflow.flow.grid.curvilinear import metrics
from taskflow.flow.models.artificial_compressibility.convergence import Convergence
from taskflow.flow.models.artificial_compressibility.flow_on_charts import SINGLE
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.runtime.machine.device import Device, cpu
from taskflow.runtime.machine.shard import Shard
from taskflow.runtime.machine.threads import run_threads
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import frame

LAYERS = 2
MADE = "metrics", "swept"  # of which products in single precision have their own
Mapped = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def reflected(vertices: Vertices, axis: int, side: int) -> Vertices:
    """The vertices with one more layer beyond a side (0: low, 1: high) of an axis, 2 x_0 - x_1."""

    def grown(q: np.ndarray) -> np.ndarray:
        along = np.moveaxis(q, 2 - axis, 0)
        beyond = 2 * along[-side] - along[-2 if side else 1]
        both = [along, beyond[None]] if side else [beyond[None], along]
        return np.moveaxis(np.concatenate(both), 0, 2 - axis)

    x, y, z = (grown(q) for q in vertices)
    return x, y, z


def lattice(cells: tuple[int, int, int], layers: int = 0) -> Vertices:
    """The numbers of vertices over those of cells, from 0 to 1 along each axis, with layers around: [z, y, x]."""
    lines = [np.arange(-layers, n + layers + 1) / n for n in cells]
    z, y, x = np.meshgrid(*lines[::-1], indexing="ij")
    return x, y, z


def distorted(vertices: Vertices, amplitude: float = 0.1) -> Vertices:
    """Vertices moved by sines, in all directions and beyond the box, too."""
    x, y, z = vertices
    a = 2 * np.pi * x + 0.3, 2 * np.pi * y + 0.5, 2 * np.pi * z + 0.1
    moved = amplitude * np.sin(a[0]) * np.cos(a[1]) * np.sin(a[2] + 0.7)
    return x + moved / 2, y - moved / 2 + amplitude / 6 * np.sin(a[0]), z + moved / 2


def skewed_metrics(cells: tuple[int, int, int], layers: int = LAYERS) -> np.ndarray:
    """The metrics of a distorted box and of layers of cells around it."""
    return metrics(distorted(lattice(cells, layers)))


@dataclass(frozen=True)
class Chart:
    """A chart of so many cells whose vertices are mapped from a lattice from 0 to 1 along each axis; it closes on
    itself along the `periodic` directions.
    """

    cells: tuple[int, int, int]
    mapped: Mapped
    periodic: str = ""

    @property
    def box(self) -> Box:
        """The cells."""
        return Box.of(self.cells)

    @property
    def vertices(self) -> Vertices:
        """All vertices, [z, y, x]."""
        return self.mapped(*lattice(self.cells))

    @property
    def centres(self) -> Vertices:
        """Means of the corners of cells."""
        x, y, z = (self._mean(q, "xyz") for q in self.vertices)
        return x, y, z

    def on_face(self, name: str) -> Vertices:
        """The centres of the faces of a side, [z, y, x] with one layer across."""
        axis, high = frame(name)
        cut = [slice(None)] * 3
        cut[2 - axis] = slice(-1, None) if high else slice(0, 1)
        x, y, z = (self._mean(q[tuple(cut)], "xyz".replace("xyz"[axis], "")) for q in self.vertices)
        return x, y, z

    @staticmethod
    def _mean(q: np.ndarray, axes: str) -> np.ndarray:
        for axis in axes:
            along = 2 - "xyz".index(axis)
            n = q.shape[along]
            q = (np.take(q, range(n - 1), along) + np.take(q, range(1, n), along)) / 2
        return q

    @property
    def faces(self) -> list[str]:
        """The faces that are sides."""
        return [f"{axis}_{end}" for axis in "xyz" if axis not in self.periodic for end in ("min", "max")]

    def patch(self, face: str) -> PatchCells:
        """A whole side."""
        axis, high = frame(face)
        return PatchCells(face, self.box.layer(axis, int(high), 0, 1))

    @property
    def around(self) -> Box:
        """The cells and one layer beyond sides."""
        x, y, z = (int(axis not in self.periodic) for axis in "xyz")
        return self.box.expand((x, y, z), (x, y, z))

    @property
    def vertices_around(self) -> Vertices:
        """The vertices with a layer beyond sides, where they are reflected."""
        vertices = self.vertices
        for face in self.faces:
            axis, high = frame(face)
            vertices = reflected(vertices, axis, int(high))
        return vertices

    @property
    def corners(self) -> dict[str, np.ndarray]:
        """The fields x, y, z: the low corners of the cells `around` and of a layer behind them."""
        return dict(zip("xyz", self.vertices_around, strict=True))

    @property
    def metrics(self) -> np.ndarray:
        """Those of the cells `around`; vertices beyond sides are reflected."""
        return metrics(self.vertices_around)

    @property
    def volumes(self) -> np.ndarray:
        """The volumes of the cells."""
        return self.metrics[:, :, 9][self.box.slices(self.around.lo)]


def velocities(chart: Chart, velocity: Mapped) -> dict[str, np.ndarray]:
    """The fields of velocities of `varying` sides: in ghost cells what is in the middle of the face next to them."""
    fields = {name: np.zeros(chart.around.shape[::-1]) for name in ("u_s", "v_s", "w_s")}
    for face in chart.faces:
        ghosts = chart.patch(face).ghosts
        for q, value in zip(fields.values(), velocity(*chart.on_face(face)), strict=True):
            q[ghosts.slices(chart.around.lo)] = value
    return fields


def norm(chart: Chart, *errors: np.ndarray) -> float:
    """The root mean square over the volume of a vector."""
    volumes = chart.volumes
    return float(np.sqrt((volumes * sum(e**2 for e in errors)).sum() / volumes.sum()))


@dataclass
class Marched:
    """The state at the end, [z, y, x], the norms of the residuals after so many steps, and the number of steps."""

    fields: dict[str, np.ndarray]
    steps: int
    norms: list[dict[str, float]]
    scalars: dict[str, float] = field(default_factory=dict)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.fields[name]


def march(
    model: ArtificialCompressibility, chart: Chart, initial: Mapping[str, np.ndarray | float], *, steps: int,
    steady: float = 0.0, every: int = 100, constants: Mapping[str, np.ndarray] | None = None, blocks=(1, 1, 1),
    dtype: str = "f8", threads: int = 1, device: Device | None = None, after=None,
    multiple: tuple[int, int, int] = (1, 1, 1), job_after=None,
) -> Marched:  # fmt: skip
    """March until all residuals have fallen to `steady` times their largest value so far. `constants` are
    fields over the cells `around` that no program writes; `after` is a program for the final state, and
    `job_after(shard)` does what it likes with it.
    """
    partition, fixed = laid_out(model, chart, constants or {}, blocks, dtype, multiple)
    job = partial(_march, model, chart, initial, fixed, steps, steady, every, after, job_after)
    shares = run_threads(partition, job, device or cpu(threads))
    whole = {name: np.empty(chart.box.shape[::-1]) for name in model.state}
    for own, share in shares:
        for name, values in share.fields.items():
            whole[name][own.slices((0, 0, 0))] = values
    last = shares[0][1]
    return Marched(whole, last.steps, last.norms, last.scalars)


def laid_out(
    model: ArtificialCompressibility, chart: Chart, constants: Mapping[str, np.ndarray], blocks, dtype: str,
    multiple: tuple[int, int, int] = (1, 1, 1),
) -> tuple[Partition, dict[str, np.ndarray]]:  # fmt: skip
    """The region of a model on a chart in blocks, and the fields that no program writes."""
    more = [name for name in constants if name not in model.fields]
    # Corners across a periodic side are no copies of those within.
    names = [Field(name, dtype, constant=name in "xyz") for name in (*model.fields, *more)] + [Field("sides", "u1")]
    if model.spacing is None:
        names.append(Field("metrics", dtype, values=10))
    names += [replace(n, name=n.name + SINGLE, dtype="f4") for n in names if model.mixed_precision and n.name in MADE]
    names += model.extra_fields(dtype)
    region = Region(chart.box, FieldSpace(names), tuple(a in chart.periodic for a in "xyz"), model.ghost)
    partition = Partition(region, blocks, multiple=multiple)
    fixed = dict(constants)
    fixed["sides"] = np.zeros(chart.around.shape[::-1], np.uint8)
    for side in model.sides:
        for patch in side.patches:
            fixed["sides"][patch.ghosts.slices(chart.around.lo)] = side.flux_code
    if model.spacing is None:
        fixed["metrics"] = chart.metrics
    fixed |= {name + SINGLE: fixed[name] for name in MADE if model.mixed_precision and name in fixed}
    return partition, fixed


def _given(shard: Shard, chart: Chart, constants, initial) -> None:
    """Write what is given, corners in ghost cells, too."""
    partition, block, around = shard.partition, shard.block, chart.around
    for name, values in constants.items():
        behind = partition.memory[block] & around.expand((0, 0, 0), (1, 1, 1))
        box = behind if partition.fields[name].constant else partition.owned[block] & around
        shard.write({name: values[box.slices(chart.around.lo)]}, box)
    own, shape = shard.cells, chart.box.shape[::-1]
    shard.write({name: np.broadcast_to(value, shape)[own.slices((0, 0, 0))] for name, value in initial.items()})


def _march(
    model, chart, initial, constants, steps, steady, every, after, job_after, shard: Shard
) -> tuple[Box, Marched]:
    _given(shard, chart, constants, initial)
    shard.run(model.start, **model.scalars(1.0, 0.0))
    norms: list[dict[str, float]] = []
    done, convergence = 0, Convergence(steady)
    while done < steps:
        shard.run(model.step, **model.scalars(1.0, 1.0))
        done += 1
        if done <= 5 or done % every == 0:
            shard.run(model.monitor)
            norms.append(model.norms(shard.scalars))
            if convergence.note(done, norms[-1]):
                break
    if after is not None:
        shard.run(after)
    if job_after is not None:
        job_after(shard)
    fields = {name: shard.read(name).astype("f8") for name in model.state}
    return shard.cells, Marched(fields, done, norms, dict(shard.scalars.items()))


def run(
    model: ArtificialCompressibility, chart: Chart, initial: Mapping[str, np.ndarray | float], times: Sequence[float],
    *, before: Callable[[Shard, int], None] | None = None, blocks=(1, 1, 1), threads: int = 1, dtype: str = "f8",
    constants: Mapping[str, np.ndarray] | None = None, device: Device | None = None,
    multiple: tuple[int, int, int] = (1, 1, 1),
) -> list[Marched]:  # fmt: skip
    """The states at some times after 0, by steps of real time from one to the next; `before` each of them, by its
    number from 0, fields may be written.
    """
    partition, fixed = laid_out(model, chart, constants or {}, blocks, dtype, multiple)
    job = partial(_run, model, chart, initial, fixed, times, before)
    shares = run_threads(partition, job, device or cpu(threads))
    states = []
    for n in range(len(times)):
        whole = {name: np.empty(chart.box.shape[::-1]) for name in model.state}
        for own, reached in shares:
            for name, values in reached[n].fields.items():
                whole[name][own.slices((0, 0, 0))] = values
        states.append(replace(shares[0][1][n], fields=whole))
    return states


def _run(model, chart, initial, constants, times, before, shard: Shard) -> tuple[Box, list[Marched]]:
    _given(shard, chart, constants, initial)
    shard.run(model.start, dt=1.0)
    now, last, reached = 0.0, 0.0, []
    for n, time in enumerate(times):
        if before is not None:
            before(shard, n)
        dt = time - now
        shard.run(model.step, **model.scalars(dt, dt / last if last else 0.0))
        now, last = time, dt
        fields = {name: shard.read(name).astype("f8") for name in model.state}
        reached.append(Marched(fields, n + 1, [model.norms(shard.scalars)], dict(shard.scalars.items())))
    return shard.cells, reached
