"""Pressure equations for tests: a domain with faces of any kind, its blocks as threads, and a solver on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from taskflow.flow.grid import Grid, StaggeredGrid
from taskflow.flow.poisson import Operator, Solver, Tolerance
from taskflow.flow.poisson.coefficients import COEFFICIENTS
from taskflow.flow.poisson.multigrid import Cycle
from taskflow.flow.poisson.multigrid.solver import correct_by, correct_by_units
from taskflow.flow.poisson.operator import residual_of
from taskflow.runtime.machine import Mapper, Shard, run_threads
from taskflow.runtime.machine.device import Device, cpu
from taskflow.runtime.machine.trace.mapper import Overlap
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region, triple

WALLS = (("wall", "wall"),) * 3
PERIODIC = (("periodic", "periodic"),) * 3


@dataclass(frozen=True)
class Domain:
    """Cells of a spacing, with what lies beyond each end of each axis: "wall", "open" (p = 0) or "periodic"."""

    cells: tuple[int, int, int]
    spacing: tuple[float, float, float] = (1.0, 1.0, 1.0)
    faces: tuple[tuple[str, str], ...] = WALLS

    @property
    def periodic(self) -> tuple[bool, bool, bool]:
        x, y, z = (low == "periodic" for low, _ in self.faces)
        return x, y, z

    @property
    def grid(self) -> Grid:
        x, y, z = (n * h for n, h in zip(self.cells, self.spacing, strict=True))
        return StaggeredGrid(self.cells, (x, y, z), periodic=self.periodic).constants

    @property
    def outflow(self) -> tuple[str, ...]:
        ends = [(f"{axis}_{end}", kind) for axis, pair in zip("xyz", self.faces, strict=True)
                for end, kind in zip(("min", "max"), pair, strict=True)]  # fmt: skip
        return tuple(face for face, kind in ends if kind == "open")

    def operator(self, *, variable: bool = False) -> Operator:
        return Operator(self.grid, self.outflow, variable=variable)

    def cycle(self, *, variable: bool = False, **options: Any) -> Cycle:
        return Cycle(self.operator(variable=variable), **options)

    def noise(self, seed: int = 0) -> np.ndarray:
        """A right-hand side that has a solution."""
        rhs = np.random.default_rng(seed).uniform(-1, 1, self.cells[::-1])
        return rhs if self.outflow else rhs - rhs.mean()


@dataclass
class Solved:
    p: np.ndarray
    scalars: dict[str, float]
    told: list[Any]


def on(domain: Domain, solver: Solver | Cycle, blocks: tuple[int, int, int], real: str) -> Partition:
    """The blocks of a domain, with the fields and regions of a solver."""
    extra = {} if isinstance(solver, Cycle) else solver.fields
    space = FieldSpace(Field(name, real, location) for name, location in {"p": "c", "rhs": "c", **extra}.items())
    main = Partition(Region(Box.of(domain.cells), space, domain.periodic), blocks, redundant=1)
    return replace(main, beside=solver.partitions(main))


def on_blocks(
    domain: Domain,
    solver: Solver | Cycle,
    job: Callable[[Shard], Any],
    rhs: np.ndarray,
    blocks: tuple[int, int, int] = (1, 1, 1),
    real: str = "f8",
    p: np.ndarray | None = None,
    debug: bool = False,
    device: Device | Sequence[Device] | None = None,
    b: Sequence[np.ndarray] = (),
    screen: np.ndarray | None = None,
    overlap: Overlap = "none",
) -> Solved:
    """What `job` makes of p, begun with 0, on each block; b on all faces across x, y and z, where it is variable, and
    a screen in all cells.
    """
    whole = np.zeros(domain.cells[::-1], real)
    start = np.zeros_like(whole) if p is None else p

    def each(shard: Shard) -> tuple[Any, dict[str, float]]:
        mine = shard.cells.slices((0, 0, 0))
        shard.write({"p": start[mine].astype(real), "rhs": rhs[mine].astype(real)})
        owned = shard.partition.owned[shard.block]
        for axis, (role, inputs) in enumerate(zip(COEFFICIENTS, b, strict=bool(b))):
            values = nowhere_on_walls(inputs, axis, domain)
            faces = owned & Box.of(domain.cells).expand((0, 0, 0), triple(int(a == axis) for a in range(3)))
            shard.write({role: values[faces.slices((0, 0, 0))].astype(real)}, faces)
        if screen is not None:
            shard.write({"screen": screen[mine].astype(real)})
        told = job(shard)
        whole[mine] = shard.read("p")
        return told, dict(shard.scalars)

    told = run_threads(on(domain, solver, blocks, real), each, device or cpu(1), Mapper(overlap, debug=debug))
    return Solved(whole, told[0][1], [each for each, _ in told])


def nowhere_on_walls(b: np.ndarray, axis: int, domain: Domain) -> np.ndarray:
    """b on the faces across an axis, and NaN, which does not matter there, on walls."""
    result = np.moveaxis(b.copy(), 2 - axis, 0)
    for end, kind in zip((0, -1), domain.faces[axis], strict=True):
        if kind == "wall":
            result[end] = np.nan
    return np.moveaxis(result, 0, 2 - axis)


def one_cycle(cycle: Cycle) -> Callable[[Any], Any]:
    """A program: p + what a cycle makes of its residual, whose square is the scalar `residual` afterwards."""

    def program(f):
        yield cycle.operator.measure_rhs(f, centred=False)
        over, known = cycle.mesh.box, {"mean": "mean", "mesh": cycle.mesh}
        fields = f.p, f.rhs, None, None, cycle.residual
        yield residual_of(*fields, over=over, residual="old", **known)
        z = (yield from cycle.launches(f.scalar("norm"))).p
        single = cycle.single
        yield correct_by_units(f.p, z, over=over, norm=f.scalar("norm")) if single else correct_by(f.p, z, over=over)
        yield residual_of(*fields, over=over, residual="residual", **known)

    return program


def solve(domain: Domain, solver: Solver, rhs: np.ndarray, **where: Any) -> Solved:
    def job(shard: Shard) -> None:
        shard.run(solver.prepare)
        shard.run(solver.solve)

    return on_blocks(domain, solver, job, rhs, **where)


def factor(domain: Domain, cycle: Cycle, first: int = 4, last: int = 9) -> float:
    """By how much a cycle multiplies the residual, in the mean of some: what it does to the slowest modes."""

    def job(shard: Shard) -> Sequence[float]:
        program, result = one_cycle(cycle), []
        for _ in range(last):
            shard.run(program)
            result.append(np.sqrt(shard.scalars["residual"]))
        return result

    norms = on_blocks(domain, cycle, job, domain.noise()).told[0]
    return float((norms[last - 1] / norms[first - 1]) ** (1 / (last - first)))


def tolerance(relative: float = 1e-6, most: int = 40) -> Tolerance:
    return Tolerance(relative, most)
