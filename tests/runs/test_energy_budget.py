"""What the budget of turbulent kinetic energy is made of, against NumPy on all states; the budget itself."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from taskflow.common.errors import BadInput
from taskflow.output import dataset, read_log
from tests.runs.going_on import go
from tests.runs.test_restart import BOX, stirred
from tests.runs.test_statistics import averaged, found, in_centres, trapezoids

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
        snapshots, weights = ds.load(), trapezoids(0.0, ds.time.values)
    return snapshots, weights / weights.sum()


@pytest.mark.slow
def test_the_flux_of_energy_is_a_third_moment(whole, series):
    snapshots, weights = series
    departures = {name: in_centres(snapshots, name) for name in "uvw"}
    for name, values in departures.items():
        departures[name] = values - np.average(values, axis=0, weights=weights)
    half = sum(item**2 for item in departures.values()) / 2
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


@pytest.mark.slow
def test_a_run_has_a_budget(whole):
    """Of the energy of all that differs from the means over time and planes."""
    statistics = found(whole).isel(time=-1)
    budget, profiles = statistics.flow.kinetic_energy_budget("z"), statistics.flow.profiles("z")
    assert all(budget[name].notnull().all() for name in budget)
    energy = (profiles.cov_u_u + profiles.cov_v_v + profiles.cov_w_w) / 2
    np.testing.assert_allclose(budget.kinetic_energy, energy)
    assert (budget.dissipation < 0).all()
    assert budget.buoyancy.any()


@pytest.fixture(scope="module")
def eddying(tmp_path_factory):
    """With eddies; and of each sample the velocities with what is beside walls, and nu_t, whatever the direction."""
    path = tmp_path_factory.mktemp("eddying") / "run"
    go(averaged(statistics=BUDGET, turbulence={"model": "smagorinsky", "damping": "none"}), path, (2, 1, 2))
    with dataset(path / "fields.zarr") as ds:
        snapshots, weights = ds.load(), trapezoids(0.0, ds.time.values)
    return path, snapshots, weights / weights.sum()


MOVING = {"u": (0.0, 0.0), "v": (0.0, 0.5), "w": (0.0, 0.2)}  # the walls across x


def around(values: np.ndarray, name: str) -> np.ndarray:
    """With a layer beyond all sides: walls across x, a wall and a slip boundary across z; y is periodic. Of a velocity
    not along itself.
    """
    for number, (low, high) in enumerate(((-1, -1), (0, 0), (-1, 1))):
        a = 3 - number
        first, last = values.take([0], a), values.take([-1], a)
        if name == "uvw"[number]:
            values = np.concatenate([values, first], a) if number == 1 else values
            continue
        speeds = MOVING[name] if number == 0 and name in MOVING else (0.0, 0.0)
        ends = (last, first) if number == 1 else (2 * speeds[0] + low * first, 2 * speeds[1] + high * last)
        values = np.concatenate([ends[0], values, ends[1]], a)
    return values


def between(values: np.ndarray, *axes: int) -> np.ndarray:
    """The means of neighbours along some axes."""
    for a in axes:
        n = values.shape[a]
        values = (values.take(range(n - 1), a) + values.take(range(1, n), a)) / 2
    return values


@pytest.mark.slow
def test_eddies_have_the_stress_of_the_equations(eddying):
    """In cells along a direction, on edges between two: what it is, its work, and what it carries."""
    path, snapshots, weights = eddying
    statistics, spacing = found(path).isel(time=-1), (1 / 8, 0.7 / 5, 1.3 / 9)
    velocity = [around(snapshots[n].values, n) for n in "uvw"]
    nu_t = around(snapshots.nu_t.values, "nu_t")
    inner, stress, work = slice(1, -1), {}, 0.0
    for m in range(3):
        cut = tuple(slice(None) if a in (0, 3 - m) else inner for a in range(4))
        rise = np.diff(velocity[m][cut], axis=3 - m) / spacing[m]
        stress[m, m] = 2 * snapshots.nu_t.values * rise
        work = work + stress[m, m] * rise
        for n in range(m):
            a, b, other = 3 - m, 3 - n, 3 - (3 - m - n)
            cut = tuple(inner if axis == other else slice(None) for axis in range(4))
            strain = np.diff(velocity[m][cut], axis=b) / spacing[n] + np.diff(velocity[n][cut], axis=a) / spacing[m]
            edges = between(nu_t[cut], a, b) * strain
            stress[m, n] = stress[n, m] = between(edges, a, b)
            work = work + between(edges * strain, a, b)

    def mean(values):
        return np.average(values, axis=0, weights=weights)

    np.testing.assert_allclose(statistics.mean_eddy_dissipation, mean(work), rtol=1e-11, atol=1e-15)
    departures = [in_centres(snapshots, n) - mean(in_centres(snapshots, n)) for n in "uvw"]
    for m, axis in enumerate("xyz"):
        carried = sum(departures[n] * (stress[n, m] - mean(stress[n, m])) for n in range(3))
        np.testing.assert_allclose(statistics[f"mean_eddy_flux_{axis}"], mean(carried), rtol=1e-9, atol=1e-15)
        for n in range(m + 1):
            name = f"mean_eddy_stress_{'xyz'[n]}{axis}"
            np.testing.assert_allclose(statistics[name], mean(stress[m, n]), rtol=1e-11, atol=1e-15, err_msg=name)


@pytest.mark.slow
def test_a_budget_with_eddies_has_their_terms(eddying):
    budget = found(eddying[0]).isel(time=-1).flow.kinetic_energy_budget("z")
    assert budget.eddy_transport.any()
    terms = [name for name in budget if name not in ("residual", "kinetic_energy")]
    xr.testing.assert_allclose(budget.residual, sum(budget[name] for name in terms))


@pytest.mark.slow
def test_eddies_take_what_the_flow_loses(tmp_path):
    """In a short step from one state, with and without them: sums by parts are exact, and walls have no eddies."""
    energy, eddies, step = [], {"model": "smagorinsky", "damping": "none"}, 1e-6
    for name, turbulence in (("with", {"turbulence": eddies}), ("without", {})):
        case = averaged(time={"steps": 1, "step": step}, pressure={"solver": "fft"}, statistics=BUDGET, **turbulence)
        go(case, tmp_path / name)
        energy.append(read_log(tmp_path / name / "log.jsonl")[-1]["kinetic_energy"])
    lost = float(found(tmp_path / "with").mean_eddy_dissipation.mean())
    assert (energy[1] - energy[0]) / step == pytest.approx(lost, rel=1e-4)


@pytest.mark.slow
def test_the_bits_with_eddies_do_not_depend_on_blocks(eddying, tmp_path):
    case = averaged(statistics=BUDGET, turbulence={"model": "smagorinsky", "damping": "none"})
    go(case, tmp_path / "run")
    xr.testing.assert_identical(found(tmp_path / "run").drop_attrs(), found(eddying[0]).drop_attrs())


@pytest.mark.slow
@pytest.mark.parametrize(("stopped", "blocks"), [
    ({}, (2, 1, 3)), pytest.param({"kill": 7}, (1, 1, 2), marks=pytest.mark.slow),
])  # fmt: skip
def test_the_bits_depend_neither_on_blocks_nor_on_what_broke_off(stopped, blocks, whole, tmp_path):
    case = averaged(statistics=BUDGET, output=stirred().output)
    if stopped:
        go(case, tmp_path / "run", **stopped)
    go(case, tmp_path / "run", blocks, resume=bool(stopped))
    xr.testing.assert_identical(found(tmp_path / "run").drop_attrs(), found(whole).drop_attrs())


@pytest.mark.slow
@pytest.mark.parametrize("treatment", ["flagged", pytest.param("immersed", marks=pytest.mark.slow)])
def test_beside_bodies_the_bits_do_not_depend_on_blocks(treatment, tmp_path):
    """With eddies; the boundaries of blocks cut the sphere along all directions."""
    ball = {"type": "sphere", "centre": [0.45, 0.33, 0.6], "radius": 0.25}
    case = averaged(
        statistics=BUDGET, output=stirred().output, obstacles=[ball], bodies={"treatment": treatment},
        turbulence={"model": "smagorinsky", "damping": "none"}, time={"steps": 4},
    )  # fmt: skip
    for blocks in ((1, 1, 1), (2, 2, 2)):
        go(case, tmp_path / f"{blocks[0]}", blocks)
    one, other = (found(tmp_path / name) for name in ("1", "2"))
    xr.testing.assert_identical(one.drop_attrs(), other.drop_attrs())
    inside = one.solid == 1
    assert inside.any()
    budget = one.flow.kinetic_energy_budget().load()
    for name in budget:
        assert (budget[name].isnull() == inside).all()
    assert (budget.dissipation.where(~inside, -1.0) < 0).all()


@pytest.mark.parametrize(("changes", "told"), [
    ({"turbulence": {"model": "wale"}, "boundaries": {**BOX, "z_min": {"type": "wall", "roughness": 1e-3}}},
     "x and z are not periodic, and the edge of a rough wall has no stress"),
    ({"statistics": {"budget": True, "order": 1}}, "it is made of covariances; give statistics.order = 2"),
    ({"statistics": {"budget": True, "fields": ["u", "v", "w"]}}, "it needs u, v, w and p among statistics.fields"),
])  # fmt: skip
def test_what_has_no_budget_is_refused(changes, told):
    with pytest.raises(BadInput) as refused:
        averaged(**{"statistics": BUDGET, **changes})
    assert told in str(refused.value)
