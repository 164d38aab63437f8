"""Fluxes through sides: forces, moments, heat and mass, from the fluxes of a stage, bitwise identical for any blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from taskflow.flow.boundaries.condition import Side
from taskflow.flow.grid import Vector
from taskflow.flow.kernels import KERNELS
from taskflow.flow.models.artificial_compressibility.bodies import APERTURE
from taskflow.flow.models.artificial_compressibility.equations import Numbers
from taskflow.flow.models.artificial_compressibility.flow_on_charts import STATE, CollocatedFlow
from taskflow.flow.models.artificial_compressibility.stage import AROUND, BESIDE, EDDIES, FLOW, METRICS
from taskflow.runtime.regions import triple
from taskflow.runtime.tasks import (
    Components,
    Face,
    Launch,
    Read,
    ReadByte,
    Reduce,
    Roles,
    Scalar,
    offsets,
    reduced,
    task,
)

TEXT = KERNELS / "artificial_compressibility" / "forces.cu"
CORNERS = offsets(x=(0, 1), y=(0, 1), z=(0, 1))
VERTICES = Components(x=Read[CORNERS], y=Read[CORNERS], z=Read[CORNERS]) | None


@dataclass(frozen=True)
class Lever:
    """The reference point of moments."""

    point: Vector


@task(kernel=TEXT)
def largest_passing(
    flow: FLOW, T: Read[AROUND] | None, sides: ReadByte[BESIDE], metrics: METRICS, nu_t: EDDIES, aperture: APERTURE,
    vertices: VERTICES,
    *, on: Face, most: Reduce[max], numbers: Numbers, about: Lever,
) -> None:  # fmt: skip
    """most = the largest magnitude of any summed flux through one face."""


@task(kernel=TEXT)
def force_on_side(
    flow: FLOW, T: Read[AROUND] | None, sides: ReadByte[BESIDE], metrics: METRICS, nu_t: EDDIES, aperture: APERTURE,
    vertices: VERTICES,
    *, on: Face, force: Reduce["exact sum", 10], most: Scalar, numbers: Numbers, about: Lever,
) -> None:  # fmt: skip
    """force = sums over faces of p S, of -viscosity (grad u + (grad u)^T) . S, of r times their sum, and of the flux of
    T: the force on the outside, S pointing outward. The transposed gradient, less S div u, is the integral of dl x u
    around a face. It adds up to 0 over a closed wall, so that the force equals the momentum loss of the fluid. It is
    omitted for uniform cells, whose walls are planes, and without vertices. With eddies the full stress of a stage
    is used.
    """


@task(kernel=TEXT)
def mass_through_side(
    flow: FLOW, sides: ReadByte[BESIDE], metrics: METRICS, aperture: APERTURE,
    *, on: Face, mass: Reduce["exact sum", 1], most: Scalar, numbers: Numbers,
) -> None:  # fmt: skip
    """mass = sum over faces of the mass flux out of the fluid."""


@task(kernel=TEXT)
def largest_warmth(
    T: Read[AROUND], metrics: METRICS, aperture: APERTURE, *, on: Face, most: Reduce[max], numbers: Numbers
) -> None:
    """most = the largest magnitude of any term of `warmth_of_side`."""


@task(kernel=TEXT)
def warmth_of_side(
    T: Read[AROUND], metrics: METRICS, aperture: APERTURE,
    *, on: Face, sums: Reduce["exact sum", 2], most: Scalar, numbers: Numbers,
) -> None:  # fmt: skip
    """sums = sums over faces of the temperature on the face times its area, and of the area."""


class Force(NamedTuple):
    """The force on a side, its pressure part, the moment, and the outflow of heat and mass."""

    force: np.ndarray
    pressure: np.ndarray
    moment: np.ndarray
    heat: float
    mass: float


@dataclass(frozen=True, eq=False)
class Forces:
    """The forces on `sides` of a model. With `vertices` the fields `x`, `y`, `z` hold the low corners of cells, in the
    `unit` of the model, and moments are taken about the points in `about`, by side. With `openings` the fluxes of
    passive scalars and the temperature on each side are measured, too.
    """

    model: CollocatedFlow
    sides: tuple[Side, ...]
    about: Mapping[str, Vector]
    vertices: bool = False
    openings: bool = False

    def measure(self, f: Roles) -> Iterator[Launch]:
        """Compute the scalars that `of` reads. Needs ghost values of the present state."""
        model, flow = self.model, tuple(f[name] for name in STATE)
        T, metrics = f.T if model.heat else None, model.metrics(f)
        share = f.aperture if model.bodies else None
        corners, nu_t = (f.x, f.y, f.z) if self.vertices else None, f.nu_t if model.turbulence else None
        for side in self.sides:
            about = Lever(triple(at / model.unit for at in self.about.get(side.name, (0.0, 0.0, 0.0))))
            for face in side.layers:
                most, sums, mass = (f.scalar(f"{side.name}.{face}.{what}") for what in ("most", "force", "mass"))
                inside = tuple(patch.cells for patch in side.patches if patch.face == face)
                where: dict[str, Any] = {"over": inside, "on": face, "numbers": model.numbers, "most": most}
                yield largest_passing(flow, T, f.sides, metrics, nu_t, share, corners, about=about, **where)
                yield force_on_side(flow, T, f.sides, metrics, nu_t, share, corners, about=about, force=sums, **where)
                yield mass_through_side(flow, f.sides, metrics, share, mass=mass, **where)
                if self.openings and model.heat:
                    most, sums = (f.scalar(f"{side.name}.{face}.{what}") for what in ("warmest", "warmth"))
                    where |= {"most": most}
                    yield largest_warmth(f.T, metrics, share, **where)
                    yield warmth_of_side(f.T, metrics, share, sums=sums, **where)
                for scalar in model.passive if self.openings else ():
                    most, sums = (f.scalar(f"{side.name}.{face}.{scalar.name}.{what}") for what in ("most", "force"))
                    where |= {"numbers": model.carrying(scalar), "most": most, "about": about}
                    fields = flow, f[scalar.name], f.sides, metrics, nu_t, share, corners
                    yield largest_passing(*fields, **where)
                    yield force_on_side(*fields, force=sums, **where)

    def of(self, scalars: Mapping[str, float], side: Side) -> Force:
        """Return the force on a side."""
        names = [f"{side.name}.{face}" for face in side.layers]
        area = self.model.unit**2
        total = area * np.sum([reduced(scalars, f"{name}.force") for name in names], axis=0)
        mass = area * sum(reduced(scalars, f"{name}.mass")[0] for name in names)
        return Force(total[:3] + total[3:6], total[:3], self.model.unit * total[6:9], float(total[9]), float(mass))

    def temperature(self, scalars: Mapping[str, float], side: Side) -> float:
        """Return the mean temperature on a side."""
        warmth, area = np.sum([reduced(scalars, f"{side.name}.{face}.warmth") for face in side.layers], axis=0)
        return float(warmth / area)

    def carried(self, scalars: Mapping[str, float], side: Side) -> dict[str, float]:
        """Return the outflow of each passive scalar through a side, by name."""
        sums = {
            scalar.name: [reduced(scalars, f"{side.name}.{face}.{scalar.name}.force")[9] for face in side.layers]
            for scalar in self.model.passive
        }
        return {name: self.model.unit**2 * sum(faces) for name, faces in sums.items()}
