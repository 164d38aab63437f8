"""The sphere at Re = 300, where vortices leave it, on 24 cells per diameter in a domain 15 diameters wide.

    python -m tests.validation.sphere_shedding FOLDER [TREATMENT ...]

The street begins in a run on 16 cells per diameter, in FOLDER/coarse, out of a disturbance behind the sphere; it goes
on in runs on 24, in FOLDER/flagged and FOLDER/immersed. A coarse run that is there is not computed again.
"""

from __future__ import annotations

import sys
from pathlib import Path

import taskflow as tf
from tests.validation.refining import velocity
from tests.validation.sphere import report

EXAMPLE = Path(__file__).parents[2] / "examples" / "sphere.toml"
COARSE_END, FINE_END, SINCE = 150.0, 60.0, 20.0
DISTURBANCE = "0.3 * exp(-4*((x - 1)**2 + y**2 + z**2))"


def shedding(cells: int, end: float, treatment: str, *settings: str) -> tf.Case:
    """Re = 300 on so many cells per diameter: 7.5 diameters before the sphere, 9 behind it and 15 wide."""
    sizes = 16.5, 15.0, 15.0
    return tf.Case.load(EXAMPLE, [
        'title="Sphere, Re = 300"', f"grid.cells={[round(size * cells) for size in sizes]}",
        "grid.origin=[-7.5, -7.5, -7.5]", f"grid.lengths={list(sizes)}", "fluid.viscosity=0.0033333333",
        f"initial.velocity=[1, 0, '{DISTURBANCE}']", f"time.end={end}", "time.steady=1e-9", "time.cfl=1.6",
        f"bodies.treatment='{treatment}'", f"output.every={end}", "checkpoint.keep=0", "machine.precision=single",
        *settings,
    ])  # fmt: skip


def main(folder: Path, *treatments: str) -> None:
    """Compute what is asked for, and print the coefficients."""
    coarse = folder / "coarse"
    if not (coarse / "report.json").exists():
        tf.run(shedding(16, COARSE_END, "immersed"), coarse, force=True)
    print("16 cells, immersed:", report(tf.Run.open(coarse), 300, COARSE_END - 50), flush=True)
    developed = {"velocity": velocity(tf.Run.open(coarse).dataset())}
    for treatment in treatments or ("immersed", "flagged"):
        case = shedding(24, FINE_END, treatment, "output.fields=['p']")
        begun = case.model_copy(update={"initial": type(case.initial).model_validate(developed)})
        print(f"24 cells, {treatment}:", report(tf.run(begun, folder / treatment, force=True), 300, SINCE), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
