"""What the budget of turbulent kinetic energy is made of, against NumPy on all states; the budget itself."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from taskflow.errors import BadInput
from taskflow.output import dataset
from tests.simulation.going_on import go
from tests.simulation.test_resuming import stirred
from tests.simulation.test_statistics import averaged, found, in_centres

BUDGET = {"every": {"steps": 1}, "budget": True}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    go(averaged(statistics=BUDGET), path, (1, 1, 2))
    return path


@pytest.fixture(scope="module")
def series(whole):
    """u, v, w of all samples less their means, as they are stored; and the weights of the samples."""
    with dataset(whole / "fields.zarr") as ds:
        snapshots, weights = ds.isel(time=slice(1, None)).load(), np.diff(ds.time)
    return snapshots, weights / weights.sum()


def test_the_flux_of_energy_is_a_third_moment(whole, series):
    snapshots, weights = series
    departures = {name: in_centres(snapshots, name) for name in "uvw"}
    for name, values in departures.items():
        departures[name] = values - np.average(values, axis=0, weights=weights)
    half = sum(each**2 for each in departures.values()) / 2
    for axis, name in zip("xyz", "uvw", strict=True):
        flux = np.average(half * departures[name], axis=0, weights=weights)
        np.testing.assert_allclose(found(whole)[f"mean_energy_flux_{axis}"][-1], flux, rtol=0, atol=1e-14)


def test_dissipation_has_the_differences_of_the_equations(whole, series):
    """In cells along each velocity; on edges across it, beyond walls and slip boundaries with their mirror images."""
    snapshots, weights = series
    departures = [snapshots[n].values - np.average(snapshots[n].values, axis=0, weights=weights) for n in "uvw"]
    spacing, mirrors = (1 / 8, 0.7 / 5, 1.3 / 9), {2: (-1, -1), 0: (-1, 1)}  # walls across x; a wall, a slip across z
    squares = 0.0
    for own, values in enumerate(departures):
        a = 3 - own  # the axis of the array along the velocity
        if own == 1:
            values = np.concatenate([values, values.take([0], a)], a)  # y is periodic
        squares = squares + (np.diff(values, axis=a) / spacing[own]) ** 2
        for other in (n for n in range(3) if n != own):
            b, ends = 3 - other, (values.take([-1], 3 - other), values.take([0], 3 - other))
            if other != 1:
                low, high = mirrors[b - 1]
                ends = low * values.take([0], b), high * values.take([-1], b)
            edges = (np.diff(np.concatenate([ends[0], values, ends[1]], b), axis=b) / spacing[other]) ** 2
            for axis in (a, b):
                n = edges.shape[axis]
                edges = (edges.take(range(n - 1), axis) + edges.take(range(1, n), axis)) / 2
            squares = squares + edges
    rate = 0.01 * np.average(squares, axis=0, weights=weights)
    np.testing.assert_allclose(found(whole).mean_dissipation[-1], rate, rtol=1e-11, atol=1e-14)


def test_a_run_has_a_budget(whole):
    """Of the energy of all that differs from the means over time and planes."""
    statistics = found(whole).isel(time=-1)
    budget, profiles = statistics.flow.kinetic_energy_budget("z"), statistics.flow.profiles("z")
    assert all(budget[name].notnull().all() for name in budget)
    energy = (profiles.cov_u_u + profiles.cov_v_v + profiles.cov_w_w) / 2
    np.testing.assert_allclose(budget.kinetic_energy, energy)
    assert (budget.dissipation < 0).all()
    assert budget.buoyancy.any()


@pytest.mark.parametrize(("stopped", "blocks"), [({}, (2, 1, 3)), ({"kill": 7}, (1, 1, 2))])
def test_the_bits_depend_neither_on_blocks_nor_on_what_broke_off(stopped, blocks, whole, tmp_path):
    case = averaged(statistics=BUDGET, output=stirred().output)
    if stopped:
        go(case, tmp_path / "run", **stopped)
    go(case, tmp_path / "run", blocks, resume=bool(stopped))
    xr.testing.assert_identical(found(tmp_path / "run").drop_attrs(), found(whole).drop_attrs())


@pytest.mark.parametrize(("changes", "told"), [
    ({"turbulence": {"model": "wale"}}, "statistics.budget = true: not available with an eddy viscosity"),
    ({"statistics": {"budget": True, "order": 1}}, "it is made of covariances; give statistics.order = 2"),
    ({"statistics": {"budget": True, "fields": ["u", "v", "w"]}}, "it needs u, v, w and p among statistics.fields"),
])  # fmt: skip
def test_what_has_no_budget_is_refused(changes, told):
    with pytest.raises(BadInput) as refused:
        averaged(**{"statistics": BUDGET, **changes})
    assert told in str(refused.value)
