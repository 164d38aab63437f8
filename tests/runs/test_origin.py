"""Runs that begin with a state of elsewhere: another run, a file, a dataset, arrays."""

import re

import numpy as np
import pytest
import xarray as xr

from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.common.rows import Row
from taskflow.output import SavedState, export_netcdf, load_initial, read_log, saved_state, tree
from taskflow.runs.state.origin import StateOnBox, StateOnCharts
from taskflow.runs.state.setup import RunSetup
from tests.cases import two_phases
from tests.cases.on_charts import LID
from tests.cases.on_charts import case as on_charts
from tests.runs.going_on import contents, found, go
from tests.runs.test_restart import stirred

TAU = 2 * np.pi


def vortices(n: int, **changes) -> Case:
    """Taylor-Green vortices in a plane that are carried along, with a warm spot and dye."""
    tables = {
        "grid": {"cells": [n, 2, n], "lengths": [1.0, 2 / n, 1.0]},
        "fluid": {"viscosity": 0.01},
        "heat": {"diffusivity": 0.02},
        "scalars": [{"name": "dye", "diffusivity": 0.01, "initial": "sin(2*pi*z)", "scheme": "central"}],
        "boundaries": dict.fromkeys("xyz", "periodic"),
        "initial": {
            "velocity": ["1 + sin(2*pi*x)*cos(2*pi*z)", 0.0, "-cos(2*pi*x)*sin(2*pi*z)"],
            "temperature": "cos(2*pi*x)*cos(2*pi*z)",
        },
        "time": {"steps": 4, "step": 0.002},
        "output": {"precision": "double", "every": {"steps": 2}},
        "machine": {"device": "cpu", "threads": 1},
    }
    return Case(**{**tables, **changes})


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    """The run from which others begin."""
    path = tmp_path_factory.mktemp("origin") / "run"
    go(vortices(16), path)
    return path


def begun(origin, path, n=16, blocks=(1, 1, 1), **table):
    """The fields of all snapshots of a run that begins there, and the first line of its log."""
    go(vortices(n, initial={"source": str(origin), **table}, time={"steps": 2, "step": 0.002}), path, blocks)
    return found(path), read_log(path / "log.jsonl")[0]


@pytest.mark.parametrize("blocks", [(1, 1, 1), pytest.param((2, 1, 2), marks=pytest.mark.slow)])
def test_a_run_goes_on_from_another_one_to_the_bit(origin, tmp_path, blocks):
    go(vortices(16, time={"steps": 6, "step": 0.002}), tmp_path / "whole")
    fields, first = begun(origin, tmp_path / "run", blocks=blocks)
    whole = found(tmp_path / "whole")
    assert first["change"] == 0  # nothing has changed yet
    for name in ("u", "v", "w", "T", "dye"):
        np.testing.assert_array_equal(fields[name][0], whole[name][2], err_msg=name)
        if blocks == (1, 1, 1):  # fft: on others the same but for rounding
            np.testing.assert_array_equal(fields[name][-1], whole[name][-1], err_msg=name)
        np.testing.assert_allclose(fields[name][-1], whole[name][-1], atol=1e-13, err_msg=name)


def test_functions_and_arrays_are_no_obstacle_to_going_on(origin, tmp_path):
    """They are evaluated, though the checkpoint takes their place."""
    dye = {"name": "dye", "diffusivity": 0.01, "initial": lambda x, y, z: x + 0 * y, "scheme": "central"}
    initial = {"source": str(origin), "temperature": np.zeros((16, 2, 16))}
    go(vortices(16, initial=initial, scalars=[dye], time={"steps": 1, "step": 0.002}), tmp_path / "run")
    for name in ("u", "T", "dye"):
        np.testing.assert_array_equal(found(tmp_path / "run")[name][0], found(origin)[name][-1], err_msg=name)


@pytest.mark.slow
def test_a_snapshot_is_taken_as_it_is(origin, tmp_path):
    fields, _ = begun(origin, tmp_path / "run", time=0.004)
    for name in ("u", "v", "w", "p", "T", "dye"):
        np.testing.assert_array_equal(fields[name][0], found(origin)[name][1], err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 3)])
def test_another_grid_holds_as_much_and_has_no_divergence(origin, tmp_path, blocks):
    fields, line = begun(origin, tmp_path / "run", n=24, blocks=blocks)
    assert line["divergence"] < 1e-12
    before = found(origin)
    for name in ("u", "w", "T", "dye"):
        assert float(fields[name][0].mean()) == pytest.approx(float(before[name][-1].mean()), abs=1e-13)
    go(vortices(24, initial={"source": str(origin)}, time={"steps": 2, "step": 0.002}), tmp_path / "one")
    np.testing.assert_array_equal(fields["T"][0], found(tmp_path / "one")["T"][0])


@pytest.mark.slow
def test_fields_that_the_source_lacks_have_their_formulas(origin, tmp_path):
    more = [{"name": "smoke", "diffusivity": 0.01, "initial": "2 + x"}]
    go(vortices(16, initial={"source": str(origin)}, scalars=more, time={"steps": 1}), tmp_path / "run")
    fields = found(tmp_path / "run")
    np.testing.assert_allclose(fields["smoke"][0, 0, 0], 2 + fields["x_c"], rtol=1e-15)
    np.testing.assert_array_equal(fields["T"][0], found(origin)["T"][-1])


@pytest.mark.slow
def test_arrays_and_datasets_are_where_to_begin(origin, tmp_path):
    """Arrays have the shapes of the store; points of a dataset are anywhere, in any order of dimensions."""
    before = found(origin).isel(time=-1)
    arrays = {"velocity": [before[name].values for name in "uvw"], "temperature": before["T"].transpose("x_c", ...)}
    case = vortices(16, initial=arrays, time={"steps": 1})
    assert Case(**case.model_dump()) == case != case.replace(**{"initial.velocity": [before["u"].values * 2, 0.0, 0.0]})
    go(case, tmp_path / "arrays")
    after = found(tmp_path / "arrays")
    for name in ("u", "w", "T"):
        np.testing.assert_allclose(after[name][0], before[name], atol=1e-14)
    x = (np.arange(40) + 0.5) / 40
    points = xr.Dataset(
        {
            "u": (("x", "y", "z"), np.sin(TAU * x)[:, None, None] * np.cos(TAU * x) + np.zeros((1, 2, 1))),
            "w": (("x", "y", "z"), -np.cos(TAU * x)[:, None, None] * np.sin(TAU * x) + np.zeros((1, 2, 1))),
            "v": (("x", "y", "z"), np.zeros((40, 2, 40))),
        },
        {"x": x, "z": x, "y": [0.025, 0.075]},
    )
    case = vortices(32, initial={"source": points}, time={"steps": 1})
    assert Case(**case.model_dump()) == case
    go(case, tmp_path / "points")
    after, line = found(tmp_path / "points"), read_log(tmp_path / "points" / "log.jsonl")[0]
    exact = np.sin(TAU * after["x_f"]) * np.cos(TAU * after["z_c"])
    np.testing.assert_allclose(after["u"][0].transpose("x_f", "z_c", ...)[..., 0], exact, atol=2e-3)
    assert line["divergence"] < 1e-12


@pytest.mark.parametrize(("changes", "message"), [
    ({"initial": {"source": "SOURCE", "time": 0.003}}, "initial.time = 0.003: .* has no state of it; choose one of 0,"),
    ({"initial": {"source": "nowhere"}}, "initial.source: .*nowhere: this source does not exist"),
    ({"initial": {"time": 1.0}}, "initial.time = 1.0: it belongs to initial.source"),
    ({"initial": {"source": "SOURCE", "velocity": [0, 0, 0]}}, "initial.velocity = .*: source is given as well"),
    ({"initial": {"source": 3}}, "initial.source = 3: give the name of a run directory"),
    ({"initial": {"velocity": [np.zeros((2, 2, 2)), 0, 0]}}, r"velocity\[1\] = .*the points \[16, 2, 16\] along z"),
    ({"initial": {"velocity": [np.full((16, 2, 16), np.nan), 0, 0]}}, "not finite"),
    ({"initial": {"source": "SOURCE"}, "grid": {"cells": [16, 2, 16], "lengths": [2.0, 0.125, 1.0]}}, "reaches from x"),
    ({"initial": {"source": xr.Dataset({"u": ("t", [1.0])})}}, "u of the dataset has the dimensions t; give three"),
])  # fmt: skip
def test_bad_input_is_told(origin, tmp_path, changes, message):
    initial = changes["initial"]
    if isinstance(initial.get("source"), str) and initial["source"] == "SOURCE":
        changes = {**changes, "initial": {**initial, "source": str(origin)}}
    with pytest.raises(BadInput, match=message):
        go(vortices(16, **changes), tmp_path / "run")


def points(**changes) -> xr.Dataset:
    """The fields of a file that has points alone."""
    x = (np.arange(16) + 0.5) / 16
    values = (("z", "y", "x"), np.zeros((16, 2, 16)))
    return xr.Dataset(dict.fromkeys("uvw", values), {"x": x, "y": [0.03125, 0.09375], "z": x}).assign(changes)


@pytest.mark.slow
def test_forces_that_change_in_time_begin_anew(tmp_path):
    tables = {"forcing": [{"on": "u", "expression": "sin(t)"}], "time": {"steps": 1, "step": 0.002}}
    go(vortices(16, **tables), tmp_path / "run")
    origin = RunSetup(vortices(16, initial={"source": str(tmp_path / "run")}, **tables), (1, 1, 1)).origin
    assert (origin.checkpoint, origin.difference) == (None, "given values depend on time, which starts at 0 again")
    assert origin.unchanged


@pytest.mark.parametrize("moves", [True, False])
def test_a_velocity_around_bodies_is_taken_as_it_is_where_they_stay(moves):
    """Those that move are elsewhere at time 0."""
    ball = {"type": "sphere", "name": "ball", "centre": [0.5, 0.25, 0.5], "radius": 0.2}
    motion = {"motion": {"displacement": ["0.1*t", 0, 0]}} if moves else {}
    grid = {"cells": [16, 8, 16], "lengths": [1.0, 0.5, 1.0]}
    case = vortices(16, grid=grid, heat=None, scalars=[], initial={}, bodies={"treatment": "immersed"},
                    obstacles=[{**ball, **motion}])  # fmt: skip
    state = SavedState(None, 5.0, "a run", case.to_toml())
    assert StateOnBox(RunSetup(case, (1, 1, 1)), state).unchanged is not moves


@pytest.mark.parametrize(("kind", "case", "message"), [
    (StateOnBox, vortices(8), "a run is on charts, and this case on a Cartesian grid; begin with a run on a Cart"),
    (StateOnCharts, on_charts(LID), "a run has no snapshot of its time, and its grid moves; choose another time"),
], ids=["Cartesian", "charts"])  # fmt: skip
def test_charts_that_move_without_a_snapshot_are_refused(kind, case, message):
    """Their newest checkpoint is later than the last snapshot: it does not say where they are."""
    with pytest.raises(BadInput, match=message):
        kind(RunSetup(case, (1, 1, 1)), SavedState(None, 5.0, "a run")).check()


@pytest.mark.parametrize(("times", "message"), [
    ("late", "its times are of type <U4; give numbers"),
    (np.datetime64("2026-01-01", "ns"), r"its times are of type datetime64\[ns\]; give numbers"),
    (("x", np.zeros(16)), "its time lies along x; give one number"),
])  # fmt: skip
def test_a_time_is_a_number(times, message):
    with pytest.raises(BadInput, match=message):
        saved_state(points().assign_coords(time=times), None)


@pytest.mark.parametrize(("changes", "message"), [
    ({"x": [f"{n:02}" for n in range(16)]}, "x of the dataset: .*; give one or more, as finite numbers that increase"),
    ({"x": [*np.arange(15) / 16, np.nan]}, "x of the dataset: .*; give one or more, as finite"),
    ({"x": np.roll(np.arange(16), 1) / 16}, "x of the dataset: .*; give one or more, as finite"),
    ({"u": (("z", "y", "x"), np.full((16, 2, 16), "fast"))}, "u of the dataset is of type <U4; give numbers"),
    ({"u": (("z", "y", "x"), np.zeros((16, 2, 16), complex))}, "u of the dataset is of type complex128; give numbers"),
    (None, "x of the dataset: .*; give one or more, as finite"),
])  # fmt: skip
def test_places_and_values_are_numbers(tmp_path, changes, message):
    source = points().isel(x=[]) if changes is None else points(**changes)
    with pytest.raises(BadInput, match=f"initial.source: {message}"):
        go(vortices(16, initial={"source": source}), tmp_path / "run")


@pytest.mark.parametrize("axes", ["x", "yz", "xyz"])
@pytest.mark.parametrize("kind", ["dataset", "file"])
def test_falling_coordinates_are_turned(tmp_path, axes, kind):
    x, y, z = (values / 16 for values in np.ogrid[1:17, 1:3, 1:17])
    values = (x + 10 * y + 100 * z).transpose(2, 1, 0)
    source = points(u=(("z", "y", "x"), values))
    fallen = source.isel({axis: slice(None, None, -1) for axis in axes})
    if kind == "file":
        fallen.to_netcdf(tmp_path / "fallen.nc")
    state = saved_state(tmp_path / "fallen.nc" if kind == "file" else fallen, None)
    xr.testing.assert_equal(state.fields.load(), source)


def test_a_file_names_its_source_relative_to_itself(tmp_path):
    case = vortices(16, initial={"source": tmp_path / "other_run", "time": 0.004})
    (tmp_path / "case.toml").write_text(case.to_toml().replace(f"{tmp_path}/", ""))
    loaded = Case.load(tmp_path / "case.toml")
    assert (loaded.initial.source, loaded.initial.time) == (str(tmp_path / "other_run"), 0.004)
    assert Case.load(tmp_path / "case.toml") == loaded == Case(**loaded.model_dump())


@pytest.mark.slow
def test_files_of_other_programs_are_where_to_begin(origin, tmp_path):
    before = found(origin)
    plain = before[["u", "v", "w", "T"]].drop_vars([name for name in before.coords if name not in before.dims])
    plain.isel(time=[1]).to_zarr(tmp_path / "store.zarr", consolidated=False)
    plain.isel(time=1, drop=True).to_netcdf(tmp_path / "file.nc")
    for name, source in (("store", "store.zarr"), ("file", "file.nc")):
        go(vortices(16, initial={"source": str(tmp_path / source)}, time={"steps": 1}), tmp_path / name)
        for field in ("u", "w", "T"):
            values = found(tmp_path / name)[field][0]
            np.testing.assert_allclose(values, before[field][1], atol=1e-13, err_msg=f"{name} {field}")
    (tmp_path / "broken.nc").write_text("nothing")
    with pytest.raises(BadInput, match=r"initial\.source: .*broken\.nc: it cannot be read"):
        go(vortices(16, initial={"source": str(tmp_path / "broken.nc")}), tmp_path / "broken")


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.5, 2.0])
def test_vortices_keep_their_order_on_a_finer_grid(tmp_path, share):
    """Began on n cells, gone on with on more: the error against the exact solution falls with n^2."""
    errors = []
    for n in (16, 32, 64):
        first, then = tmp_path / f"{n}", tmp_path / f"{n}_finer"
        time = {"end": 0.05, "step": 0.5 / n**2}
        go(vortices(n, time=time, output={"precision": "double"}), first)
        go(vortices(round(share * n), initial={"source": str(first)}, time=time), then)
        fields, line = found(then).isel(time=-1), read_log(then / "log.jsonl")[0]
        assert line["divergence"] < 1e-11
        x, z = fields["x_f"] - 0.1, fields["z_c"]  # the vortices are carried along x at speed 1
        exact = 1 + np.sin(TAU * x) * np.cos(TAU * z) * np.exp(-2 * 0.01 * TAU**2 * 0.1)
        errors.append(float(abs(fields["u"] - exact).max()))
    observed = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (observed > 1.9).all(), (errors, observed)


@pytest.mark.slow
def test_on_the_same_grid_of_walls_a_snapshot_is_as_it_is(tmp_path):
    go(stirred(output={"precision": "double", "every": {"steps": 3}}), tmp_path / "first")
    source = {"source": str(tmp_path / "first")}
    later = stirred(output={"precision": "double"}, initial=source, fluid={"viscosity": 0.1})
    go(later, tmp_path / "then")
    for name in ("u", "v", "w", "T"):
        np.testing.assert_array_equal(found(tmp_path / "then")[name][0], found(tmp_path / "first")[name][-1])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["two_phase", "charts"])
def test_other_models_go_on_with_checkpoints_of_their_case(tmp_path, kind):
    """A fixed number of steps more is what one run does in all of them."""

    def made(steps, **initial):
        if kind == "charts":
            return on_charts(LID, time__steps=steps, initial=initial)
        return two_phases.case(time={"steps": steps, "step": 1e-3}, initial=initial)

    go(made(6), tmp_path / "first")
    go(made(12), tmp_path / "whole")
    go(made(6, source=str(tmp_path / "first")), tmp_path / "then")
    (fields, _), (expected, _) = contents(tmp_path / "then"), contents(tmp_path / "whole")
    for name in fields.keys() - {"time"}:
        np.testing.assert_array_equal(fields[name][-1], expected[name][-1], err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)])
def test_two_phases_begin_with_any_state(tmp_path, blocks):
    """On the same grid a snapshot is taken to the bit, the interface and the curvature, too; on another one the
    interface stays where it was, and the velocity is free of divergence.
    """
    go(two_phases.case(checkpoint={"keep": 0}), tmp_path / "first")
    before, source = found(tmp_path / "first").isel(time=-1), {"source": str(tmp_path / "first")}
    go(two_phases.case(initial=source, two_phase={"surface_tension": 0.5}), tmp_path / "then", blocks)
    for name in ("u", "v", "w", "p", "f", "phi", "kappa"):
        np.testing.assert_array_equal(found(tmp_path / "then")[name][0], before[name], err_msg=name)
    case = two_phases.case(initial=source, grid={"cells": [24, 16, 28]}, time={"steps": 1})
    told = Row("", "the interface begins where initial.source has it")
    assert told in [*RunSetup(case, blocks).system.solver_rows()]
    go(case, tmp_path / "finer", blocks)
    finer = found(tmp_path / "finer").isel(time=0)
    assert read_log(tmp_path / "finer" / "log.jsonl")[0]["divergence"] < 1e-6
    inside, beyond = (ds["phi"].sel(x_c=0.3, y_c=0.2, method="nearest") > 0 for ds in (before, finer))
    assert float(beyond.mean()) == pytest.approx(float(inside.mean()), abs=1 / 28)
    phi = finer["phi"].coarsen(x_c=2, y_c=2, z_c=2).mean().values
    assert float(finer["f"].mean()) == pytest.approx(float(before["f"].mean()), abs=1e-10)
    near = abs(before["phi"].values) < 0.05
    np.testing.assert_allclose(phi[near], before["phi"].values[near], atol=0.005)  # a tenth of a spacing
    fields = before[["u", "v", "w", "f"]]
    with pytest.raises(BadInput, match=r"initial\.source: the dataset has no phi; it has u, v, w, f"):
        go(two_phases.case(initial={"source": fields}), tmp_path / "bad")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the state is not steady")
@pytest.mark.parametrize("blocks", [1, 2])
def test_charts_begin_with_any_state(tmp_path, blocks):
    """On the same charts values are taken to the bit, of a checkpoint, a snapshot or a tree; on others fields are
    linear in the nearest cell. What is on no charts is refused, and what does not cover the grid.
    """

    def state(name: str, chart: int, step: int):
        records = tree(tmp_path / name / "fields.zarr")
        return records[f"charts/{chart}"].to_dataset().isel(time=step).load()

    go(on_charts(LID), tmp_path / "first")
    source, other = str(tmp_path / "first"), {"fluid__viscosity": 0.03, "time__steps": 2, "machine__blocks": blocks}
    whole = tree(tmp_path / "first" / "fields.zarr").isel(time=-1)
    for name, begun, step in (("a", {"source": source}, -1), ("b", {"source": source, "time": 4.0}, 1),
                              ("c", {"source": whole}, -1)):  # fmt: skip
        go(on_charts(LID, initial=begun, **other), tmp_path / name, (1, 1, blocks))
        for chart in (0, 1):
            for field in ("p", "u", "v", "w", "T", "dye"):
                expected = state("first", chart, step)[field]
                np.testing.assert_array_equal(state(name, chart, 0)[field], expected, err_msg=field)
    export_netcdf(tree(tmp_path / "first" / "fields.zarr"), tmp_path / "first.nc")
    for file in (tmp_path / "first.nc", tmp_path / "first" / "fields.zarr"):
        origin = RunSetup(on_charts(LID, initial={"source": str(file)}), (1, 1, 1)).origin
        assert origin.unchanged
        saved = tmp_path / f"{file.name}.initial"
        origin.save(saved, None)
        values = load_initial(saved, "T", origin.sim.domain.boxes[1])
        np.testing.assert_array_equal(values, state("first", 1, -1)["T"])
    grid = {"cells": [20, 16, 12], "lengths": [1.0, 1.0, 1.0], "charts": [1, 2, 1]}
    go(on_charts(LID, initial={"source": source}, grid=grid, **other), tmp_path / "finer", (1, 1, blocks))
    present, here = state("finer", 0, 0), state("first", 0, -1)
    first = present["u"].values[:, :, :10]  # its half of the first chart
    coarse = first.reshape(6, 2, 4, 2, 5, 2).mean(axis=(1, 3, 5))
    np.testing.assert_allclose(coarse[:, :4], here["u"].values[:, :4], atol=2e-3)
    for changes, message in (
        ({"initial": {"source": whole["charts/0"]}}, "the tree has no charts"),
        ({"initial": {"source": points()}}, "the dataset is on a Cartesian grid, and this case on charts"),
        ({"initial": {"source": source}, "grid__lengths": [2.0, 1.0, 1.0]}, "it reaches from x = 0 to 1, the cells"),
    ):
        with pytest.raises(BadInput, match=f"initial.source: .*{message}"):
            _ = RunSetup(on_charts(LID, **changes), (1, 1, 1)).origin
    with pytest.raises(BadInput, match="is on charts, and this case on a Cartesian grid; begin with a run on a"):
        _ = RunSetup(stirred(initial={"source": source}), (1, 1, 1)).origin


@pytest.mark.slow
@pytest.mark.parametrize(("initial", "key", "remedy"), [
    ({"velocity": [3.0, 0.0, 0.0]}, "method.reference_speed = .*; it was 3.0", {"method.reference_speed": 3.0}),
    ({"temperature": "4*x"}, "method.reference_speed = .*; it was", {"initial.temperature": "4*x"}),
    ({"velocity": [9.0, 0.0, 0.0], "temperature": "4*x"}, r"initial.temperature = 1.0; it was 4.0", None),
])  # fmt: skip
def test_on_charts_a_checkpoint_keeps_what_equations_take_from_the_initial_state(tmp_path, initial, key, remedy):
    speed = {} if remedy else {"method.reference_speed": 9.0}
    first = on_charts(LID, time__steps=2, initial=initial)
    go(first, tmp_path / "first")
    then = first.replace(**{"initial": {"source": str(tmp_path / "first")}, **speed})
    origin = RunSetup(then, (1, 1, 1)).origin
    assert re.search(f"{key}.* stays so: have it so", origin.difference)
    assert origin.row.text.endswith("as it is")
    go(then.replace(**(remedy or {"initial.temperature": "4*x"})), tmp_path / "then")
    go(first.replace(**{"time.steps": 4, **speed}), tmp_path / "whole")
    (fields, _), (expected, _) = contents(tmp_path / "then"), contents(tmp_path / "whole")
    for name in fields.keys() - {"time"}:
        np.testing.assert_array_equal(fields[name][-1], expected[name][-1], err_msg=name)
