"""Droplets in a run: as in a snapshot of that time, with the same bits on all blocks and after a restart."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from taskflow.analysis.droplets import droplets
from taskflow.common.errors import BadInput
from taskflow.output import read_log
from tests.cases.two_phases import case
from tests.runs.going_on import found, go

BALLS = (0.0, 0.0, 0.35, 0.12), (0.3, 0.2, 0.2, 0.11), (0.3, 0.23, 0.52, 0.09), (0.6, 0.4, 0.0, 0.14)
Y = "minimum(abs(y - {0}), 0.4 - abs(y - {0}))"  # to the nearest image beyond periodic sides
PHI = [f"{r} - sqrt((x - {x})**2 + {Y.format(y)}**2 + (z - {z})**2)" for x, y, z, r in BALLS]
DROPS = {
    "two_phase": {"initial": f"maximum(maximum({PHI[0]}, {PHI[1]}), maximum({PHI[2]}, {PHI[3]}))"},
    "time": {"steps": 3},
    "output": {"every": {"steps": 1}, "fields": ["f"]},
    "phases": [{"name": f"phase_{phase}", "phase": phase, "every": {"steps": 1}, "droplets": True} for phase in (1, 2)],
}
BODY = [{"type": "box", "low": [0.0, 0.0, 0.3], "high": [0.15, 0.4, 0.4]}]
LARGEST = [f"droplet_volume_{n}" for n in range(1, 11)]


def with_method(method: str, **tables):
    return case(**{**DROPS, "two_phase": {**DROPS["two_phase"], "method": method}, **tables})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    go(with_method("levelset"), path)
    return path


def assert_like_snapshots(path):
    for phase in (1, 2):
        record = found(path, f"phase_{phase}")
        for n in range(record.sizes["time"]):
            parts, now = droplets(found(path).isel(time=n), phase), record.isel(time=n)
            volumes = [float(now[name]) for name in LARGEST]
            count = parts.sizes["droplet"]
            assert float(now["droplets"]) == count > 0
            np.testing.assert_allclose(volumes[:count], parts.volume.values[:10], rtol=1e-13)
            assert np.isnan(volumes[count:]).all()
            d = np.cbrt(6 * parts.volume.values / np.pi)
            assert float(now.sauter_diameter) == pytest.approx((d**3).sum() / (d**2).sum(), rel=1e-13)


def test_droplets_are_those_of_snapshots(whole):
    """A ball on a periodic side is one part."""
    assert_like_snapshots(whole)
    assert float(found(whole, "phase_1").droplets[0]) == len(BALLS)


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "stopped"), [((2, 1, 2), {}), ((1, 2, 3), {"stop": 2})])
def test_the_bits_depend_neither_on_blocks_nor_on_a_restart(blocks, stopped, whole, tmp_path):
    drops = with_method("levelset")
    if stopped:
        go(drops, tmp_path / "run", **stopped)
    go(drops, tmp_path / "run", blocks, resume=bool(stopped))
    for group in ("phase_1", "phase_2"):
        xr.testing.assert_identical(found(tmp_path / "run", group).drop_attrs(), found(whole, group).drop_attrs())


@pytest.mark.slow
def test_bodies_have_no_droplets(tmp_path):
    go(with_method("vof", obstacles=BODY), tmp_path / "run", (2, 2, 1))
    assert_like_snapshots(tmp_path / "run")


def trimmed(**tables):
    """The least ball has 23 cells in the domain, the next 24.4."""
    return with_method("vof", **{
        "two_phase": {**DROPS["two_phase"], "method": "vof", "smallest": 24}, "time": {"steps": 12}, **tables,
    })  # fmt: skip


@pytest.fixture(scope="module")
def without_small_parts(tmp_path_factory):
    path = tmp_path_factory.mktemp("trimmed") / "run"
    go(trimmed(), path)
    return path


def test_small_parts_are_removed_after_ten_steps(without_small_parts):
    record = found(without_small_parts, "phase_1")
    before, after = record.isel(time=9), record.isel(time=10)
    smallest = float(before[LARGEST[int(before.droplets) - 1]])
    assert int(before.droplets) - int(after.droplets) == 1
    assert smallest < 24 * 0.05**3 < float(after[LARGEST[int(after.droplets) - 1]])
    lines = read_log(without_small_parts / "log.jsonl")
    assert [line["removed_parts"] for line in lines] == [0] * 10 + [1] * 3
    assert lines[-1]["removed_volume"] == smallest
    assert float(before.volume - after.volume) == pytest.approx(smallest, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "stopped"), [((2, 1, 2), {}), ((1, 2, 3), {"stop": 11})])
def test_removal_depends_neither_on_blocks_nor_on_a_restart(blocks, stopped, without_small_parts, tmp_path):
    if stopped:
        go(trimmed(), tmp_path / "run", **stopped)
    go(trimmed(), tmp_path / "run", blocks, resume=bool(stopped))
    xr.testing.assert_identical(found(tmp_path / "run").f.drop_attrs(), found(without_small_parts).f.drop_attrs())
    ends = [read_log(path / "log.jsonl")[-1] for path in (tmp_path / "run", without_small_parts)]
    assert ends[0]["removed_volume"] == ends[1]["removed_volume"] > 0


@pytest.mark.parametrize(("tables", "words"), [
    ({"two_phase": {**DROPS["two_phase"], "smallest": 0}}, r"two_phase.smallest = 0: give"),
    ({"two_phase": {**DROPS["two_phase"], "smallest": 8, "method": "levelset"}}, r'smallest = 8: it applies .*"vof"'),
    ({"phases": [{**DROPS["phases"][0], "box": [[0, 0, 0], [0.3, 0.4, 0.7]]}]}, r"phases\[1\].droplets.*omit"),
    ({"phases": [{**DROPS["phases"][0], "droplets": 3}]}, r"phases\[1\].droplets = 3: give true or false"),
])  # fmt: skip
def test_bad_input(tables, words):
    with pytest.raises(BadInput, match=words):
        with_method("vof", **tables)
