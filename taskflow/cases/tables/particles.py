"""Particles that the flow carries: [[particles]]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from taskflow.cases.language.problems import Problem, exclusive, missing, names_differ, numbered, unknown_fields, wrong
from taskflow.cases.language.table import Natural, NonNegative, Positive, Whole, WholeVector, entry, optional
from taskflow.cases.tables.control import FieldNames, Interval, Output, Time
from taskflow.cases.tables.grid import GridTable
from taskflow.cases.tables.obstacles import BodyTreatment, Obstacles
from taskflow.cases.tables.planes import Planes
from taskflow.cases.tables.probes import OFTEN, TAKEN, Isosurfaces, PointList, Probes, RecordTable, Surfaces
from taskflow.cases.tables.scalars import Corners
from taskflow.cases.tables.statistics import Spectra
from taskflow.cases.timing.intervals import MEETS
from taskflow.common.derived_names import WORDS, Q
from taskflow.flow.grid import Vector
from taskflow.flow.measures.particles import Inertia
from taskflow.runtime.regions import triple

MOST = 2**30  # of one table: slots are counted in 32 bits
NEEDED = missing("points", "give a list of points, or a box")
VELOCITY = ("u", "v", "w")
OF_THE_GROUP = ("particle", *(f"velocity_{axis}" for axis in "xyz"))  # other names in a group of particles


class ParticlesTable(RecordTable):
    """Particles that are released at points or in a box, once or repeatedly."""

    points: PointList = optional(
        "initial positions: a list of points, three numbers each", otherwise="this or `box` is required"
    )
    box: Corners | None = optional("instead of `points`: the lowest and the highest corner of a box")
    count: Whole | None = optional("number of particles at random positions in the box", otherwise="this or `lattice`")
    lattice: WholeVector | None = optional(
        "instead of `count`: number of particles along x, y and z, at the centres of equal parts of the box"
    )
    seed: Natural = entry("of the random positions, which do not depend on the blocks", 0)
    start: NonNegative = entry("time of the first release", 0.0)
    interval: Positive | None = optional(
        "the time between releases of the same number of particles. Needs `releases`", otherwise="one release"
    )
    releases: Whole = entry("number of releases. Needs `interval`", 1)
    response_time: Positive | None = optional(
        "relaxation time of particles with mass, by Stokes' drag: density d^2 / (18 viscosity) for a small"
        " sphere of diameter d",
        otherwise="massless: advected with the fluid velocity",
    )
    density: Positive | None = optional(
        "of a particle with mass, over the density of the fluid: `body.gravity` acts on the difference",
        otherwise="far denser than the fluid",
    )
    every: Interval = entry(OFTEN, remedy="give an interval, as output.every")
    fields: FieldNames = optional(
        "recorded fields, interpolated linearly as for probes",
        otherwise="nothing",
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        yield from exclusive(values, "points", "box", needed=NEEDED)
        if "box" in values:
            yield from exclusive(values, "count", "lattice", needed=missing("count", "give count, or lattice"))
        for key in ("count", "lattice") if "box" not in values else ():
            if key in values:
                yield wrong(key, values[key], "it requires a box; give box, too, or omit it")
        if "density" in values and "response_time" not in values:
            yield wrong("density", values["density"], "give response_time, too: massless particles have none")
        if "releases" in values and "interval" not in values and values["releases"] != 1:
            yield wrong("releases", values["releases"], "give interval, too: the time between releases")
        if "interval" in values and "releases" not in values:
            yield wrong("interval", values["interval"], "give releases, too: their number")

    @property
    def at_once(self) -> int:
        """The number of particles of a release."""
        return len(self.points or ()) or self.count or prod(self.lattice or (1,))

    @property
    def total(self) -> int:
        return self.at_once * self.releases

    def inertia(self, gravity: Vector) -> Inertia | None:
        """The inertia of particles with mass, by gravity and drag; None without."""
        if self.response_time is None:
            return None
        falling = self.response_time * (1 - 1 / self.density if self.density else 1.0)
        return Inertia(self.response_time, triple(falling * g for g in gravity))

    def described(self, gravity: Vector) -> str:
        """Number, place and time of releases, and the settling, in a line."""
        where = f"at {len(self.points)} points" if self.points else "in a box"
        often = f", {self.at_once} in each of {self.releases} releases" if self.interval else ""
        heavy = self.inertia(gravity)
        speeds = ", ".join(f"{speed:.4g}" for speed in heavy.settling) if heavy else ""
        falls = f"; in fluid at rest they fall at ({speeds})" if heavy else ""
        return f"{self.name}: {self.total} released {where} from time {self.start:g} on{often}{falls}"

    def due(self, time: float) -> int:
        """Return the number of releases up to a time."""
        if time < self.start * (1 - MEETS):
            return 0
        intervals = (time - self.start) / self.interval + MEETS if self.interval else 0.0
        return self.releases if intervals >= self.releases - 1 else 1 + max(0, int(intervals))

    def places(self, release: int) -> np.ndarray:
        """Return the initial places [particle, axis] of a release."""
        if self.box is None:
            return np.array(self.points, float)
        low, high = np.array(self.box)
        if self.lattice is None:
            shares = np.random.default_rng((self.seed, release)).random((self.at_once, 3))
        else:
            k, j, i = np.indices(self.lattice[::-1]).reshape(3, -1)
            shares = (np.stack([i, j, k], axis=1) + 0.5) / self.lattice
        return np.minimum(low + (high - low) * shares, high)


Particles = tuple[ParticlesTable, ...]


def _names_differ(
    recordable: tuple[str, ...], probes: Probes, planes: Planes, surfaces: Surfaces, isosurfaces: Isosurfaces,
    spectra: Spectra, particles: Particles, output: Output,
) -> Iterator[Problem]:  # fmt: skip
    groups = numbered(
        probes=probes, planes=planes, surfaces=surfaces, isosurfaces=isosurfaces, spectra=spectra, particles=particles
    )
    written = {name for name in recordable if name == Q or name not in WORDS or name in (output.fields or ())}
    yield from names_differ({*TAKEN, *written}, groups)


def _places_are_inside(grid: GridTable, particles: Particles) -> Iterator[Problem]:
    for key, table in numbered(particles=particles):
        for name, places in (("points", table.points), ("box", table.box)):
            outside = next((place for place in places or () if not grid.contains(place)), None)
            if outside is not None:
                yield grid.beyond((*key, name), outside)


def _there_are_not_too_many(particles: Particles) -> Iterator[Problem]:
    for key, table in numbered(particles=particles):
        if table.total > MOST:
            name = "releases" if table.at_once <= MOST else "lattice" if table.lattice else "count"
            yield wrong((*key, name), getattr(table, name), f"these are {table.total} particles; give at most {MOST}")


def _fields_are_there(fields: tuple[str, ...], particles: Particles) -> Iterator[Problem]:
    sampled = tuple(name for name in fields if name not in VELOCITY)
    for key, table in numbered(particles=particles):
        for name in table.fields or ():
            if name in VELOCITY:
                yield wrong((*key, "fields"), table.fields, f"{name} is always recorded; omit it")
                break
            if name in OF_THE_GROUP:
                remedy = f"trajectories have something else of the name {name}; omit it, or rename the scalar"
                yield wrong((*key, "fields"), table.fields, remedy)
                break
        else:
            yield from unknown_fields((*key, "fields"), table.fields, sampled)


def _bodies_are_whole_cells(
    obstacles: Obstacles, bodies: BodyTreatment, time: Time, particles: Particles
) -> Iterator[Problem]:
    for table in particles[:1] if obstacles else ():
        if bodies.treatment == "flagged" and time.cfl is not None and time.cfl > 1:
            remedy = f"around obstacles the particles {table.name} pass one face of cells in a step; give at most 1"
            yield wrong(("time", "cfl"), time.cfl, remedy)


ParticlesTable.rules = (
    _names_differ, _places_are_inside, _there_are_not_too_many, _fields_are_there, _bodies_are_whole_cells,
)  # fmt: skip
