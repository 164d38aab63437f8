"""Fields that are computed where they are recorded: against NumPy, whatever the blocks and whatever breaks off."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from taskflow.analysis.derived import q_criterion
from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.output import read_log
from taskflow.runs.estimate.estimate import estimate
from taskflow.runs.state.restart import _groups, changes
from taskflow.runs.state.setup import RunSetup
from taskflow.systems.records.fields import SNAPSHOTS, STATISTICS
from tests.runs.going_on import assert_same_run, found, go
from tests.runs.test_restart import stirred

EXAMPLES = Path(__file__).parents[2] / "examples"
FLUX = {"name": "flux", "expression": "w*T + x*t", "long_name": "upward flux of heat", "units": "K m s-1"}
EVERYWHERE = {
    "expressions": [FLUX],
    "output": {
        "fields": ["u", "v", "w", "p", "T", "Q", "ww = w*w", "flux", "s = sqrt(u**2 + v**2 + w**2) - p*y"],
        "precision": "double", "every": {"steps": 1},
    },
    "statistics": {"fields": ["u", "v", "w", "ww = w*w", "flux"], "every": {"steps": 1}},
    "probes": [{"name": "here", "points": [[0.31, 0.36, 0.4]], "every": {"steps": 3}, "fields": ["flux", "ww", "u"]}],
    "planes": [{"name": "layer", "z": 0.75, "every": {"steps": 3}, "fields": ["ww", "Q"]}],
    "monitor": {"every": {"steps": 4}, "fields": ["flux", "Q", "uv = u*v"]},
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run with all of them in one block, every step a snapshot."""
    path = tmp_path_factory.mktemp("whole") / "run"
    go(stirred(**EVERYWHERE), path)
    return path


def centred(ds: xr.Dataset, name: str) -> np.ndarray:
    """A field in cell centres, in a box with walls across x and z."""
    values = ds[name].values
    for axis, dim in enumerate(ds[name].dims):
        if str(dim).endswith("_f"):
            high = np.roll(values, -1, axis) if str(dim).startswith("y") else values
            low, high = (np.moveaxis(item, axis, 0) for item in (values, high))
            mean = (low + high) / 2 if str(dim).startswith("y") else (low[:-1] + low[1:]) / 2
            values = np.moveaxis(mean, 0, axis)
    return values


@pytest.mark.slow
def test_snapshots_have_them_in_cell_centres(whole):
    ds = found(whole)
    u, v, w = (centred(ds, name) for name in "uvw")
    x, y, t = ds.x_c.values, ds.y_c.values[:, None], ds.time.values[:, None, None, None]
    exact = {"ww": w * w, "flux": w * ds["T"].values + x * t, "s": np.sqrt(u**2 + v**2 + w**2) - ds.p.values * y}
    for name, values in exact.items():
        assert ds[name].dims == ("time", "z_c", "y_c", "x_c")
        np.testing.assert_allclose(ds[name], values, rtol=0, atol=1e-14, err_msg=name)
    about = {"grid": "grid", "location": "volume"}
    assert ds.flux.attrs == {
        "long_name": "upward flux of heat", "units": "K m s-1", "expression": "w*T + x*t", **about,
    }  # fmt: skip
    assert ds.ww.attrs == {"long_name": "w*w", "units": "1", "expression": "w*w", **about}
    assert ds.Q.attrs == {"long_name": "second invariant of the velocity gradient", "units": "1", **about}


@pytest.mark.slow
def test_q_is_that_of_the_snapshots(whole):
    """Inside; beside boundaries the run has the values beyond them, and a snapshot has not."""
    ds = found(whole)
    inside = {"x_c": slice(1, -1), "z_c": slice(1, -1)}
    expected = q_criterion(ds).isel(inside)
    assert float(abs(expected).max()) > 1
    np.testing.assert_allclose(ds.Q.isel(inside), expected, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_statistics_are_those_of_the_snapshots(whole):
    ds, steps = found(whole, "statistics").isel(time=-1), found(whole)
    weights, steps = np.diff(steps.time), steps.isel(time=slice(1, None))
    mean = {name: np.average(steps[name], axis=0, weights=weights) for name in ("ww", "flux")}
    w, mean_w = centred(steps, "w"), np.average(centred(steps, "w"), axis=0, weights=weights)
    for name, values in mean.items():
        np.testing.assert_allclose(ds[f"mean_{name}"], values, rtol=0, atol=1e-14)
        product = np.average((w - mean_w) * (steps[name].values - values), axis=0, weights=weights)
        np.testing.assert_allclose(ds[f"cov_w_{name}"], product, rtol=0, atol=1e-14)
    assert ds.mean_flux.attrs["long_name"] == "mean in time of upward flux of heat"


@pytest.mark.slow
def test_probes_planes_and_the_log_have_them(whole):
    ds = found(whole)
    probe, layer = found(whole, "here"), found(whole, "layer")
    for name in ("flux", "ww"):
        expected = ds[name][::3].interp(x_c=0.31, y_c=0.36, z_c=0.4)
        np.testing.assert_allclose(probe[name][:, 0], expected, rtol=0, atol=1e-14)
    for name in ("ww", "Q"):
        np.testing.assert_array_equal(layer[name][:, 0], ds[name][::3, 5])
    volumes = ds.dx * ds.dy * ds.dz
    for line in read_log(whole / "log.jsonl"):
        now = ds.isel(time=line["step"])
        means = {"mean_flux": now.flux, "mean_Q": now.Q, "mean_uv": now.ww.copy(data=_uv(ds)[line["step"]])}
        for name, field in means.items():
            assert line[name] == pytest.approx(float(field.weighted(volumes).mean()), rel=1e-12, abs=1e-14)


def _uv(ds: xr.Dataset) -> np.ndarray:
    return centred(ds, "u") * centred(ds, "v")


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "stopped"), [((2, 1, 2), {}), ((1, 1, 1), {"stop": 4}), ((1, 1, 3), {"kill": 7})])
def test_the_bits_depend_neither_on_blocks_nor_on_what_broke_off(blocks, stopped, whole, tmp_path):
    case, path = stirred(**EVERYWHERE), tmp_path / "run"
    if stopped:
        go(case, path, **stopped)
    go(case, path, blocks, resume=bool(stopped))
    assert_same_run(path, whole, 1e-12)
    for group in ("here", "layer", "statistics"):
        xr.testing.assert_identical(found(path, group).drop_attrs(), found(whole, group).drop_attrs())


@pytest.mark.slow
def test_the_flow_is_that_of_a_case_that_records_no_expression(whole, tmp_path):
    plain = {"fields": ["u", "v", "w", "p", "T"], "precision": "double", "every": {"steps": 1}}
    go(stirred(output=plain), tmp_path / "run")
    one, other = found(whole), found(tmp_path / "run")
    for name in plain["fields"]:
        np.testing.assert_array_equal(one[name], other[name])


@pytest.mark.slow
def test_what_the_runtime_records_is_proved():
    estimate(stirred(**EVERYWHERE, machine__blocks=[1, 1, 2])).prove().hold()


BODY = [{"type": "box", "low": [0.4, 0, 0.3], "high": [0.7, 0.3, 0.7]}]


@pytest.mark.parametrize(("tables", "told"), [
    ({"expressions": [{"name": "u", "expression": "w"}]}, 'expressions[1].name = "u": give a name'),
    ({"expressions": [{"name": "Q", "expression": "w"}]}, 'expressions[1].name = "Q": another field has this name'),
    ({"expressions": [FLUX, FLUX]}, 'expressions[2].name = "flux": another field has this name'),
    ({"expressions": [{"name": "a"}]}, 'expressions[1].expression: missing; give an expression, as "w*T"'),
    ({"expressions": [{"expression": "a"}]}, "expressions[1].name: missing; give the name of the field"),
    ({"expressions": [{"name": "a", "expression": "q"}]}, "expressions[1].expression = \"q\": 'q' is not allowed"),
    ({"expressions": [{"name": "a", "expression": "w", "unit": "m"}]}, "did you mean units?"),
    ({"output": {"fields": ["a = w *"]}}, 'expressions[1].expression = "w *"'),
    ({"output": {"fields": ["a = nu_t"]}}, "there is no nu_t"),
    ({"output": {"fields": ["a = b", "b = w"]}}, "there is no b"),
    ({"output": {"fields": ["a = u", "a = w"]}}, "name a once"),
    ({"output": {"fields": ["a = u"]}, "probes": [{"name": "p1", "points": [[0, 0, 0]], "fields": ["a = v"]}]},
     'expressions[2].name = "a": another field has this name'),
    ({"output": {"fields": ["flux"]}}, 'output.fields = ["flux"]: this case has no field "flux"'),
    ({"probes": [{"name": "Q", "points": [[0, 0, 0]]}]}, 'probes[1].name = "Q": another entry of the store'),
    ({"monitor": {"fields": ["u"]}}, 'monitor.fields = "u": the log has means of [[expressions]] and derived fields'),
    ({"spectra": [{"name": "s", "along": "y", "fields": ["Q"]}]}, 'this case has no field "Q"'),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_key(tables, told):
    with pytest.raises(BadInput) as caught:
        stirred(**tables)
    assert told in str(caught.value)


def test_a_scalar_called_q_is_that_field():
    """Q follows from the velocity only where no field has this name."""
    dye = [{"name": "Q", "diffusivity": 0.1}]
    case = stirred(scalars=dye, output={"fields": ["Q"]}, obstacles=BODY)
    assert case.output.fields == ("Q",)
    assert RunSetup(case, (1, 1, 1)).system.computed is None
    with pytest.raises(BadInput, match=r'monitor.fields = "Q": the log has means of .*; give .* or add "Q_c = Q"'):
        stirred(scalars=dye, monitor={"fields": ["Q"]})
    logged = RunSetup(stirred(scalars=dye, monitor={"fields": ["Q_c = Q"]}), (1, 1, 1)).measures.derived
    assert logged.names == ("Q_c",)


def test_a_definition_that_is_there_is_that_table():
    """A case that was written has tables for its short forms, which may be said again."""
    case = stirred(expressions=[FLUX], output={"fields": ["ww = w*w", "flux = w*T + x*t"]})
    assert [table.name for table in case.expressions] == ["flux", "ww"]
    again = case.replace(**{"monitor.fields": ["ww = w*w", "flux"]})
    assert again.expressions == case.expressions
    with pytest.raises(BadInput, match="another field has this name"):
        case.replace(**{"monitor.fields": ["ww = w*w*w"]})


RECORDED = {
    "expressions": [FLUX, {"name": "ww", "expression": "w*w"}],
    "statistics": {"fields": ["u", "v", "w", "flux"]},
    "probes": [{"name": "here", "points": [[0.3, 0.3, 0.4]], "fields": ["ww"]}],
    "planes": [{"name": "layer", "z": 0.7, "every": {"steps": 3}, "fields": ["u"]}],
}
OTHER = {
    **RECORDED,
    "expressions": [FLUX, {"name": "ww", "expression": "2*w*w"}], "monitor": {"fields": ["KE = 0.5*u**2", "Q"]},
}  # fmt: skip


def compared(old: dict, new: dict, compare):
    """Of the tables of two cases, as a run keeps them."""
    return compare(*(tomllib.loads(stirred(**tables).to_toml()) for tables in (old, new)))


def test_only_the_formulas_of_snapshots_stay():
    assert [*compared(RECORDED, OTHER, changes)] == []
    plain, written = ({**tables, "output": {"fields": ["u", "ww"]}} for tables in (RECORDED, OTHER))
    [line] = compared(plain, written, changes)
    assert line.startswith('expressions.ww.expression = "2*w*w"; it was "w*w" when this run began')
    units = {**plain, "expressions": [FLUX, {**plain["expressions"][1], "units": "m2 s-2"}]}
    [line] = compared(plain, units, changes)
    assert line.startswith('expressions.ww.units = "m2 s-2"; it was "1"')


def test_a_group_with_another_formula_is_another_one():
    def groups(old, new):
        return {name for name, table in _groups(new).items() if _groups(old).get(name) == table}

    assert compared(RECORDED, OTHER, groups) == {SNAPSHOTS, STATISTICS, "layer"}


@pytest.mark.slow
def test_a_run_goes_on_with_other_expressions(tmp_path):
    """The log has the new ones at once; what recorded another formula begins anew, all else goes on."""
    go(stirred(**RECORDED), tmp_path / "run")
    later = {"output__every": {"steps": 1}, "monitor": {**OTHER["monitor"], "every": {"steps": 1}}}
    go(stirred(**{**OTHER, **later}, time={"steps": 12}), tmp_path / "run", resume=True)
    here, layer, fluxes = (found(tmp_path / "run", group) for group in ("here", "layer", "statistics"))
    assert (here.sizes["time"], layer.sizes["time"]) == (1, 5)
    assert here.ww.attrs["long_name"] == "2*w*w"
    assert fluxes.sizes["time"] == 1
    for line in read_log(tmp_path / "run" / "log.jsonl")[-2:]:
        state = found(tmp_path / "run").isel(time=line["step"] - 6)
        assert line["mean_KE"] == pytest.approx(float((centred(state, "u") ** 2 / 2).mean()), rel=1e-12)


def test_other_models_do_not_read_them():
    later = 'not supported by the model "two_phase"; omit it, or use the model "projection"'
    for key, value, told in [
        ("expressions", [FLUX], later),
        ("output.fields", ["ww = w*w"], later), ("output.fields", ["Q"], 'this case has no field "Q"'),
        ("monitor.fields", ["Q"], f'monitor.fields = ["Q"]: {later}'),
    ]:  # fmt: skip
        with pytest.raises(BadInput) as caught:
            Case.load(EXAMPLES / "capillary_wave.toml").replace(**{key: value})
        assert told in str(caught.value)


def test_what_is_given_inline_is_a_table_of_expressions():
    case = stirred(**EVERYWHERE)
    assert {table.name: table.expression for table in case.expressions} == {
        "flux": "w*T + x*t", "ww": "w*w", "s": "sqrt(u**2 + v**2 + w**2) - p*y", "uv": "u*v",
    }  # fmt: skip
    assert case.output.fields == ("u", "v", "w", "p", "T", "Q", "ww", "flux", "s")
    assert Case(**case.model_dump()) == case
    assert "a" in [table.name for table in case.replace(**{"output.fields": ["a = u + 1"]}).expressions]


def test_what_is_recorded_nowhere_is_not_computed():
    assert RunSetup(stirred(expressions=[FLUX]), (1, 1, 1)).system.computed is None
    assert stirred(expressions=[FLUX]).output.fields == ("u", "p")
    some = RunSetup(stirred(expressions=[FLUX], monitor__fields=["flux"]), (1, 1, 1))
    assert some.system.computed.names == ("flux",)
    assert "flux" in some.partition.region.fields
