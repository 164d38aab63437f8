"""Fluxes of fluid and quantities through openings, and from walls in faces of bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.openings import openings
from taskflow.flow.boundaries.wall import body_walls
from taskflow.flow.boundaries.wall_supply import CellsAtFace
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.measures.sums import total
from taskflow.flow.measures.surface_flux import FaceLayer, SurfaceFlux
from taskflow.flow.scalars.quantity import Quantity
from taskflow.runtime.tasks import Launch, Roles, frame


@dataclass(frozen=True, eq=False)
class OpeningFlux:
    """The fluxes through an opening."""

    flow: FlowModel
    side: BoxSide

    @cached_property
    def _measured(self) -> SurfaceFlux:
        side = self.side
        layer = FaceLayer(side.faces, side.axis, 1 if frame(side.face)[1] else -1)
        return SurfaceFlux(self.flow, layer, f"_{side.key}")

    def __call__(self, f: Roles) -> Iterator[Launch]:
        """Yield the launches for the sums over its faces."""
        side, grid = self.side, self.flow.grid
        yield from self._measured(f)
        for place, cells in (("in", side.last), ("out", side.layer)) if self.flow.heat else ():
            yield total(f.T, over=cells, total=f.scalar(f"T_{place}_{side.key}"), grid=grid)

    def passed(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return the outflow per time, of volume and quantities, and the mean temperature."""
        side, measured = self.side, self._measured
        of_each = dict(zip(measured.names, measured.numbers(scalars), strict=True))
        numbers = {key: value for key, value in of_each.items() if not key.startswith("momentum")}
        if self.flow.heat:
            both = scalars[f"T_in_{side.key}"] + scalars[f"T_out_{side.key}"]
            numbers["mean_T"] = both / 2 / side.volume
        return numbers


@dataclass(frozen=True, eq=False)
class BodyWallFlux:
    """The fluxes from a wall in the face of a body, which the scheme adds to the cells next to it."""

    flow: FlowModel
    side: CellsAtFace

    def __call__(self, f: Roles) -> Iterator[Launch]:
        """Yield the launches for the sums of quantities in these cells."""
        for quantity in self.flow.quantities:
            number = f.scalar(self._sum(quantity))
            yield total(f[quantity.name], over=self.side.last, total=number, grid=self.flow.grid)

    def passed(self, scalars: Mapping[str, float]) -> dict[str, float]:
        """Return the outflow of quantities per time, negative from the wall into the fluid, and the mean temperature on
        the wall.
        """
        flow, side, numbers = self.flow, self.side, dict[str, float]()
        for quantity in flow.quantities:
            inside = scalars[self._sum(quantity)]
            given = [one for one in quantity.supplies if one.side.key == side.key]
            gained = sum(one.gained(inside, scalars, flow.scheme.endings[-1]) for one in given)
            numbers[f"flux_{quantity.name}"] = -gained * flow.staggered.volume
            if quantity is flow.heat:
                rise = gained * side.spacing**2 / (2 * quantity.diffusivity) if quantity.diffusivity > 0 else 0.0
                numbers["mean_T"] = (inside + rise) / side.volume
        return numbers

    def _sum(self, quantity: Quantity) -> str:
        return f"{quantity.name}_in_{self.side.key}"


def opening_fluxes(flow: FlowModel) -> dict[str, OpeningFlux | BodyWallFlux]:
    """Return the measures of all openings by name."""
    sides = {side.key: side for side in flow.sides}
    walls = {side.key: side for side, _ in body_walls(flow.boundaries, flow.grid)}
    keys = {opening.name: opening.part.key for opening in openings(flow.boundaries)}
    return {name: BodyWallFlux(flow, walls[key]) if key in walls else OpeningFlux(flow, sides[key])
            for name, key in keys.items()}  # fmt: skip
