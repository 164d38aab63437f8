"""Compare a run of the lid-driven cavity with the tables of Ghia, Ghia & Shin (1982), and draw its profiles over them.

    python examples/compare_with_ghia.py RUNDIR

Ends with exit code 2 where RUNDIR is not a run of that cavity, and 1 where the flow in it is not finite.
"""

import sys
from pathlib import Path

import numpy as np

import taskflow as tf
from taskflow.analysis.planes import plane_of
from taskflow.analysis.profiles import compare_profiles, profile, read_reference
from taskflow.output import dataset
from taskflow.plots.charts import plot_profiles

DATA = Path(__file__).parent / "data"
TABLES = {Re: [DATA / f"ghia1982_re{Re}_{quantity}.csv" for quantity in "uv"] for Re in (100, 400, 1000)}
CONVERGED = {100: (0.005, 0.009), 400: (0.001, 0.005), 1000: (0.005, 0.017)}  # the tables are off by that
OTHERS = {  # from finer computations than the tables'; those at Re = 1000 as they are widely quoted
    100: ("Marchi, Suero & Araki (2009)", {"u_min": -0.214042, "v_max": 0.1795728, "v_min": -0.2538030}),
    1000: ("Botella & Peyret (1998)", {"u_min": -0.3885698, "v_max": 0.3769447, "v_min": -0.5270771}),
}


def main(directory: str) -> None:
    """Print the comparison and the picture's path."""
    if not (Path(directory) / "case.toml").is_file():
        raise tf.BadInput(f"{directory} is not the directory of a run; give the one that `taskflow run -o` wrote")
    plane, Re = cavity(tf.Case.load(Path(directory) / "case.toml"))
    ds = dataset(Path(directory) / "fields.zarr")
    if not ds.sizes["time"]:
        raise tf.BadInput(f"{directory}: no snapshot is complete yet; wait for the run to end")
    last = ds.isel(time=-1)
    for name in sorted({"u", "v", "w", "p"} & set(map(str, ds.data_vars))):
        if not np.isfinite(last[name].values).all():
            raise tf.RunFailed(f"{directory}: {name} is not finite at time {float(last['time']):g}: the run diverged")

    print(f"Lid-driven cavity, Re = {Re}, at time {float(last['time']):g}, and Ghia, Ghia & Shin (1982)")
    differences = compare_profiles(directory, TABLES[Re], plane).values()
    for quantity, difference, converged in zip("uv", differences, CONVERGED[Re], strict=True):
        line = "vertical" if quantity == "u" else "horizontal"
        print(f"  {quantity} on the {line} centreline: largest difference {difference:.4f}", end="")
        print(f" (about {converged} for a converged solution)")

    author, others = OTHERS.get(Re, ("", {}))
    print(f"  {'extrema':10}{'here':>10}{'table':>10}   {author}")
    for name, sign in (("u_min", -1), ("v_max", 1), ("v_min", -1)):
        here = extremum(*profile(last, plane_of(last, plane), name[0]), sign)
        table = read_reference(TABLES[Re]["uv".index(name[0])])
        listed = max(table.values[table.used] * sign) * sign
        other = f"{others[name]:.5f}   ({100 * (here / others[name] - 1):+.2f} %)" if others else ""
        print(f"  {name:10}{here:10.5f}{listed:10.5f}   {other}")
    print("profiles  ", *plot_profiles(directory, TABLES[Re], plane))


def cavity(case: tf.Case) -> tuple[str, int]:
    """The normal of the cavity's plane, in which z_max is the lid, and the Reynolds number.

    Raises BadInput where the case is another flow.
    """
    lid = case.boundary("z_max")
    walls = all(case.boundary(face).type == "wall" for face in ("x_min", "x_max", "z_min", "z_max"))
    still = all(not any(case.boundary(face).velocity) for face in ("x_min", "x_max", "z_min"))
    flat = case.boundary("y_min").type != "wall" and case.boundary("y_max").type != "wall"
    unit = (case.grid.lengths[0], case.grid.lengths[2], case.grid.origin[0], case.grid.origin[2]) == (1, 1, 0, 0)
    if not (walls and still and flat and unit and lid.velocity == (1, 0, 0) and case.fluid.viscosity > 0):
        shape = "walls around the unit square in x and z, none in y, and z_max moving at [1, 0, 0]"
        raise tf.BadInput(f"{case.title!r} is not the cavity of the tables: {shape}")
    Re = 1 / case.fluid.viscosity
    table = min(TABLES, key=lambda known: abs(known - Re))
    if abs(Re / table - 1) > 1e-6:
        raise tf.BadInput(f"{case.title!r} has Re = {Re:g}; there are tables for {', '.join(map(str, TABLES))}")
    return "y", table


def extremum(places: np.ndarray, values: np.ndarray, sign: int) -> float:
    """The maximum (sign 1) or minimum (-1) of the parabola through the largest value and its neighbours."""
    top = int(np.clip(np.argmax(sign * values), 1, len(values) - 2))
    a, b, c = np.polyfit(places[top - 1 : top + 2] - places[top], values[top - 1 : top + 2], 2)
    return float(c - b * b / (4 * a))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except tf.TaskflowError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
