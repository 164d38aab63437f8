"""Implicit diffusion along one direction, between walls: Crank-Nicolson in each stage (J. Crank, P. Nicolson 1947,
Proc. Camb. Phil. Soc. 43, 50), all other terms by the time scheme.

With L = diffusivity d2/ds2 along the direction, and N the other terms, a stage of length dt is

    q_new = q + dt ((1 + ratio/2) N - ratio/2 N_old) + dt/2 (L q + L q_new).

The velocity is diffused with the last pressure gradient included, and the projection then computes the gradient again.
The diffused velocity so misses the wall velocity by dt times the change of that gradient, of second order, instead of
dt times the gradient (J. van Kan 1986, SIAM J. Sci. Stat. Comput. 7, 870; J. Kim, P. Moin 1985, J. Comput. Phys. 59,
308). The unknown is the change by implicit diffusion, which is 0 on walls with a prescribed value, also if that varies
in time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.condition import Boundaries
from taskflow.flow.grid import Grid
from taskflow.flow.operators.projection import correct
from taskflow.flow.poisson.lines import Lines, begin_lines, end_lines
from taskflow.flow.poisson.spectrum import LayeredSpectrum
from taskflow.flow.scalars.quantity import Quantity
from taskflow.runtime.regions import Box, Partition, Triple, triple
from taskflow.runtime.tasks import Launch, Roles

ALONG, NORMAL = "leaks_along", "leaks_normal"  # of the velocities along the walls, and of that through them


@dataclass(frozen=True)
class ImplicitDiffusion:
    """Diffusion along an `axis` of a grid divided into `blocks`."""

    axis: int
    grid: Grid
    blocks: Triple

    @property
    def lines(self) -> Lines:
        return Lines(self.axis, self.grid, self.blocks)

    @property
    def sides(self) -> tuple[str, str]:
        """The walls normal to the axis."""
        return f"{'xyz'[self.axis]}_min", f"{'xyz'[self.axis]}_max"

    def partitions(self, main: Partition, quantities: tuple[str, ...]) -> tuple[Partition, ...]:
        """Return the partitions of its regions. `quantities` diffuse in addition to the velocity."""
        return self.lines.partitions(main, (ALONG, NORMAL, *map(_leaks, quantities)))

    def begin(self, f: Roles, dt: str) -> Iterator[Launch]:
        """Add the last pressure gradient to the new velocity. Its ghost values have to be filled afterwards."""
        yield correct((f.u_new, f.v_new, f.w_new), f.p, None, over=Box.of(self.grid.cells), dt=dt, grid=self.grid)

    def velocity(self, f: Roles, boundaries: Boundaries, viscosity: float, dt: str) -> Iterator[Launch]:
        """Diffuse the new velocity, with its ghost values at the walls, and remove the pressure gradient."""
        low, high = (boundaries[side].factor(BoxSide(side, self.grid, viscosity=viscosity)) for side in self.sides)
        chains = {ALONG: self.lines.in_cells(low, high), NORMAL: self.lines.on_faces()}
        for leaks, chain in chains.items():
            yield self.lines.find(f[leaks], chain, dt=dt, diffusivity=viscosity)
        for axis, name in enumerate("uvw"):
            leaks = NORMAL if axis == self.axis else ALONG
            yield from self._diffuse(f, name, leaks, chains[leaks], dt, viscosity, axis)

    def quantity(
        self, f: Roles, name: str, factors: Mapping[str, float], diffusivity: float, dt: str
    ) -> Iterator[Launch]:
        """Diffuse a new quantity with ghost values `factors`, by wall, times the value inside, plus a constant."""
        chain, leaks = self.lines.in_cells(*(factors[side] for side in self.sides)), _leaks(name)
        yield self.lines.find(f[leaks], chain, dt=dt, diffusivity=diffusivity)
        yield from self._diffuse(f, name, leaks, chain, dt, diffusivity, None)

    def _diffuse(
        self, f: Roles, name: str, leaks: str, s: LayeredSpectrum, dt: str, diffusivity: float, component: int | None
    ) -> Iterator[Launch]:
        """Diffuse a quantity in cells or, on faces, a velocity component. Faces on a wall keep their value."""
        new, along, grid = f[f"{name}_new"], "xyz"[self.axis], self.grid
        first = triple(-int(axis == component and grid.low[axis]) for axis in range(3))
        over = Box.of(grid.cells).expand(first, (0, 0, 0))
        yield begin_lines(f[name], new, f.rhs, over=over, along=along, grid=grid, on_face=component == self.axis)
        yield from self.lines.solve(f, f[leaks], s, over=over, dt=dt, diffusivity=diffusivity)
        p, turned = (None, along) if component is None else (f.p, "xyz"[component])
        yield end_lines(new, f.rhs, p, over=over, along=turned, dt=dt, grid=grid)


def _leaks(quantity: str) -> str:
    return f"leaks_{quantity}"


def factors(boundaries: Boundaries, grid: Grid, quantity: Quantity, *, heats: bool) -> dict[str, float]:
    """Return the ghost value of a quantity, or of the temperature, over the value inside, by side."""
    if heats:
        diffusivity, sides = quantity.diffusivity, boundaries.items()
        return {face: side.temperature_mirror(BoxSide(face, grid), diffusivity).factor for face, side in sides}
    return {face: -1.0 if side.prescribed else 1.0 for face, side in quantity.faces.items()}
