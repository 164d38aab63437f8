"""Two phases from a case: bad input, runs on blocks, restarts, proofs, series, the log and the interface."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.output import LOG, STORE, dataset, read_log
from taskflow.runs.estimate.estimate import estimate
from taskflow.runs.state.setup import RunSetup, blocks_of
from tests.cases.two_phases import DROP, case

VOF = {"two_phase": {"method": "vof"}}
WENO = {"fluid": {"scheme": "weno5"}, "two_phase": {"density": [5.0, 1.0]}}


@pytest.mark.parametrize(("tables", "words"), [
    ({"two_phase": {"density": [1.0]}}, r"two_phase.density = \[1.0\]: give two numbers > 0"),
    ({"two_phase": {"density": [1.0, 0.0]}}, r"two_phase.density"),
    ({"two_phase": {"density": [1.0, 1e6]}}, r"two_phase.density = \[1.0, 1000000.0\]: give .* a ratio up to 100000"),
    ({"two_phase": {"viscosity": [1.0, -1.0]}}, r"two_phase.viscosity"),
    ({"two_phase": {"viscosity": [1e308, 1.0]}}, r"two_phase.viscosity = \[1e\+308, 1.0\]: over the least density it"),
    ({"two_phase": {"density": [1e-310, 1e-310]}}, r"two_phase.density = \[1e-310, 1e-310\]: it is below 2.23e-308"),
    ({"boundaries": {"z_min": {"type": "wall", "velocity": [0, 1e308, 0]}}},
     r"boundaries.z_min.velocity = \[0.0, 1e\+308, 0.0\]: its square is above 1.8e\+308"),
    ({"two_phase": {"surface_tension": -1}}, r"two_phase.surface_tension = -1"),
    ({"two_phase": {"method": "clsvof"}}, r'two_phase.method = "clsvof": give "levelset" or "vof"'),
    ({"two_phase": {"method": "vof", "reinitialise": 2}}, r"two_phase.reinitialise = 2: it applies to .* omit it"),
    ({"two_phase": {"method": "vof", "conserve": True}}, r"two_phase.conserve = true: it applies to .* omit it"),
    ({"two_phase": {"method": "vof", "conserve": False}}, r"two_phase.conserve = false: it applies to .* omit it"),
    ({"two_phase": {"method": "vof", "thickness": 2}}, r"two_phase.thickness = 2: it applies to .* omit it"),
    ({"two_phase": {"method": "vof"}, "output": {"fields": ["phi"]}}, r'no field "phi"; it has u, v, w, p, f, kappa'),
    ({"two_phase": {"method": "vof", "density": [2.0, 1.0]}, "fluid": {"scheme": "weno5"}},
     r'fluid.scheme = "weno5": with two_phase.method = "vof" the sweeps advect momentum; give "koren"'),
    ({"two_phase": {"method": "vof"}, "time": {"cfl": 0.6}}, r"time.cfl = 0.6: a volume of fluid .* up to 0.5"),
    ({"two_phase": {"method": "vof"}, "isosurfaces": [{"name": "s", "field": "phi", "value": 0}]},
     r'isosurfaces\[1\].field = "phi": with a volume of fluid a surface is of f; give f, at 0.5'),
    ({"two_phase": {"method": "vof"}, "machine": {"blocks": [1, 4, 1]}}, r"machine.blocks = .* 2 cells, and needs 3"),
    ({"two_phase": {"initial": 2}}, r"two_phase.initial = 2: give an expression"),
    ({"two_phase": {"thickness": 5}}, r"two_phase.thickness = 5: give a number from 1 to 4"),
    ({"fluid": {"viscosity": 1.0}}, r"fluid.viscosity = 1.0: two_phase.viscosity has the viscosities of both"),
    ({"fluid": {"scheme": "weno5"}, "two_phase": {"density": [1000.0, 1.2]}},
     r'fluid.scheme = "weno5": it keeps no momentum where densities jump; give "koren", or densities of a ratio up'),
    ({"fluid": {"scheme": "quick"}}, r'fluid.scheme = "quick": it keeps no momentum where densities jump; give'),
    ({"fluid": {"scheme": "central"}}, r'fluid.scheme = "central": it keeps no momentum where densities jump; give'),
    ({"fluid": {"scheme": "upwind"}}, r'fluid.scheme = "upwind": give "koren", "weno5", "quick" or "central"$'),
    ({"fluid": {"density": 1.0}}, r"fluid.density = 1.0: unknown key; known here: scheme"),
    ({"fluid": 3}, r"fluid = 3: give a table"),
    ({"two_phase": {"density": [1.0, 2.0, 3.0]}}, r"two_phase.density = \[1.0, 2.0, 3.0\]: give two numbers > 0"),
    ({"two_phase": {"viscosity": None}}, r"two_phase.viscosity"),
    ({"machine": {"blocks": [1, 4, 1]}}, r"machine.blocks = \[1, 4, 1\]: the thinnest of 4 .* give at most 2 there"),
    ({"surfaces": [{"name": "s", "z": 0.3}]}, r'surfaces = .*: not supported by the model "two_phase"; omit it'),
    ({"bodies": {"treatment": "immersed"}}, r'bodies.treatment = "immersed": this case has no .*; omit it'),
    ({"statistics": {"budget": True}}, r"statistics.budget = true: not supported by the model \"two_phase\"; omit it"),
    ({"phases": [{"name": "a", "phase": 1}, {"name": "a", "phase": 2}]}, r'phases\[2\].name = "a": another entry'),
    ({"phases": [{"name": "a"}]}, r"phases\[1\].phase: missing; give the phase, 1 or 2"),
    ({"output": {"fields": ["kappa"]}, "two_phase": {"surface_tension": 0}}, r'no field "kappa"; it has u, v, w, p,'),
    ({"heat": {"diffusivity": 1.0}}, r'heat = .*: not supported by the model "two_phase"'),
    ({"turbulence": {"model": "wale"}}, r"turbulence = .*not supported"),
    ({"body": {"rotation": [0, 0, 1]}}, r"body.rotation = .*not supported"),
    ({"body": {"bulk_velocity": {"y": 1}}}, r"body.bulk_velocity"),
    ({"time": {"scheme": "rk3"}}, r'time.scheme = "rk3": not supported by the model "two_phase"'),
    ({"grid": {"stretching": {"z": {"tanh": 2.0}}}}, r"grid.stretching.*not supported"),
    ({"pressure": {"solver": "fft", "outer": None, "iterations": None}}, r'pressure.solver = "fft": it is for'),
    ({"phases": [{"name": "p", "phase": 1}]}, r"phases\[1\].name = \"p\": another entry of the store has this name"),
    ({"phases": [{"name": "a", "phase": 3}]}, r"phases\[1\].phase = 3: give 1 or 2"),
    ({"two_phase": {"contact_angle": 60}}, r"two_phase.contact_angle = 60: .*omit it"),
    ({"boundaries": {"z_min": {"type": "wall", "contact_angle": 60}}}, r"contact_angle = 60.0: a level set meets"),
    ({**VOF, "boundaries": {"z_min": {"type": "wall", "contact_angle": 180}}}, r"contact_angle = 180.0: give an angle"),
    ({**VOF, "boundaries": {"z_min": {"type": "wall", "contact_angle": 0}}}, r"contact_angle = 0.0: give an angle"),
    ({**VOF, "boundaries": {"z_min": {"type": "slip", "contact_angle": 60}}}, r"boundaries.z_min.contact_angle"),
    ({**VOF, "boundaries": {"x_min": {"type": "outflow", "contact_angle": 60}}}, r"boundaries.x_min.contact_angle"),
    ({**VOF, "boundaries": {"z_min": {"type": "wall", "contact_angle": 60}}, "machine": {"blocks": [1, 1, 3]}},
     r"machine.blocks = \[1, 1, 3\]: with a contact angle they need 7 cells along z; give at most 2 there"),
    ({**VOF, "obstacles": [{"type": "sphere", "centre": [0.2, 0.2, 0.2], "radius": 0.1, "contact_angle": 60}]},
     r"obstacles\[1\].contact_angle = 60: an interface meets bodies"),
    ({"body": {"bulk_velocity": [1.0, 0, 0]}}, r"body.bulk_velocity = \[1.0, 0, 0\]: give a table"),
    ({"body": {"gravity": "down"}}, r'body.gravity = "down": give three numbers'),
    ({"phases": [{"name": "a", "phase": 1, "box": [[0, 0, 0], [9, 1, 1]]}]}, r"phases\[1\].box"),
    ({"phases": [{"name": "a", "phase": 1, "box": [[0.21, 0, 0], [0.22, 0.4, 0.7]]}]},
     r"phases\[1\].box = \[\[0.21, .*: along x the same face is nearest to both corners; give a box that has cells"),
    ({"isosurfaces": [{"name": "iso", "field": "p", "value": 0.0}]}, r'isosurfaces\[1\].field = "p": a surface'),
    ({"boundaries": {"x_min": {"type": "inflow", "velocity": [1, 0, 0]}, "x_max": "outflow"}}, r"boundaries.x_min"),
    ({"output": {"fields": ["f", "T"]}}, r"output.fields"),
])  # fmt: skip
def test_bad_input_is_told_with_key_value_and_remedy(tables, words):
    with pytest.raises(tf.BadInput, match=words):
        case(**tables)


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(tf.BadInput) as error:
        case(two_phase={"density": [1.0], "method": "thinc", "thickness": 9, "initial": None}, fluid={"viscosity": 1.0},
             heat={"diffusivity": 1.0}, time={"scheme": "rk3"}, phases=[{"name": "a", "phase": 7}])  # fmt: skip
    keys = {line.split(" = ")[0].split(": ")[0] for line in str(error.value).splitlines()}
    assert keys == {
        "two_phase.density", "two_phase.method", "two_phase.thickness", "two_phase.initial", "fluid.viscosity", "heat",
        "time.scheme", "phases[1].phase",
    }  # fmt: skip


def test_slabs_that_nobody_asked_for_are_as_thick_as_phi_needs_them():
    layouts = ([12, 8, 14], (1, 1, 4)), ([12, 9, 8], (4, 1, 1)), ([2, 2, 8], (1, 1, 2)), ([2, 1, 4], (1, 1, 1))
    for cells, blocks in layouts:
        drop = case(grid={"cells": cells})
        assert blocks_of(drop, 5) == blocks
        assert case(grid={"cells": cells}, machine={"blocks": list(blocks)}).machine.blocks == blocks


def test_koren_is_the_scheme_and_may_be_named():
    assert case(fluid={"scheme": "koren"}) == case(fluid={}) == case()


@pytest.mark.parametrize("scheme", ["weno5", "quick", "central"])
def test_the_velocity_form_is_for_densities_that_differ_little(scheme):
    drop = case(**{**WENO, "fluid": {"scheme": scheme}})
    assert drop.fluid.scheme == scheme
    assert drop.written()["fluid"] == {"scheme": scheme}
    assert tf.Case(**drop.written()) == drop != case(two_phase=WENO["two_phase"])
    assert tf.Case(**dict(drop)) == drop


def test_phases_are_of_two_phases():
    one = {name: DROP[name] for name in ("grid", "boundaries", "time", "phases")}
    with pytest.raises(tf.BadInput) as error:
        tf.Case(**one, fluid={"viscosity": 1.0})
    assert str(error.value).endswith(": of a case with a table [two_phase]; add that, or omit it")
    assert str(error.value).startswith("phases = [{ name = ")


def test_capillary_steps_are_of_two_phases():
    with pytest.raises(tf.BadInput, match=r"time.capillary = 0.5: one fluid has no capillary waves"):
        tf.Case(grid=DROP["grid"], fluid={"viscosity": 1.0}, boundaries=DROP["boundaries"],
                time={"steps": 1, "capillary": 0.5})  # fmt: skip


def test_defaults_and_the_case_as_a_file():
    drop = case()
    assert (drop.time.cfl, drop.own.method, drop.own.conserve, drop.own.reinitialise) == (0.3, "levelset", True, 1)
    assert drop.fields == ("u", "v", "w", "p", "f", "phi", "kappa")
    assert case(two_phase={"surface_tension": 0}).fields == ("u", "v", "w", "p", "f", "phi")
    assert case(two_phase={"initial": lambda x, y, z: x}).own.initial(1.0, 0.0, 0.0) == 1.0


@pytest.mark.parametrize("share", [0, 1])
def test_one_phase_everywhere_is_written_as_it_was_given(tmp_path, share):
    one = case(two_phase={"initial": share})
    assert f"initial = {share}" in one.to_toml()
    (tmp_path / "one.toml").write_text(one.to_toml())
    assert tf.Case.load(tmp_path / "one.toml") == one
    assert RunSetup(one, (1, 1, 1)).system.phi.source == share - 0.5


def test_the_table_is_a_class_of_python():
    table = tf.TwoPhase(density=[2.0, 1.0], viscosity=(0.1, 0.0), initial=lambda x, y, z: x - 0.3)
    assert (table.density, table.surface_tension, table.method) == ((2.0, 1.0), 0.0, "levelset")
    tables = {name: value for name, value in DROP.items() if name != "two_phase"}
    drop = tf.Case(**tables, two_phase=table)
    assert drop.own is table
    assert drop.method.type == "two_phase"
    assert drop.written()["two_phase"]["initial"].endswith("<lambda>")
    with pytest.raises(tf.BadInput, match=r"density = \[2.0\]: give two numbers > 0") as error:
        tf.TwoPhase(density=[2.0], viscosity=[0.1, -1.0])
    assert {line.split()[0] for line in str(error.value).splitlines()} == {"density", "viscosity", "initial:"}


@pytest.mark.slow
@pytest.mark.parametrize("tables", [{}, WENO, VOF])
def test_runs_on_blocks_give_the_same_bits_and_go_on_after_a_stop(tmp_path, tables):
    whole = tf.run(case(**tables), tmp_path / "whole").directory
    tf.run(case(time={"steps": 3}, **tables), tmp_path / "parts")
    parts = tf.run(case(machine={"blocks": [2, 1, 2]}, **tables), tmp_path / "parts", resume=True).directory
    for group in ("", "drop"):
        expected, result = (dataset(run / STORE, group).drop_attrs() for run in (whole, parts))
        xr.testing.assert_identical(expected, result)
    snapshots, series = dataset(whole / STORE), dataset(whole / STORE, "drop")
    assert snapshots["p"].attrs["long_name"] == "pressure"
    assert snapshots["f"].attrs["long_name"] == "volume fraction of phase 1"
    assert snapshots.attrs["density_2"] == 1.0
    np.testing.assert_allclose(series["volume"], series["volume"][0], rtol=1e-13)
    assert series["centre_z"][-1] < series["centre_z"][0]  # it falls
    lines = read_log(whole / LOG)
    assert abs(lines[-1]["volume_change"]) < 1e-13
    assert lines[-1]["surface_energy"] == pytest.approx(4 * np.pi * 0.15**2, rel=0.1)
    own = "crumbs" if tables == VOF else "shift"
    assert {"potential_energy", own, "iterations", "residual"} <= lines[-1].keys()
    assert [line["curvature_failed"] for line in lines] == [0] * len(lines)
    assert "limit" not in lines[0]
    assert {line["limit"] for line in lines[1:]} <= {"cfl", "diffusion", "cfl and diffusion", "capillary"}
    assert snapshots.flow.interface().euler_characteristic == 2


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("tables", [{}, WENO, VOF])
def test_its_steps_are_proved(tables):
    proof = estimate(case(grid={"cells": [6, 5, 8]}, machine={"blocks": [1, 1, 2]}, **tables)).prove()
    assert proof.reads > 0
    assert not proof.faults


def test_energies_of_the_log_can_be_added(tmp_path):
    """A drop falls without friction: what is gained is what is lost, in a box of volume 1/24."""
    falling = tf.Case(
        grid={"cells": [24, 1, 24], "lengths": [1.0, 1 / 24, 1.0]}, body={"gravity": [0.0, 0.0, -1.0]},
        two_phase={"density": [10.0, 1.0], "viscosity": [0.0, 0.0], "shapes": [
            {"phase": 1, "type": "sphere", "centre": [0.5, 1 / 48, 0.6], "radius": 0.2}]},
        boundaries={"x_min": "slip", "x_max": "slip", "y": "periodic", "z_min": "slip", "z_max": "slip"},
        monitor={"every": {"steps": 1}}, time={"end": 0.3},
    )  # fmt: skip
    first, *_, last = tf.run(falling, tmp_path / "run", progress=lambda _: None).log()
    gained = last["kinetic_energy"] - first["kinetic_energy"]
    lost = first["potential_energy"] - last["potential_energy"]
    assert gained / lost == pytest.approx(1.0, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("degrees", [0, 20, 45])
def test_a_tilted_tank_stays_at_rest(tmp_path, degrees):
    """V17: 1000 : 1, gravity oblique to the grid, 1000 steps."""
    s, c = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    tank = tf.Case(
        grid={"cells": [32, 1, 32], "lengths": [1.0, 1 / 32, 1.0]}, body={"gravity": [-s, 0.0, -c]},
        two_phase={"density": [1000.0, 1.0], "viscosity": [1e-3, 1.8e-5], "initial": f"(0.5 - x)*{s} + (0.5 - z)*{c}"},
        boundaries={"x_min": "slip", "x_max": "wall", "y": "periodic", "z_min": "wall", "z_max": "slip"},
        pressure={"tolerance": 1e-8}, time={"steps": 1000}, output={"precision": "double"},
    )  # fmt: skip
    last = tf.run(tank, tmp_path / "run", progress=lambda _: None).dataset().isel(time=-1)
    assert max(float(abs(last[name]).max()) for name in "uw") < 1e-9


def test_a_contact_angle_without_surface_tension_is_warned_of():
    tension = {"method": "vof", "surface_tension": 0}
    rows = estimate(case(two_phase=tension, boundaries={"z_min": {"type": "wall", "contact_angle": 60}})).rows()
    assert any("boundaries.z_min.contact_angle = 60: without surface tension" in str(row) for row in rows)
