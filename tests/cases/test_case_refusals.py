"""Every mistake is told by key, value and remedy, in words of our own, all at once."""

import difflib
import pickle

import numpy as np
import pytest

from taskflow.cases import Case, FluidTable, GridTable, Heat, Output
from taskflow.cases.language import problems as case_problems
from taskflow.cases.language.problems import COMPARED, LISTED
from taskflow.cases.tables import method
from taskflow.common.derived_names import WORDS
from taskflow.common.errors import BadInput
from tests.cases.sound import cavity


def problems(tables):
    """The lines of the message with which a case is refused."""
    with pytest.raises(BadInput) as error:
        Case(**tables)
    lines = str(error.value).splitlines()
    assert lines
    assert all(line and "pydantic" not in line and "Input should" not in line for line in lines)
    return lines


VECTOR = "in the order x, y, z"
SPHERE = {"type": "sphere", "centre": [0.5, 0.5, 0.5], "radius": 0.1}
NO_HEAT = "this case has no temperature; add a [heat] table with diffusivity, or omit it"


@pytest.mark.parametrize(("changes", "line"), [
    # keys
    ({"fluid": {"viscosty": 1}}, "fluid.viscosty = 1: unknown key; did you mean fluid.viscosity?"),
    ({"grid__length": [1, 1, 1]}, "grid.length = [1, 1, 1]: unknown key; did you mean grid.lengths?"),
    ({"time__viscosity": 1}, "time.viscosity = 1: unknown key; did you mean fluid.viscosity?"),
    ({"viscosity": 1}, "viscosity = 1: unknown key; did you mean fluid.viscosity?"),
    ({"solver": "jacobi"}, 'solver = "jacobi": unknown key; did you mean pressure.solver?'),
    ({"time": {}, "end": 3.0}, "end = 3.0: unknown key; did you mean time.end?"),
    ({"output__evry": 1}, "output.evry = 1: unknown key; did you mean output.every?"),
    ({"boundaries__zmax": "wall"}, 'boundaries.zmax = "wall": unknown key; did you mean boundaries.z_max?'),
    ({"boundaries__z_max__velocty": 1},
     "boundaries.z_max.velocty = 1: unknown key; did you mean boundaries.z_max.velocity?"),
    ({"fluid__qqq": 1}, "fluid.qqq = 1: unknown key; known here: viscosity, scheme"),
    ({"self": 1}, "self = 1: unknown key; known here: title, units, method, grid, fluid, boundaries, openings, heat, "
                  "scalars, turbulence, body, forcing, obstacles, bodies, initial, time, motion, pressure, "
                  "expressions, output, statistics, spectra, probes, planes, surfaces, isosurfaces, particles, "
                  "pictures, monitor, checkpoint, machine"),
    ({"Grid": {"cells": [1]}}, "Grid = { cells = [1] }: unknown key; did you mean grid?"),
    # obstacles
    ({"obstacles": 5}, "obstacles = 5: give a list of tables, each under [[obstacles]]"),
    ({"obstacles": [5]}, "obstacles[1] = 5: give a table with type"),
    ({"obstacles": [SPHERE, {"radius": 1.0}]},
     'obstacles[2].type: missing; give one of box, sphere, cylinder, implicit, surface, heights'),
    ({"obstacles": [{**SPHERE, "radus": 1}]}, "obstacles[1].radus = 1: unknown key; did you mean radius?"),
    ({"obstacles": [{**SPHERE, "radius": -1}]}, "obstacles[1].radius = -1: give a number > 0"),
    ({"obstacles": [{**SPHERE, "low": [0, 0, 0]}]},
     'obstacles[1].low = [0, 0, 0]: type = "sphere" has no low; it has centre, radius'),
    ({"obstacles": [{"type": "box", "low": [0, 0, 0]}]},
     "obstacles[1].high: missing; give its highest corner, three numbers"),
    ({"obstacles": [{"type": "box", "low": [0, 1, 0], "high": [1, 1, 1]}]},
     "obstacles[1].high = [1, 1, 1]: low = [0.0, 1.0, 0.0] is not below it in every direction; give the larger"
     " numbers here"),
    ({"obstacles": [{**SPHERE, "temperature": 1.0}]}, f"obstacles[1].temperature = 1.0: {NO_HEAT}"),
    ({"obstacles": [{**SPHERE, "moment_about": [0, 0, 0]}]},
     "obstacles[1].moment_about = [0, 0, 0]: moments are of bodies with a name; give it one"),
    ({"obstacles": [{**SPHERE, "name": "a", "moment_about": [n, 0, 0]} for n in (0, 0, 1)]},
     'obstacles[3].moment_about = [1.0, 0.0, 0.0]: another part of "a" has another point; give the parts of one name'
     " one point"),
    ({"obstacles": [{"type": "implicit", "inside": "q"}]},
     "obstacles[1].inside = \"q\": 'q' is not allowed: there is no q; known are x, y, z, pi, e, sin, cos, tan, exp,"
     " log, sqrt, sinh, cosh, tanh, abs, minimum, maximum, where"),
    ({"obstacles": [{"type": "heights", "file": "a.npy", "extent": [0, 1, 1, 0]}]},
     "obstacles[1].extent = [0, 1, 1, 0]: give four numbers that increase: x from, x to, y from, y to"),
    ({"pressure": {"solver": "fft", "forcing": 3}},
     "pressure.forcing = 3: this case has no [[obstacles]]; omit it"),
    ({"pressure": {"forcing": 3}, "obstacles": [SPHERE]},
     'pressure.forcing = 3: only solver = "fft" needs it around bodies; omit it'),
    ({"obstacles": [{**SPHERE, "name": f"ball {n}"} for n in range(101)]},
     'obstacles = "101 names": the forces on at most 100 bodies are recorded; omit names, or give several parts'
     " one name"),
    # types and signs
    ({"grid": 5}, "grid = 5: give a table with cells and lengths"),
    ({"grid": [{"cells": 1}]}, "grid = [{ cells = 1 }]: give a table with cells and lengths"),
    ({"time__end": "60"}, 'time.end = "60": give a number > 0'),
    ({"time__end": True}, "time.end = true: give a number > 0"),
    ({"time__end": 0}, "time.end = 0: give a number > 0"),
    ({"time__end": float("inf")}, "time.end = inf: give a finite number > 0"),
    ({"fluid__viscosity": -1.0}, "fluid.viscosity = -1.0: give a number >= 0"),
    ({"fluid__viscosity": float("nan")}, "fluid.viscosity = nan: give a finite number >= 0"),
    ({"fluid__viscosity": [1]}, "fluid.viscosity = [1]: give a number >= 0"),
    ({"fluid__viscosity": None}, "fluid.viscosity = None: give a number >= 0"),
    ({"grid__cells": [16, 4]}, "grid.cells = [16, 4]: give three integers >= 1, in the order x, y, z"),
    ({"grid__cells": 16}, "grid.cells = 16: give three integers >= 1, in the order x, y, z"),
    ({"grid__cells": [16, 0, 16]},
     "grid.cells = [16, 0, 16]: give three integers >= 1, in the order x, y, z (y: give an integer >= 1)"),
    ({"grid__cells": [16, 4.0, 16]},
     "grid.cells = [16, 4.0, 16]: give three integers >= 1, in the order x, y, z (y: give an integer >= 1)"),
    ({"grid__cells": [2**40, 4, 16]},
     f"grid.cells = [{2**40}, 4, 16]: give three integers >= 1, {VECTOR} (x: give at most 2147483647)"),
    ({"grid__lengths": [1, 0, 1]},
     "grid.lengths = [1, 0, 1]: give three numbers > 0, in the order x, y, z (y: give a number > 0)"),
    ({"grid__lengths": [1, 1e-200, 1]}, "grid.lengths = [1, 1e-200, 1]: give three numbers > 0, in the order x, y, z "
                                        "(y: give a number between 1e-100 and 1e+100)"),
    ({"initial": {"noise": {"rms": 1}}},
     "initial.noise.wavenumber: missing; give the wavenumber of the spectrum's peak, a number > 0"),
    ({"initial": {"noise": {"rms": 0, "wavenumber": 9}}}, "initial.noise.rms = 0: give a number > 0"),
    ({"initial": {"noise": {"rms": 1, "wavenumber": 9, "seed": 0}}},
     "initial.noise.seed = 0: give an integer >= 1"),
    ({"initial": {"noise": {"rms": 1, "wavenumber": 9, "spectrum": "karman"}}},
     'initial.noise.spectrum = "karman": give "passot-pouquet" or "von-karman"; did you mean "von-karman"?'),
    ({"initial": {"noise": {"rms": 1, "wavenumber": 3}}},
     "initial.noise.wavenumber = 3.0: the domain and its cells have waves of 3.14159 to 50.2655; give one of these"),
    ({"initial": {"noise": {"rms": 1, "wavenumber": 51}}},
     "initial.noise.wavenumber = 51.0: the domain and its cells have waves of 3.14159 to 50.2655; give one of these"),
    ({"initial": {"noise": {"rms": 1, "wavenumber": 2000}}, "grid__cells": [4096, 4, 4096]},
     "initial.noise.wavenumber = 2000.0: its spectrum has 6.49e+06 waves in this domain; give a smaller one, for at "
     "most 2097152"),
    ({"initial": {"noise": {"rms": 1, "wavenumber": 9}}, "grid__cells": [16, 4, 4]},
     'initial.noise = { rms = 1.0, wavenumber = 9.0, spectrum = "passot-pouquet...: it needs two directions of more '
     "than 4 cells; give more, or omit it"),
    ({"body": {"bulk_velocity": {}}}, "body.bulk_velocity.x: missing; give x, y or z, the mean velocity along it"),
    ({"body": {"bulk_velocity": 1.0}}, "body.bulk_velocity = 1.0: give a table"),
    ({"body": {"bulk_velocity": {"x": 1.0}}},
     'body.bulk_velocity.x = 1.0: what flows along x has to return; give boundaries.x = "periodic", or omit '
     "it"),
    ({"body": {"bulk_velocity": {"y": 1.0}, "force": [0, 2, 0]}},
     "body.bulk_velocity.y = 1.0: it takes the force that it needs; give 0 for body.force along y (now 2)"),
    ({"body": {"bulk_velocity": {"y": 1}, "geostrophic_wind": [0, 1, 0], "rotation": [0, 0, 1]}},
     "body.geostrophic_wind = [0.0, 1.0, 0.0]: body.bulk_velocity drives the flow, too; omit one of them"),
    ({"body": {"geostrophic_wind": [1, 0, 0]}},
     "body.geostrophic_wind = [1.0, 0.0, 0.0]: without rotation no Coriolis force balances it; give body.rotation, or "
     "omit it"),
    ({"body": {"rotation": 1.0}}, "body.rotation = 1.0: give three numbers, in the order x, y, z"),
    ({"heat": {"diffusivity": 1, "background_gradient": 2}},
     "heat.background_gradient = 2: give three numbers, in the order x, y, z"),
    ({"body": {"force": [1, "a", 0]}},
     'body.force = [1, "a", 0]: give three numbers or expressions, in the order x, y, z (y: \'a\' is not allowed: there'
     " is no a; known are x, y, z, t, pi, e, sin, cos, tan, exp, log, sqrt, sinh, cosh, tanh, abs, minimum, maximum,"
     " where)"),
    ({"title": ""}, 'title = "": give one line of text'),
    ({"title": "a\nb"}, 'title = "a\\nb": give one line of text'),
    ({"machine__device": "gpuu"},
     'machine.device = "gpuu": give "auto", "cpu" or "gpu"; did you mean "gpu"?'),
    ({"machine__blocks": [1, 0, 1]}, 'machine.blocks = [1, 0, 1]: give three integers >= 1, in the order x, y, z '
                                     '(y: give an integer >= 1); or "auto"'),
    ({"machine__channel": "mpi"},
     'machine.channel = "mpi": give "auto", "local", "peer", "ucx" or "actor"'),
    ({"machine__debug": 1}, "machine.debug = 1: give true or false"),
    ({"machine__threads": 0}, 'machine.threads = 0: give an integer >= 1; or "auto"'),
    ({"output__precision": 64}, 'output.precision = 64: give "single" or "double"'),
    ({"output__fields": []}, 'output.fields = []: give a list of names, as ["u", "p"]'),
    ({"output__fields": "u"}, 'output.fields = "u": give a list of names, as ["u", "p"]'),
    ({"output__fields": ["u", "u"]}, 'output.fields = ["u", "u"]: name u once'),
    ({"output__every": 0}, "output.every = 0: give a number > 0"),
    ({"output__every": {"steps": 0}}, "output.every = { steps = 0 }: steps: give an integer >= 1"),
    ({"output__every": {"minutes": 5}},
     "output.every = { minutes = 5 }: minutes are for checkpoints; give a number (simulation time) or { steps = n }"),
    ({"output__every": "often"},
     'output.every = "often": give a number > 0 (simulation time), { steps = n } or { time = t }'),
    # boundaries
    ({"boundaries__y": ..., "boundaries__y_min": "periodic", "boundaries__y_max": "wall"},
     'boundaries.y_min = "periodic": both sides or none; give y = "periodic" instead of y_min and y_max'),
    ({"boundaries__y": ..., "boundaries__y_max": {"type": "periodic"}},
     'boundaries.y_max = { type = "periodic" }: both sides or none; give y = "periodic" instead of y_min and y_max'),
    ({"boundaries__y": "slip"},
     'boundaries.y = "slip": a pair of sides can only be "periodic"; give each side its own type'),
    ({"boundaries__y": ...},
     'boundaries.y_min: missing; and so is y_max; give each a type, or y = "periodic" for the pair'),
    ({"boundaries__x_min": ...},
     'boundaries.x_min: missing; give it a type, "wall", "slip", "symmetry", "inflow", "outflow" or "vent"'),
    ({"boundaries__y_min": "wall"}, 'boundaries.y_min = "wall": y sets both sides; omit y or y_min'),
    ({"boundaries__x_min": "wal"},
     'boundaries.x_min = "wal": give "wall", "slip", "symmetry", "inflow", "outflow" or "vent"; did you mean "wall"?'),
    ({"boundaries__x_min": {"velocity": [0, 0, 1]}},
     'boundaries.x_min.type: missing; give it a type, "wall", "slip", "symmetry", "inflow", "outflow" or "vent"'),
    ({"boundaries__x_min": 3}, "boundaries.x_min = 3: give a table with type"),
    ({"boundaries__z_max__velocity": [1, 0, 0.5]},
     "boundaries.z_max.velocity = [1.0, 0.0, 0.5]: "
     "a wall moves in its own plane only; give 0 as its z component, or an inflow"),
    ({"boundaries__z_max__velocity": ["t", 0, "0*t"]},
     'boundaries.z_max.velocity = ["t", 0.0, "0*t"]: '
     "a wall moves in its own plane only; give 0 as its z component, or an inflow"),
    ({"boundaries__x_min": {"type": "slip", "velocity": [0, 1, 0]}},
     "boundaries.x_min.velocity = [0, 1, 0]: a slip boundary has none; "
     'omit it, or give type = "wall" or "inflow"'),
    ({"grid__cells": [16, 1, 16], "boundaries__y": ..., "boundaries__y_min": "slip", "boundaries__y_max": "wall"},
     'boundaries.y_max = { type = "wall", velocity = [0.0, 0.0, 0.0] }: one cell in y has no room for a wall; '
     'give y = "periodic" for 2D, or more cells'),
    # combinations
    ({"time": {}}, "time.end: missing; give the time at which to stop, or time.steps"),
    ({"time__steps": 3}, "time.steps = 3: end is given as well; give one of them"),
    ({"time__cfl": 0.3, "time__step": 0.1}, "time.step = 0.1: cfl is given as well; give one of them"),
    ({"machine__blocks": [1, 1, 17]},
     "machine.blocks = [1, 1, 17]: 17 blocks in z, but 16 planes of cells; give at most 16"),
    ({"machine__blocks": [1, 1, 2], "machine__workers": 3},
     "machine.workers = 3: more processes than the 2 blocks; give at most as many"),
    ({"output__every": 1e-9},
     "output.every = { time = 1e-09 }: this is 1e+09 snapshots; give a longer interval, for at most 1000000"),
    ({"output__fields": ["u", "T"]},
     'output.fields = ["u", "T"]: this case has no field "T"; it has u, v, w, p, '
     f'{", ".join(WORDS)}; T needs a [heat] table'),
    ({"output__fields": ["nu_t"]},
     'output.fields = ["nu_t"]: this case has no field "nu_t"; it has u, v, w, p, '
     f'{", ".join(WORDS)}; nu_t needs a [turbulence] table'),
    ({"fluid__reynolds": 100}, "fluid.reynolds = 100: unknown key; a Reynolds number follows from fluid.viscosity:"
     " give speed * length / Re there"),
    ({"fluid__scheme": "weno"}, 'fluid.scheme = "weno": give "central" or "quick"'),
    ({"turbulence": {}}, 'turbulence.model: missing; give "smagorinsky", "wale" or "vreman"'),
    ({"turbulence": {"model": "smagorinski"}},
     'turbulence.model = "smagorinski": give "smagorinsky", "wale" or "vreman"; did you mean "smagorinsky"?'),
    ({"turbulence": {"model": "k-epsilon"}}, 'turbulence.model = "k-epsilon": give "smagorinsky", "wale" or "vreman"'),
    ({"turbulence": {"model": "wale", "constant": -0.1}}, "turbulence.constant = -0.1: give a number >= 0"),
    ({"turbulence": {"model": "wale", "prandtl": 0}}, "turbulence.prandtl = 0: give a number > 0"),
    ({"turbulence": {"model": "wale", "damping": "van-driest"}},
     'turbulence.damping = "van-driest": its viscosity vanishes at walls of itself; omit it'),
    ({"turbulence": {"model": "smagorinsky", "damping": "piomelli"}},
     'turbulence.damping = "piomelli": give "van-driest" or "none"'),
    ({"turbulence": {"model": "vreman", "constnt": 0.1}},
     "turbulence.constnt = 0.1: unknown key; did you mean turbulence.constant?"),
    ({"turbulence": {"model": "vreman"}, "boundaries__z_max__roughness": -0.1},
     "boundaries.z_max.roughness = -0.1: give a number > 0"),
    ({"turbulence": {"model": "vreman"}, "boundaries__z_max__roughness": 0.04},
     "boundaries.z_max.roughness = 0.04: the first cell is not as far from the wall; give at most 0.03125,"
     " or fewer cells in z"),
    ({"boundaries__z_max__roughness": 0.01}, "boundaries.z_max.roughness = 0.01:"
     " the law of the wall is one of turbulent flow; add a [turbulence] table"),
    ({"boundaries__z_min": {"type": "slip", "roughness": 0.01}}, "boundaries.z_min.roughness = 0.01:"
     ' a slip boundary has none; omit it, or give type = "wall"'),
    ({"output__fields": ["enstrophy"]},
     f'output.fields = ["enstrophy"]: this case has no field "enstrophy"; it has u, v, w, p, {", ".join(WORDS)}'),
    ({"boundaries__x_min": {"type": "wall", "temperature": 1}},
     f"boundaries.x_min.temperature = 1.0: {NO_HEAT}"),
    ({"boundaries__x_min": {"type": "wall", "heat_flux": 0}},
     f"boundaries.x_min.heat_flux = 0.0: {NO_HEAT}"),
    ({"initial__temperature": "x"}, f'initial.temperature = "x": {NO_HEAT}'),
    ({"heat": {"diffusivity": 1}, "boundaries__x_min": {"type": "wall", "heat_flux": 1, "temperature": 2}},
     "boundaries.x_min.heat_flux = 1: temperature is given as well; give one of them"),
    ({"heat": {"diffusivity": 0}, "boundaries__x_min": {"type": "wall", "heat_flux": 1}},
     "boundaries.x_min.heat_flux = 1.0: no heat flows without heat.diffusivity; give one"),
    ({"heat": {}}, "heat.diffusivity: missing; give the thermal diffusivity, a number >= 0"),
    ({"heat": {"diffusivity": 1}, "boundaries__x_max": {"type": "slip", "temperature": 2}},
     'boundaries.x_max.temperature = 2: a slip boundary has none; omit it, or give type = "wall" or "inflow" or '
     '"vent"'),
    # expressions
    ({"initial__velocity": ["sin(x", 0, 0]},
     f'initial.velocity = ["sin(x", 0, 0]: give three numbers or expressions, {VECTOR} '
     "(x: 'sin(x' is not an expression: '(' was never closed)"),
    ({"initial__velocity": [0, None, 0]},
     f"initial.velocity = [0, None, 0]: give three numbers or expressions, {VECTOR} "
     "(y: give a finite number or an expression in x, y, z)"),
    # later versions
    ({"time__scheme": "rk4"}, 'time.scheme = "rk4": give "ab2" or "rk3"; did you mean "rk3"?'),
    ({"pressure__solver": "mg"}, 'pressure.solver = "mg": give "auto", "jacobi", "multigrid", "fft" or "cg"'),
    ({"pressure": {"solver": "multigrid"}, "grid__cells": [3, 1, 3]},
     'pressure.solver = "multigrid": 3 x 1 x 3 cells are too few to coarsen; give "fft" or "jacobi"'),
    ({"pressure": {"solver": "fft", "iterations": 9}},
     'pressure.iterations = 9: solver = "fft" is direct, and exact to rounding; omit it'),
    ({"pressure": {"solver": "fft", "tolerance": 1e-3}},
     'pressure.tolerance = 0.001: solver = "fft" is direct, and exact to rounding; omit it'),
    ({"pressure": {"solver": "fft", "max_iterations": 9}},
     'pressure.max_iterations = 9: solver = "fft" is direct, and exact to rounding; omit it'),
    ({"pressure": {"iterations": 3, "max_iterations": 9}},
     "pressure.max_iterations = 9: it bounds the iterations to a tolerance; give one of iterations and max_iterations"),
    ({"pressure": {"solver": "jacobi", "cycle": "w"}},
     'pressure.cycle = "w": an option of multigrid; give solver = "multigrid", or omit it'),
    ({"pressure": {"outer": "cg"}},
     'pressure.outer = "cg": an option of multigrid; give solver = "multigrid", or omit it'),
    ({"pressure": {"solver": "fft", "levels": 3}},
     'pressure.levels = 3: an option of multigrid; give solver = "multigrid", or omit it'),
    ({"pressure": {"solver": "multigrid", "amalgamate": 0}},
     "pressure.amalgamate = 0: give an integer >= 1"),
    ({"pressure": {"precision": "single"}},
     'pressure.precision = "single": an option of multigrid; give solver = "multigrid", or omit it'),
    ({"pressure": {"solver": "jacobi", "precision": "auto"}},
     'pressure.precision = "auto": an option of multigrid; give solver = "multigrid", or omit it'),
    ({"pressure": {"solver": "multigrid", "precision": "double"}, "machine__precision": "single"},
     'pressure.precision = "double": machine.precision is "single", and corrections cannot be finer; omit it'),
    ({"pressure": {"solver": "multigrid", "smoother": "line"}},
     'pressure.smoother = "line": give "red-black" or "jacobi"'),
    ({"pressure": {"solver": "jacobi", "tolerance": 1e-3, "max_iterations": 1}},
     "pressure.max_iterations = 1: Jacobi's sweeps to a tolerance come in pairs; give 2 or more"),
    ({"pressure__tolerance": 1e-14}, "pressure.tolerance = 1e-14:"
     " residuals are relative, and rounded in double precision; give 1e-13 or more, below 1"),
    ({"pressure__tolerance": 1e-6, "machine__precision": "single"}, "pressure.tolerance = 1e-06:"
     " residuals are relative, and rounded in single precision; give 1e-05 or more, below 1"),
    ({"pressure__tolerance": 1.0}, "pressure.tolerance = 1.0:"
     " residuals are relative, and rounded in double precision; give 1e-13 or more, below 1"),
    ({"checkpoint": {"every": 0}}, "checkpoint.every = 0: give a number > 0"),
    ({"checkpoint": {"every": {"hours": 1}}}, "checkpoint.every = { hours = 1 }: give a number > 0 (simulation time),"
     " { minutes = m }, { steps = n } or { time = t }"),
    ({"checkpoint": {"every": {"minutes": 0}}}, "checkpoint.every = { minutes = 0 }: minutes: give a number > 0"),
    ({"checkpoint": {"keep": -1}}, "checkpoint.keep = -1: give an integer >= 0"),
    ({"checkpoint": {"every": 3, "keep": 0}},
     "checkpoint.keep = 0: then none is written; give 1 or more, or omit checkpoint.every"),
])
def test_a_mistake_is_told_in_one_line(changes, line):
    assert problems(cavity(**changes)) == [line]


@pytest.mark.parametrize(
    "value", [np.zeros(2), np.arange(3) == 1, [[]], 10**5000, {"type": np.arange(2)}, {1: 2}], ids=type
)
@pytest.mark.parametrize("key", [
    "title", "grid", "grid__cells", "fluid__viscosity", "boundaries__y", "boundaries__x_min", "boundaries__z_max__type",
    "output__every", "output__fields", "machine__blocks", "initial__velocity", "time__scheme",
])
def test_odd_values_are_bad_input(key, value):
    problems(cavity(**{key: value}))


def test_iterations_and_tolerance():
    assert problems(cavity(pressure={"iterations": 30, "tolerance": 1e-6})) == [
        "pressure.tolerance = 1e-06: iterations is given as well; give one of them",
    ]


def test_a_misspelt_key_is_not_missed_as_well():
    assert problems(cavity(time={"stps": 3})) == [
        "time.stps = 3: unknown key; did you mean time.steps?"
    ]
    assert problems(cavity(boundaries__x_min=..., boundaries__xmin="wall")) == [
        'boundaries.xmin = "wall": unknown key; did you mean boundaries.x_min?'
    ]
    assert len(problems(cavity(grid=..., gird=cavity()["grid"]))) == 1


def test_all_problems_at_once():
    lines = problems(cavity(
        grid__cells=[0, 1, 1], fluid__viscosty=1, fluid__viscosity=..., boundaries__y_min="wall",
        boundaries__z_max__velocity=[0, 0, 1], time__steps=0, output__fields=["T"], machine__device="tpu",
        pressure__solver="magic",
    ))
    assert [line.partition(" ")[0].rstrip(":") for line in lines] == [
        "grid.cells", "fluid.viscosty", "boundaries.z_max.velocity", "boundaries.y_min", "time.steps", "time.steps",
        "pressure.solver", "machine.device", "output.fields",
    ]


@pytest.mark.parametrize("unknown", [
    {f"grib{n}": {"cells": n} for n in range(2000)},
    {"time": {"end": 1.0, **{f"stap{n}": n for n in range(2000)}}},
    {"boundaries": {"x_min": {"type": "wall", **{f"velocty{n}": n for n in range(2000)}}}},
    {"obstacles": [{f"centr{n}": n} for n in range(2000)]},
    {"two_phase": {f"densty{n}": n for n in range(2000)}},
    {"method": {"type": "artificial-compressibility"},
     "grid": {"shape": "box", **{f"cels{n}": n for n in range(2000)}}},
], ids=["tables", "keys", "side", "list", "two_phase", "charts"])  # fmt: skip
def test_few_of_many_problems_are_printed_and_compared(monkeypatch, unknown):
    compared = []
    close = difflib.get_close_matches
    for module in (case_problems, method):
        monkeypatch.setattr(module, "get_close_matches", lambda *a, **k: compared.append(a) or close(*a, **k))
    with pytest.raises(BadInput) as error:
        Case(**{**cavity(), **unknown})
    *lines, last = str(error.value).splitlines()
    assert len(lines) == LISTED
    assert any("did you mean" in line for line in lines)
    assert last == f"and {len(error.value.problems) - LISTED} more problems, listed once these are corrected"
    assert len(error.value.problems) >= 2000, "a program gets all of them"
    assert len(compared) <= 4 * COMPARED


def test_nothing_given():
    assert [line.split(":")[0] for line in problems({})] == ["grid", "fluid", "boundaries", "time"]
    assert len(problems({"grid": {}, "fluid": {}, "boundaries": {}, "time": {}})) == 7


def test_a_table_alone_is_as_strict():
    with pytest.raises(BadInput, match=r"(?m)^cels = 3: unknown key; did you mean cells\?"):
        GridTable(cels=3)
    with pytest.raises(BadInput, match=r"^viscosity = -1: give a number >= 0$"):
        FluidTable(viscosity=-1)
    with pytest.raises(BadInput, match="diffusivity: missing"):
        Heat()
    with pytest.raises(BadInput, match="fields = 3"):
        Output(fields=3)


def test_the_error_travels():
    with pytest.raises(BadInput) as error:
        Case()
    copy = pickle.loads(pickle.dumps(error.value))
    assert isinstance(copy, BadInput)
    assert str(copy) == str(error.value)
