"""Isosurface of a field as a triangle mesh: the interface between two phases.

Marching tetrahedra (A. Doi, A. Koide 1991, IEICE Trans. E74, 214), as for recorded areas: the boxes between the centres
of eight cells, or adjacent boundaries, are cut into six tetrahedra each (H. W. Kuhn 1960, IBM J. Res. Dev. 4, 518).
Triangles share their vertices, which are identified by the edges on which they lie: a closed surface has no boundary
edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import numpy as np
import xarray as xr

from taskflow.analysis.derived import velocity
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.output.export.vtk import collect, write_polydata
from taskflow.output.store.reading import edges, periodic

LAYERS = 16  # layers of cells in memory
CORNERS = np.array([[n & 1, n >> 1 & 1, n >> 2] for n in range(8)])  # x, y, z of the corners of a box
ENDS = (slice(None, -1), slice(1, None))  # of the corners of boxes along a direction
TETRAHEDRA = np.array([[0, a, b, 7] for a, b in ((1, 3), (1, 5), (2, 3), (2, 6), (4, 5), (4, 6))])
POINT_DATA = ("u", "v", "w", "p", "kappa")


def _cuts() -> list[list[tuple[tuple[int, int], ...]]]:
    """Return the triangles for each pattern of corners of a tetrahedron that are above, by the edges that they cut."""
    cases: list[list[tuple[tuple[int, int], ...]]] = []
    for pattern in range(16):
        above = [n for n in range(4) if pattern >> n & 1]
        below = [n for n in range(4) if not pattern >> n & 1]
        if len(above) == 2:
            a, b, c, d = [(n, m) for n in above for m in below]
            cases.append([(a, b, d), (a, d, c)])
        elif above and below:
            cases.append([tuple((n, m) for n in above for m in below)])
        else:
            cases.append([])
    return cases


CUTS = _cuts()


@dataclass(frozen=True, repr=False)
class Interface:
    """Triangulated surface.

    `vertices` [n, 3]: x, y, z. `triangles` [m, 3]: three vertices, anticlockwise when viewed from smaller values.
    `values`: quantities at the vertices, by name.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    values: dict[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        pairs = np.concatenate([self.triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])])
        return np.unique(np.sort(pairs, axis=1), axis=0, return_counts=True)

    @property
    def boundary_edges(self) -> int:
        """Number of edges with a single triangle, 0 for a closed surface."""
        return int((self._edges[1] == 1).sum())

    @property
    def euler_characteristic(self) -> int:
        """Vertices - edges + triangles: 2 for a ball, 0 for a torus."""
        return len(self.vertices) - len(self._edges[0]) + len(self.triangles)

    def __repr__(self) -> str:
        return f"<Interface: {len(self.vertices)} vertices, {len(self.triangles)} triangles, area {self.area:.4g}>"

    @property
    def area(self) -> float:
        """Sum of the areas of all triangles."""
        return float(np.linalg.norm(self._normals, axis=1).sum() / 2)

    @property
    def volume(self) -> float:
        """Volume within a closed surface, by Gauss's theorem."""
        return float((self.vertices[self.triangles[:, 0]] * self._normals).sum() / 6)

    @property
    def _normals(self) -> np.ndarray:
        a, b, c = (self.vertices[self.triangles[:, n]] for n in range(3))
        return np.cross(b - a, c - a)


def interface(ds: xr.Dataset, field: str = "f", value: float = 0.5, names: Sequence[str] = ()) -> Interface:
    """Return the surface on which a field in cell centres has a value, in one snapshot, with other fields at its
    vertices.

    Raises BadInput for a dataset with several times, or without these fields.
    """
    if ds.sizes.get("time", 1) != 1:
        raise BadInput(f"the dataset has {ds.sizes['time']} snapshots; choose one, as ds.isel(time=-1)")
    one = ds.isel(time=0) if "time" in ds.dims else ds
    if centred := [name for name in names if name in "uvw"]:
        one = one.assign(velocity(one)[centred])
    for name in (field, *names):
        if name not in one or set(one[name].dims) != {"x_c", "y_c", "z_c"}:
            known = [str(name) for name, q in one.data_vars.items() if set(q.dims) == {"x_c", "y_c", "z_c"}]
            raise BadInput(f"there is no field {name!r} in cell centres; give one of {', '.join(known) or 'none'}")
    return _collected(_pieces(one, field, value, names), names)


def export_interfaces(ds: xr.Dataset, folder: str | Path, field: str = "f", value: float = 0.5) -> Path:
    """Write the surface of every snapshot as VTK PolyData (.vtp), and return the .pvd file that lists them with their
    times.

    Recorded velocity, pressure and curvature are written at the vertices. Raises BadInput if the field does not exist
    or all surfaces are empty, and RunFailed if the disk is full.
    """
    names = [name for name in POINT_DATA if name in ds and name != field]
    files, triangles = [], 0
    for n, time in enumerate(ds["time"].values):
        surface = interface(ds.isel(time=n), field, value, names)
        path = Path(folder) / f"interface_{n:06}.vtp"
        write_polydata(path, surface.vertices, surface.triangles, surface.values)
        files.append((float(time), path.name))
        triangles += len(surface.triangles)
    if not triangles:
        remedy = "no snapshot has such a surface, and all meshes are empty; give another value"
        raise BadInput(f"{field} = {value:g}: {remedy}")
    return collect(Path(folder) / "interface.pvd", files)


def _pieces(ds: xr.Dataset, field: str, value: float, names: Sequence[str]) -> Iterator[Piece]:
    """Yield the surface for a few layers of cells at a time."""
    layers = ds.sizes["z_c"]
    places = [_places(ds, axis) for axis in "xyz"]
    for low in range(-1, layers, LAYERS):
        rows = np.arange(low, min(low + LAYERS, layers) + 1)  # -1 and `layers` are the boundaries
        q, *others = (_layers(ds, name, rows) for name in (field, *names))
        yield _cut(q, others, value, places, low + 1)


def _places(ds: xr.Dataset, axis: str) -> np.ndarray:
    """Return the low boundary, the centres of cells and the high boundary along an axis."""
    faces = edges(ds, axis)
    return np.concatenate([faces[:1], ds[f"{axis}_c"].values, faces[-1:]])


def _layers(ds: xr.Dataset, name: str, rows: np.ndarray) -> np.ndarray:
    """Return values in layers of cells, and on the boundaries around them: of adjacent cells, the mean if periodic."""
    n, around = ds.sizes["z_c"], periodic(ds, "z")
    needed = np.unique(np.concatenate([np.clip(rows, 0, n - 1), [0, n - 1] if around else []])).astype(int)
    q = ds[name].transpose("z_c", "y_c", "x_c").isel(z_c=needed).values.astype(float)
    index = {row: number for number, row in enumerate(needed)}
    ends = (q[index[0]] + q[index[n - 1]]) / 2 if around else None
    planes = [ends if ends is not None and row in (-1, n) else q[index[int(np.clip(row, 0, n - 1))]] for row in rows]
    q = np.stack(planes)
    for number, axis in ((1, "y"), (2, "x")):
        low, high = q.take([0], number), q.take([-1], number)
        if periodic(ds, axis):
            low = high = (low + high) / 2
        q = np.concatenate([low, q, high], axis=number)
    return q


Piece = tuple[np.ndarray, np.ndarray]
"""Triangles: global numbers of their corners [m, 3], and positions and quantities there [m, 3, 3 + quantities]."""


def _cut(q: np.ndarray, others: Sequence[np.ndarray], value: float, places: Sequence[np.ndarray], first: int) -> Piece:
    """Return the triangles between layers of points [z, y, x], the lowest of which has the number `first`."""
    (_, rows, columns), above = q.shape, q > value
    k, j, i = np.nonzero(crossed(above))
    corners = [(k + z, j + y, i + x) for x, y, z in CORNERS]
    height = np.stack([q[corner] for corner in corners], axis=1) - value  # [boxes, 8]
    known = np.stack(
        [
            np.stack([places[0][x], places[1][y], places[2][z + first], *(o[z, y, x] for o in others)], axis=-1)
            for z, y, x in corners
        ],
        axis=1,
    )  # [boxes, 8, 3 + quantities]
    point = ((k + first) * rows + j) * columns + i
    steps = CORNERS @ np.array([1, columns, rows * columns])
    numbers, values = [np.zeros((0, 3), int)], [np.zeros((0, 3, known.shape[-1]))]
    for tetrahedron in TETRAHEDRA:
        pattern = (height[:, tetrahedron] > 0) @ np.array([1, 2, 4, 8])
        for case in np.unique(pattern):
            box = np.flatnonzero(pattern == case)
            for triangle in CUTS[case]:
                edges = [(tetrahedron[one], tetrahedron[other]) for one, other in triangle]
                ids = np.stack([(point[box] + steps[a & b]) * 8 + (a ^ b) for a, b in edges], axis=1)
                at = np.stack([_between(known[box], height[box], a, b) for a, b in edges], axis=1)
                order = np.where(_inward(at, known[box], tetrahedron, case)[:, None], [0, 2, 1], [0, 1, 2])
                numbers.append(np.take_along_axis(ids, order, axis=1))
                values.append(np.take_along_axis(at, order[..., None], axis=1))
    return np.concatenate(numbers), np.concatenate(values)


def crossed(above: np.ndarray) -> np.ndarray:
    """Return a mask of boxes [z, y, x] between points that have corners on both sides."""
    count = np.sum([above[place] for place in product(ENDS, repeat=3)], axis=0, dtype=np.int8)
    return np.asarray((count > 0) & (count < 8))


def _between(known: np.ndarray, height: np.ndarray, a: int, b: int) -> np.ndarray:
    """Return positions and quantities where the height is 0 between two corners."""
    share = (height[:, a] / (height[:, a] - height[:, b]))[:, None]
    return np.asarray(known[:, a] + share * (known[:, b] - known[:, a]))


def _inward(at: np.ndarray, known: np.ndarray, tetrahedron: np.ndarray, case: int) -> np.ndarray:
    """Return True for triangles whose normals point to the corners of their tetrahedra that are above."""
    high, low = (known[:, [n for m, n in enumerate(tetrahedron) if case >> m & 1 == above], :3] for above in (1, 0))
    normal = np.cross(at[:, 1, :3] - at[:, 0, :3], at[:, 2, :3] - at[:, 0, :3])
    return np.asarray((normal * (high.mean(axis=1) - low.mean(axis=1))).sum(axis=-1) > 0)


def _collected(pieces: Iterator[Piece], names: Sequence[str]) -> Interface:
    """Return one surface of all pieces, with each vertex once."""
    numbers, values = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    _, first, inverse = np.unique(numbers.ravel(), return_index=True, return_inverse=True)
    known = values.reshape(-1, 3 + len(names))[first]
    return Interface(known[:, :3], inverse.reshape(-1, 3), {name: known[:, 3 + n] for n, name in enumerate(names)})
