"""simpleFoam of OpenFOAM on a case of ours: its files, a run of it, and what it says of its iterations."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from examples.papers.luo_2014.polymesh import PolyMesh, vectors, write_foam
from taskflow.cases import Case
from taskflow.cases.tables.charts.sides import ChartSides
from taskflow.cases.tables.initial import ArrayValues
from taskflow.common.errors import BadInput, RunFailed
from taskflow.common.hexahedra import centres
from taskflow.systems.artificial_compressibility.boundaries import velocities
from taskflow.systems.artificial_compressibility.domain import ChartDomain

DEBIAN = Path("/usr/share/openfoam")  # where its package has what WM_PROJECT_DIR names elsewhere
REMEDY = "install OpenFOAM (on Debian: apt install openfoam), or source its etc/bashrc first"
MPIRUN = ("mpirun", "--allow-run-as-root", "--mca", "mpi_yield_when_idle", "1", "-np")
UNITS = {"U": "[0 1 -1 0 0 0 0]", "p": "[0 2 -2 0 0 0 0]"}
SCHEMES = {
    "ddtSchemes": {"default": "steadyState"},
    "gradSchemes": {"default": "Gauss linear"},
    "divSchemes": {
        "div(phi,U)": "bounded Gauss linearUpwind grad(U)",
        "div((nuEff*dev2(T(grad(U)))))": "Gauss linear",
    },
    "laplacianSchemes": {"default": "Gauss linear corrected"},
    "interpolationSchemes": {"default": "linear"},
    "snGradSchemes": {"default": "corrected"},
}  # fmt: skip
SMALL = 1e-12  # residuals of linear equations below which nothing is iterated
SOLVERS = {
    "p": {"solver": "GAMG", "smoother": "GaussSeidel", "tolerance": SMALL, "relTol": 0.1},
    "U": {"solver": "smoothSolver", "smoother": "symGaussSeidel", "tolerance": SMALL, "relTol": 0.1},
}
RELAXED = 0.9  # U, by this factor
LAST = 12  # lines of a log that tell why a program failed
BEGUN, ENDED, TOTAL = "Starting time loop", "SIMPLE solution converged", "Sum of forces"
BUILD, NUMBER = re.compile(r"Build\s*:\s*(.+)"), re.compile(r"Time = (\d+)$")
PROCESSOR, FORCE = re.compile(r"ExecutionTime = (\S+) s"), re.compile(r"\s*Total\s*:\s*\((\S+)")


@dataclass
class OuterIterate:
    """An outer iteration: its `number`, seconds of clock from the first one on until it is done, and the force along x
    on all walls. `processor` are seconds that the program says it has used; `products` those of all iterations so far.
    """

    number: int
    seconds: float
    force: float = np.nan
    processor: float | None = None
    products: int | None = None


@dataclass(frozen=True)
class Marched:
    """A run: its iterations, whether it came to its tolerance, and seconds of clock of all of the process."""

    iterates: Sequence[OuterIterate]
    converged: bool
    whole: float
    build: str = ""


def environment(cores: int) -> Mapping[str, str]:
    """The variables of a process that runs simpleFoam. Raises BadInput where it is not installed, or what it needs to
    run on several cores.
    """
    for program in ("simpleFoam", "decomposePar", "mpirun")[: 3 if cores > 1 else 1]:
        if shutil.which(program) is None:
            raise BadInput(f"{program}: there is no such program on PATH; {REMEDY}")
    variables = {"WM_PROJECT_DIR": str(DEBIAN), **os.environ}
    if not (Path(variables["WM_PROJECT_DIR"]) / "etc" / "controlDict").is_file():
        raise BadInput(f"WM_PROJECT_DIR = {variables['WM_PROJECT_DIR']}: it has no etc/controlDict; {REMEDY}")
    return variables


def write_case(case: Case, folder: Path, cores: int, most: int) -> None:
    """Write a case for simpleFoam into a folder that is there: the same vertices, viscosity, first velocity and sides,
    SIMPLEC to the tolerance of the case or `most` iterations, cut into `cores` parts along y.
    """
    domain = ChartDomain(case.table("grid"))
    grid, boundaries = domain.grid, case.table("boundaries")
    conditions = {name: _condition(name, boundaries, domain) for name in grid.sides}
    PolyMesh.of(grid).write(folder / "constant" / "polyMesh", {name: kind for name, (kind, _) in conditions.items()})
    points = np.concatenate([centres(chart.vertices).reshape(3, -1) for chart in grid.charts], axis=1)
    # A file has no arrays.
    velocity = [part(*points) for part in case.initial.velocity if not isinstance(part, ArrayValues)]
    first = {"U": f"nonuniform List<vector>\n{vectors(np.stack(velocity, axis=1))}", "p": "uniform 0"}
    (folder / "0").mkdir()
    for name, kind in (("U", "volVectorField"), ("p", "volScalarField")):
        patches = {side: fields[name] for side, (_, fields) in conditions.items()}
        tables = {"dimensions": UNITS[name], "internalField": first[name], "boundaryField": patches}
        write_foam(folder / "0" / name, kind, _text(tables))
    walls = [name for name, side in boundaries.sides.items() if side.type == "wall"]
    (folder / "system").mkdir()
    for file, tables in _dictionaries(case, walls, cores, most).items():
        write_foam(folder / file, "dictionary", _text(tables))


def _condition(name: str, boundaries: ChartSides, domain: ChartDomain) -> tuple[str, dict[str, Any]]:
    """The kind of the patch of a side, and what holds there for U and for p."""
    still, side = {"type": "zeroGradient"}, boundaries.sides[name]
    if side.type in ("wall", "inflow"):
        parts = [values.reshape(3, -1).T for _, values in velocities(name, boundaries, domain)]
        values = f"nonuniform List<vector>\n{vectors(np.concatenate(parts))}"
        kind = "wall" if side.type == "wall" else "patch"
        return kind, {"U": {"type": "fixedValue", "value": values}, "p": still}
    if side.type == "outflow":
        return "patch", {"U": still, "p": {"type": "fixedValue", "value": f"uniform {side.pressure}"}}
    if side.type == "far-field":
        stream = f"uniform ({' '.join(map(str, side.numbers))})"
        far = {"type": "freestreamPressure", "freestreamValue": f"uniform {side.pressure}"}
        return "patch", {"U": {"type": "freestreamVelocity", "freestreamValue": stream}, "p": far}
    if domain.planar and all(patch.axis == 2 for patch in domain.grid.sides[name]):
        return "empty", {"U": {"type": "empty"}, "p": {"type": "empty"}}
    return "patch", {"U": {"type": "slip"}, "p": still}


def _dictionaries(case: Case, walls: Sequence[str], cores: int, most: int) -> dict[str, dict[str, Any]]:
    """The dictionaries by their files."""
    forces = {
        "type": "forces", "libs": "(forces)", "patches": f"({' '.join(walls)})", "rho": "rhoInf", "rhoInf": 1,
        "CofR": "(0 0 0)", "log": "yes", "writeControl": "timeStep", "writeInterval": 1,
    }  # fmt: skip
    control = {
        "application": "simpleFoam", "startFrom": "startTime", "startTime": 0, "stopAt": "endTime", "endTime": most,
        "deltaT": 1, "writeControl": "timeStep", "writeInterval": most, "runTimeModifiable": "no",
        "functions": {"forces": forces},
    }  # fmt: skip
    to = case.table("time").steady
    cuts = f"(1 {cores} 1)"  # cut along x, the section's residuals on 128 x 40 cells stay above 1e-8
    return {
        "system/controlDict": control,
        "system/fvSchemes": SCHEMES,
        "system/fvSolution": {
            "solvers": SOLVERS,
            "SIMPLE": {"consistent": "yes", "residualControl": {"p": to, "U": to}},
            "relaxationFactors": {"equations": {"U": RELAXED}},
        },
        "system/decomposeParDict": {
            "numberOfSubdomains": cores, "method": "simple", "simpleCoeffs": {"n": cuts, "delta": 0.001},
        },
        "constant/transportProperties": {"transportModel": "Newtonian", "nu": case.fluid.viscosity},
        "constant/turbulenceProperties": {"simulationType": "laminar"},
    }  # fmt: skip


def _text(tables: Mapping[str, Any]) -> str:
    """A dictionary of OpenFOAM."""
    items = tables.items()
    return "\n".join(f"{key} {{ {_text(one)} }}" if isinstance(one, Mapping) else f"{key} {one};" for key, one in items)


def march(folder: Path, cores: int, variables: Mapping[str, str]) -> Marched:
    """Run simpleFoam in the folder of a case. Raises RunFailed where it fails, with the last lines of its log."""
    command = ["simpleFoam", "-case", str(folder)]
    if cores > 1:
        _log(["decomposePar", "-force", "-case", str(folder)], variables)
        command = [*MPIRUN, str(cores), *command, "-parallel"]
    start = time.perf_counter()
    return read(_log(command, variables), start)


def _log(command: Sequence[str], variables: Mapping[str, str]) -> list[tuple[float, str]]:
    """The lines that a program writes, each with the second of clock at which it came."""
    with subprocess.Popen(
        command, env=dict(variables), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:  # fmt: skip
        lines = [(time.perf_counter(), line.rstrip()) for line in process.stdout or ()]
    if process.returncode:
        last = [line for _, line in lines if line][-LAST:]
        raise RunFailed("\n".join([f"{command[0]} failed with exit code {process.returncode}:", *last]))
    return lines


def read(lines: Sequence[tuple[float, str]], start: float) -> Marched:
    """The run of a log, of whose lines the seconds of clock are known, and that of the process's start."""
    iterates = list[OuterIterate]()
    number, begun, total, build = 0, start, False, ""
    for at, line in lines:
        total = total or line.strip() == TOTAL  # the next line is of its forces
        if line == BEGUN:
            begun = at
        elif match := BUILD.match(line):
            build = match[1]
        elif match := NUMBER.match(line):
            number = int(match[1])
        elif match := PROCESSOR.match(line):
            iterates.append(OuterIterate(number, at - begun, processor=float(match[1])))
        elif total and (match := FORCE.match(line)):
            iterates[-1].force, total = float(match[1]), False
    converged = any(line.startswith(ENDED) for _, line in lines)
    return Marched(iterates, converged, lines[-1][0] - start, build)
