"""Spectra of a run against those of its snapshots by NumPy; their bits on blocks, and what breaks a run off."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.host import look
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.proof import Hardware, prove
from tests.runs.going_on import assert_same_run, found, go
from tests.runs.test_restart import BOX, stirred
from tests.runs.test_statistics import trapezoids

EACH = {"every": {"steps": 1}, "write": {"steps": 1}}
FIELDS = ("u", "v", "w", "T")
ALL = {"name": "shells", "along": "all", **EACH}
PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}
CELLS, LENGTHS = {"x": 8, "y": 5, "z": 9}, {"x": 1.0, "y": 0.7, "z": 1.3}
CLOSE = {"rtol": 1e-9, "atol": 1e-17}
SNAPSHOTS = {"precision": "double", "every": {"steps": 1}}


def waving(*tables: dict, **changes) -> Case:
    """A stirred flow with spectra; every step is a snapshot."""
    return stirred(**{"output": SNAPSHOTS, "spectra": list(tables), **changes})


def turning(*tables: dict, **changes) -> Case:
    """A flow that is periodic in all directions, of unequal lengths."""
    heat = {"diffusivity": 0.02, "expansion": 1.0, "reference": 0.3}
    return waving(*tables, **{"boundaries": PERIODIC, "heat": heat, "body": {}, "time": {"steps": 3}, **changes})


def low_faces(values: xr.DataArray, like: xr.DataArray) -> np.ndarray:
    """Means over all directions that the other one does not have, without the last faces of those that it has."""
    mean = values.mean([dim for dim in values.dims if dim not in like.dims])
    return mean.isel({dim: slice(None, like.sizes[dim]) for dim in mean.dims}).transpose(*like.dims).values


def by_numpy(ds: xr.Dataset, name: str, along: str) -> xr.DataArray:
    """The spectra of all lines along an axis, over modes: with the two-sided power of a full transform."""
    field = ds[name]
    (dim,) = (str(dim) for dim in field.dims if str(dim)[0] == along)
    values = np.moveaxis(field.values, field.dims.index(dim), -1)
    power = np.abs(np.fft.fft(values)) ** 2 / values.shape[-1] ** 2
    numbers = np.abs(np.fft.fftfreq(values.shape[-1], 1 / values.shape[-1])).astype(int)
    summed = np.stack([power[..., numbers == n].sum(-1) for n in range(1, numbers.max() + 1)], -1)
    dims = [d for d in field.dims if d != dim]
    return xr.DataArray(summed * LENGTHS[along] / (2 * np.pi), dims=[*dims, "k"])


ENDS = {axis: {f"{axis}_min": "wall", f"{axis}_max": "slip"} for axis in "xyz"}
WALLS = {axis: {**{a: "periodic" for a in "xyz" if a != axis}, **ends} for axis, ends in ENDS.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("boundaries", "ways"), [
    (PERIODIC, {"x": "", "y": "", "z": ""}),
    (BOX, {"y": "zx"}),
    (WALLS["y"], {"x": "y", "z": "y"}),
    pytest.param(WALLS["x"], {"y": "x", "z": "x"}, marks=pytest.mark.slow),
    pytest.param(WALLS["z"], {"x": "z", "y": "z"}, marks=pytest.mark.slow),
], ids=["box", "duct", "y", "x", "z"])  # fmt: skip
def test_they_are_those_of_the_snapshots(boundaries, ways, tmp_path):
    """Along x, y and z, averaged over the directions that are periodic; of Parseval's sum."""
    case = turning(*({"name": axis, "along": axis, "fields": FIELDS, **EACH} for axis in ways), boundaries=boundaries)
    go(case, tmp_path / "run", (1, 1, 2))
    snapshots = found(tmp_path / "run").isel(time=slice(1, None))
    for along, resolved in ways.items():
        ds, length, cells = found(tmp_path / "run", along), LENGTHS[along], CELLS[along]
        np.testing.assert_array_equal(ds.time, snapshots.time)
        np.testing.assert_allclose(ds.k, 2 * np.pi / length * np.arange(1, cells // 2 + 1), rtol=1e-14)
        for name in FIELDS:
            spectrum = ds[f"spectrum_{name}"]
            assert [dim[0] for dim in spectrum.dims[1:-1]] == list(resolved)
            np.testing.assert_allclose(spectrum, low_faces(by_numpy(snapshots, name, along), spectrum), **CLOSE)
            (dim,) = (str(dim) for dim in snapshots[name].dims if str(dim)[0] == along)
            variance = low_faces(snapshots[name].var(dim), spectrum.sum("k"))
            np.testing.assert_allclose(spectrum.sum("k") * 2 * np.pi / length, variance, **CLOSE)


def test_shells_have_the_energy_of_a_snapshot(tmp_path):
    """Those of ds.flow.energy_spectrum, which are by NumPy; their sum is the variance."""
    go(turning(ALL), tmp_path / "run", (2, 1, 2))
    ds, snapshots = found(tmp_path / "run", "shells"), found(tmp_path / "run").isel(time=slice(1, None))
    width = 2 * np.pi / 1.3
    for n in range(3):
        exact = snapshots.isel(time=n).flow.energy_spectrum()
        half = 0.5 * sum(ds[f"spectrum_{name}"].isel(time=n) for name in "uvw")
        np.testing.assert_allclose(ds.k, exact.k, rtol=1e-14)
        np.testing.assert_allclose(half, exact, **CLOSE)
    for name in FIELDS:
        variance = snapshots[name].var(snapshots[name].dims[1:])
        np.testing.assert_allclose(ds[f"spectrum_{name}"].sum("k") * width, variance, rtol=1e-10)


PAIRS = [["u", "w"], ["T", "v"], ["p", "T"]]


def in_centres(ds: xr.Dataset, name: str) -> xr.DataArray:
    """A field in the middle of cells."""
    for dim in [str(dim) for dim in ds[name].dims if str(dim).endswith("_f")]:
        low, values = f"{dim[0]}_c", ds[name]
        high = values.roll({dim: -1}) if ds.sizes[dim] == ds.sizes[low] else values.shift({dim: -1})
        mean = ((values + high.drop_vars(dim).assign_coords({dim: values[dim]})) / 2).isel({dim: slice(ds.sizes[low])})
        return mean.rename({dim: low}).assign_coords({low: ds[low]})
    return ds[name]


@pytest.mark.slow
@pytest.mark.parametrize(("boundaries", "along"), [
    (PERIODIC, "x"), *(pytest.param(*flow, marks=pytest.mark.slow) for flow in ((BOX, "y"), (PERIODIC, "z"))),
])  # fmt: skip
def test_cospectra_are_those_of_the_snapshots(boundaries, along, tmp_path):
    """Of a full transform of both in cell centres; co-spectra sum to covariances."""
    table = {"name": "waves", "along": along, "fields": ["p"], "pairs": PAIRS, **EACH}
    go(turning(table, boundaries=boundaries), tmp_path / "run", (2, 1, 2))
    ds, snapshots = found(tmp_path / "run", "waves"), found(tmp_path / "run").isel(time=slice(1, None))
    dim, cells, length = f"{along}_c", CELLS[along], LENGTHS[along]
    numbers = np.abs(np.fft.fftfreq(cells, 1 / cells)).astype(int)
    for one, other in PAIRS:
        a, b = (in_centres(snapshots, name) for name in (one, other))
        c, d = (np.fft.fft(np.moveaxis(item.values, item.dims.index(dim), -1)) / cells for item in (a, b))
        positive = np.fft.fftfreq(cells) > 0
        dims = [item for item in a.dims if item != dim]
        cospectrum, quadrature = ds[f"cospectrum_{one}_{other}"], ds[f"quadrature_{one}_{other}"]
        both = [np.stack([(c.conj() * d)[..., numbers == n].real.sum(-1) for n in range(1, cells // 2 + 1)], -1)]
        both.append(np.zeros_like(both[0]))
        both[1][..., : positive.sum()] = -2 * (c.conj() * d)[..., positive].imag
        for mine, exact in zip((cospectrum, quadrature), both, strict=True):
            expected = xr.DataArray(exact * length / (2 * np.pi), dims=[*dims, "k"])
            np.testing.assert_allclose(mine, low_faces(expected, mine), rtol=1e-9, atol=1e-15)
        covariance = (a * b).mean(dim) - a.mean(dim) * b.mean(dim)
        summed = cospectrum.sum("k") * 2 * np.pi / length
        np.testing.assert_allclose(summed, low_faces(covariance, summed), rtol=1e-9, atol=1e-15)
    assert max(float(abs(ds[name]).max()) for name in ("quadrature_u_w", "quadrature_T_v")) > 1e-6
    words = f"quadrature spectrum along {along} of temperature and velocity along y"
    assert ds.quadrature_T_v.attrs["long_name"] == words
    np.testing.assert_array_equal(ds.flow.over_time().k, ds.k)


def test_cospectra_of_snapshots_are_those_of_a_run(tmp_path):
    go(turning({"name": "waves", "along": "x", "pairs": [["u", "w"]], **EACH}), tmp_path / "run")
    ds, snapshots = found(tmp_path / "run", "waves"), found(tmp_path / "run").isel(time=slice(1, None))
    exact = snapshots.flow.cospectrum("u", "w", "x")
    for name in ("cospectrum_u_w", "quadrature_u_w"):
        np.testing.assert_allclose(exact[name], ds[name], rtol=1e-9, atol=1e-15)
        assert exact[name].attrs["long_name"] == ds[name].attrs["long_name"]


@pytest.mark.slow
def test_cospectra_over_shells_sum_to_covariances(tmp_path):
    """And have the sign and size of each wave: that of one field with itself would be its spectrum."""
    table = {**ALL, "fields": ["T", "p"], "pairs": [["T", "p"], ["u", "w"]]}
    go(turning(table), tmp_path / "run", (2, 1, 2))
    ds, snapshots = found(tmp_path / "run", "shells"), found(tmp_path / "run").isel(time=slice(1, None))
    assert "quadrature_T_p" not in ds
    cells, lengths = (9, 5, 8), (1.3, 0.7, 1.0)
    waves = [2 * np.pi / length * np.fft.fftfreq(n, 1 / n) for n, length in zip(cells, lengths, strict=True)]
    size = np.sqrt(sum(np.square(item) for item in np.meshgrid(*waves, indexing="ij")))
    width = 2 * np.pi / 1.3
    shells = np.rint(size / width).astype(int).ravel()
    for one, other in (("T", "p"), ("u", "w")):
        a, b = (in_centres(snapshots, name).values for name in (one, other))
        for n in range(3):
            c, d = (np.fft.fftn(item[n], norm="forward").ravel() for item in (a, b))
            exact = np.bincount(shells, weights=(c.conj() * d).real)[1:] / width
            np.testing.assert_allclose(ds[f"cospectrum_{one}_{other}"][n], exact, rtol=1e-9, atol=1e-15)
            covariance = (a[n] * b[n]).mean() - a[n].mean() * b[n].mean()
            assert float(ds[f"cospectrum_{one}_{other}"][n].sum() * width) == pytest.approx(covariance, rel=1e-9)


MANY = [pytest.param(blocks, marks=pytest.mark.slow) for blocks in ((1, 1, 2), (1, 1, 4), (1, 1, 6), (1, 5, 1))]


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [(2, 1, 2), *MANY])
def test_blocks_do_not_change_a_bit(blocks, tmp_path):
    """On slabs, some of which have no plane, and on other blocks, which send their cells there."""
    item = {"fields": ["u", "T"], "pairs": [["u", "w"], ["w", "T"]], "every": {"steps": 1}}
    tables = [{"name": name, "along": name, **item} for name in (*"xyz", "all")]
    case = turning(*tables, pressure={"iterations": 4}, time={"steps": 2})
    go(case, tmp_path / "one")
    go(case, tmp_path / "cut", blocks)
    assert_same_run(tmp_path / "cut", tmp_path / "one", rel=1e-12)
    for name in (*"xyz", "all"):
        xr.testing.assert_identical(found(tmp_path / "cut", name), found(tmp_path / "one", name))


def test_records_are_means_over_the_samples_since_the_last_one(tmp_path):
    table = {"name": "waves", "along": "y", "start": 0.1, "every": {"steps": 2}, "write": {"steps": 4}}
    go(waving(table), tmp_path / "run")
    ds, snapshots = found(tmp_path / "run", "waves"), found(tmp_path / "run")
    times = snapshots.time.values
    np.testing.assert_array_equal(ds.since, [0.1, times[4], times[8]])
    np.testing.assert_array_equal(ds.time, [times[4], times[8], times[-1]])
    item, first = by_numpy(snapshots, "p", "y"), next(n for n, time in enumerate(times) if time >= 0.1)
    for n, (since, begin, end) in enumerate(((0.1, first, 4), (times[4], 4, 8), (times[8], 8, len(times) - 1))):
        steps = [step for step in range(begin, end + 1) if step in (begin, end) or step % 2 == 0]
        mean = np.average(item.isel(time=steps), axis=0, weights=trapezoids(since, times[steps]))
        np.testing.assert_allclose(ds.spectrum_p[n], mean, **CLOSE)
        assert ds.samples[n] == len(steps)
    over_time = ds.flow.over_time()
    weights = ds.time - ds.since
    np.testing.assert_allclose(over_time.spectrum_p, (ds.spectrum_p * weights).sum("time") / weights.sum(), rtol=1e-14)
    assert (over_time.since, over_time.time, over_time.samples) == (0.1, times[-1], ds.samples.sum())


def test_what_they_are_is_told(tmp_path):
    go(waving({"name": "waves", "along": "y", "fields": ["w"], "every": {"steps": 3}}), tmp_path / "run")
    ds = found(tmp_path / "run", "waves")
    assert set(ds.data_vars) == {"spectrum_w", "since", "samples"}
    assert ds.spectrum_w.dims == ("time", "z_f", "x_c", "k")
    assert ds.spectrum_w.attrs["long_name"] == "spectrum along y of velocity along z"
    assert (ds.attrs["along"], ds.samples.item()) == ("y", 4)
    np.testing.assert_allclose(ds.z_f, np.arange(9) * 1.3 / 9)


@pytest.mark.slow
def test_they_do_not_change_the_flow(tmp_path):
    go(turning(ALL, {"name": "z", "along": "z", **EACH}), tmp_path / "one", (1, 1, 2))
    go(turning(), tmp_path / "other", (1, 1, 2))
    assert_same_run(tmp_path / "one", tmp_path / "other")


@pytest.mark.slow
@pytest.mark.parametrize(("stopped", "blocks"), [
    pytest.param({"stop": 5}, (1, 1, 1), marks=pytest.mark.slow), ({"kill": 7}, (2, 1, 2)),
])  # fmt: skip
def test_a_run_that_was_broken_off_has_the_same_ones(stopped, blocks, tmp_path):
    """To the bit, in the middle of a mean, on the same or on other blocks."""
    table = {"along": "y", "every": {"steps": 2}, "write": {"steps": 6}, "fields": ["u", "T"], "pairs": [["u", "T"]]}
    case = waving({"name": "waves", **table}, output=stirred().output)
    go(case, tmp_path / "whole")
    go(case, tmp_path / "run", **stopped)
    go(case, tmp_path / "run", blocks, resume=True)
    assert found(tmp_path / "run", "waves").samples.values.tolist() == [4, 3]
    xr.testing.assert_identical(found(tmp_path / "run", "waves"), found(tmp_path / "whole", "waves"))


@pytest.mark.slow
def test_they_can_be_begun_or_changed_when_a_run_goes_on(tmp_path):
    table = {"name": "waves", "along": "y", "every": {"steps": 2}}
    go(waving({**table, "fields": ["u"]}, {**table, "name": "kept", "fields": ["p"]}), tmp_path / "run")
    kept = found(tmp_path / "run", "kept")
    later = waving({**table, "fields": ["T"]}, {**table, "name": "new", "fields": ["p"]}, time={"steps": 12})
    go(later, tmp_path / "run", (1, 1, 2), resume=True)
    ds, new = found(tmp_path / "run", "waves"), found(tmp_path / "run", "new")
    since = found(tmp_path / "run").time[9]
    assert (ds.since.item(), new.since.item(), ds.samples.item()) == (since, since, 2)
    assert "spectrum_T" in ds
    xr.testing.assert_identical(found(tmp_path / "run", "kept"), kept)


def test_around_bodies_every_line_has_a_spectrum(tmp_path):
    """Nothing is alike beside a body, though periodic."""
    cylinder = {"type": "cylinder", "centre": [0.5, 0.35, 0.65], "radius": 0.3, "axis": "y"}
    case = turning({"name": "span", "along": "y", "fields": ["u"], **EACH}, obstacles=[cylinder])
    go(case, tmp_path / "run", (1, 1, 2))
    ds, snapshots = found(tmp_path / "run", "span"), found(tmp_path / "run").isel(time=slice(1, None))
    assert ds.spectrum_u.dims == ("time", "z_c", "x_f", "k")
    np.testing.assert_allclose(ds.spectrum_u, by_numpy(snapshots, "u", "y"), **CLOSE)


@pytest.mark.parametrize(("table", "told"), [
    ({"along": "x"}, 'spectra[1].along = "x": x is not periodic; choose a direction that is'),
    ({"along": "all"}, 'spectra[1].along = "all": x is not periodic'),
    ({"along": "k"}, 'give "x", "y", "z" or "all"'),
    ({"fields": ["c"]}, 'this case has no field "c"; it has u, v, w, p, T'),
    ({"pairs": [["u", "c"]]}, 'spectra[1].pairs = ["u", "c"]: this case has no field "c"'),
    ({"pairs": [["u", "u"]]}, "name two different fields; the spectrum of u itself is recorded by fields"),
    ({"pairs": [["u", "w"], ["w", "u"]]}, "give the pair of w and u once"),
    ({"pairs": ["u", "w"]}, 'give pairs of names, as [["u", "w"]]'),
    ({"name": "statistics"}, "another entry of the store has this name"),
    ({"start": -1.0}, "give a number >= 0"),
])  # fmt: skip
def test_what_has_no_spectrum_is_refused(table, told):
    with pytest.raises(BadInput) as refused:
        waving({"name": "waves", "along": "y", **table})
    assert told in str(refused.value)


@pytest.mark.parametrize(("grid", "along", "told"), [
    ({"cells": [8, 5, 9], "lengths": [1.0, 0.7, 1.3], "stretching": {"z": {"geometric": 1.1}}}, "z", "z is stretched"),
    ({"cells": [8, 1, 9], "lengths": [1.0, 0.7, 1.3]}, "y", "there is one cell along y, and no wave"),
])  # fmt: skip
def test_directions_without_waves_are_refused(grid, along, told):
    with pytest.raises(BadInput, match=told):
        turning({"name": "waves", "along": along}, grid=grid, pressure={"solver": "multigrid"})


def test_more_spectra_than_fit_into_memory_are_refused():
    grid = {"cells": [1024, 1024, 64], "lengths": [1.0, 1.0, 1.0]}
    sides = {"x_min": "wall", "x_max": "wall", "y_min": "wall", "y_max": "wall", "z": "periodic"}
    with pytest.raises(BadInput, match="1048576 lines differ, and of 33554432 numbers 16777216 can be kept"):
        turning({"name": "waves", "along": "z"}, grid=grid, boundaries=sides)


def test_the_mean_is_of_recorded_spectra(tmp_path):
    go(waving({"name": "waves", "along": "y", "start": 100.0}), tmp_path / "run")
    with pytest.raises(BadInput, match="no record of these spectra is complete yet"):
        found(tmp_path / "run", "waves").flow.over_time()
    with pytest.raises(BadInput, match="these are no spectra in time"):
        found(tmp_path / "run").flow.over_time()


def test_what_they_need_is_counted():
    """To the byte, with what blocks send that are not slabs."""
    item = {"fields": ["u", "T"], "pairs": [["u", "T"]]}
    tables = ({"name": name, "along": name, **item} for name in ("y", "all"))
    setup = RunSetup(turning(*tables, pressure={"iterations": 2}), (2, 1, 2))
    needs = MemoryEstimate(setup, [look("this process")] * 4, "cpu").blocks

    def job(shard):
        shard.run(setup.model.start, dt=1.0)
        for program in (setup.monitor, *(item.begin for item in setup.averaged.values())):
            shard.run(program)
        for _ in range(3):
            shard.run(setup.model.step, **setup.model.scalars(1e-3, 1.0))
            shard.run(setup.monitor)
            for averaged in setup.averaged.values():
                shard.run(averaged.sample, share=0.5)
        return shard.memory

    for memory, need in zip(run_threads(setup.partition, job, cpu(1), Mapper("none")), needs, strict=True):
        assert (memory["fields"], memory["buffers"]) == (need.fields, need.buffers)


@pytest.mark.slow
@pytest.mark.parametrize("gpu", [False, True])
def test_what_the_runtime_records_is_proved(gpu):
    """Samples between steps, where cells go to slabs and back."""
    item = {"fields": ["u"], "pairs": [["u", "T"]]}
    tables = ({"name": name, "along": name, **item} for name in ("y", "all"))
    setup = RunSetup(turning(*tables, pressure={"iterations": 2}), (1, 2, 1))
    averaged = setup.averaged.values()
    model, samples = setup.model, {item.sample: ("share",) for item in averaged}
    programs = {model.step: tuple(model.scalars(1.0, 1.0)), **samples}
    start = {model.start: ("dt",), **{item.begin: () for item in averaged}}
    prove(setup.partition, programs, Mapper("none"), Hardware(gpu, (0, 0) if gpu else None), start=start).hold()
