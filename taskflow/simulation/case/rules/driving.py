"""What forces that drive the flow, and the noise that it begins with, must have in common with the rest of a case."""

from collections.abc import Iterator

from taskflow.flow import StaggeredGrid
from taskflow.simulation.case.boundaries import AXES, Boundaries
from taskflow.simulation.case.initial import Initial
from taskflow.simulation.case.physics import Body, Grid
from taskflow.simulation.case.problems import Problem, wrong
from taskflow.simulation.initial.spectrum import SPECTRA
from taskflow.simulation.initial.wave_sum import FLAT, Lattice

MOST_WAVES = 1 << 21  # some hundred megabytes while their amplitudes are computed, on every block


def _bulk_velocity_is_free(boundaries: Boundaries, body: Body) -> Iterator[Problem]:
    if body.bulk_velocity is None:
        return
    for axis, mean, acceleration in zip(AXES, body.bulk_velocity.means, body.force, strict=True):
        if mean is None:
            continue
        key = ("body", "bulk_velocity", axis)
        if getattr(boundaries, axis) is None:
            remedy = f'what flows along {axis} has to come back; give boundaries.{axis} = "periodic", or leave it out'
            yield wrong(key, mean, remedy)
        if acceleration != 0:
            remedy = f"it takes the force that it needs; give 0 for body.force along {axis} (now {acceleration:g})"
            yield wrong(key, mean, remedy)
    if any(body.geostrophic_wind):
        remedy = "body.bulk_velocity drives the flow, too; leave one of them out"
        yield wrong(("body", "geostrophic_wind"), body.geostrophic_wind, remedy)


def _wind_is_geostrophic(body: Body) -> Iterator[Problem]:
    if any(body.geostrophic_wind) and not any(body.rotation):
        remedy = "without rotation no Coriolis force balances it; give body.rotation, or leave it out"
        yield wrong(("body", "geostrophic_wind"), body.geostrophic_wind, remedy)


def _noise_has_waves(grid: Grid, boundaries: Boundaries, initial: Initial) -> Iterator[Problem]:
    if initial.noise is None:
        return
    x, y, z = (getattr(boundaries, axis) is not None for axis in AXES)
    staggered, noise = StaggeredGrid(grid.cells, grid.lengths, periodic=(x, y, z)), initial.noise
    waves = Lattice(staggered, SPECTRA[noise.spectrum].end * noise.wavenumber)
    if len(waves.dimensions) < 2:
        remedy = f"it needs two directions of more than {FLAT} cells; give more, or leave it out"
        yield wrong(("initial", "noise"), noise.written(), remedy)
        return
    least, most = (min(f(axis) for axis in waves.dimensions) for f in (waves.unit, waves.finest))
    if not least <= noise.wavenumber <= most:
        remedy = f"the domain and its cells have waves of {least:g} to {most:g}; give one of these"
        yield wrong(("initial", "noise", "wavenumber"), noise.wavenumber, remedy)
    elif waves.size > MOST_WAVES:
        remedy = f"its spectrum has {waves.size:.3g} waves in this domain; give a smaller one, for at most {MOST_WAVES}"
        yield wrong(("initial", "noise", "wavenumber"), noise.wavenumber, remedy)


RULES = (
    (_bulk_velocity_is_free, ("boundaries", "body")),
    (_wind_is_geostrophic, ("body",)),
    (_noise_has_waves, ("grid", "boundaries", "initial")),
)
