"""A turbulent channel at Re_tau = 180, against the direct simulation of Moser, Kim & Mansour (1999).

    python -m tests.validation.channel RUNDIR [PICTURE]

RUNDIR is a run, with running statistics, of examples/turbulent_channel.toml with whatever grid and model. x is along
the flow, y across it, z from wall to wall; lengths are in half widths, velocities in friction velocities.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

import taskflow as tf
from taskflow.analysis.profiles import profiles
from tests.flows import DATA
from tests.validation.cavity import table


@dataclass(frozen=True, eq=False)
class Profiles:
    """Over the distance from the wall, y in half widths, y+ in wall units: mean velocity U; root mean squares u along,
    v from the wall, w across; uv = -<u'w'>, and the total stress, viscous and of eddies, resolved and not.
    """

    y: np.ndarray
    y_plus: np.ndarray
    U: np.ndarray
    u_rms: np.ndarray
    v_rms: np.ndarray
    w_rms: np.ndarray
    uv: np.ndarray
    total: np.ndarray


def measured(directory: Path) -> Profiles:
    """Those of a run: means over planes and both halves of the last statistics."""
    case = tf.Case.load(directory / "case.toml")
    statistics = xr.open_zarr(directory / "fields.zarr", group="statistics").isel(time=-1).load()
    planes = profiles(statistics, "z")
    z, nu = planes["z_c"].values, case.fluid.viscosity

    def halves(values: np.ndarray, sign: int = 1) -> np.ndarray:
        return ((values + sign * values[::-1]) / 2)[: len(z) // 2]

    U = planes["mean_u"].values
    viscosity = nu + (planes["mean_nu_t"].values if "mean_nu_t" in planes else 0)
    uv = halves(planes["cov_u_w"].values, -1)
    deviations = (np.sqrt(halves(planes[f"cov_{a}_{a}"].values)) for a in ("u", "w", "v"))
    viscous = halves(viscosity * np.gradient(np.r_[0, U, 0], np.r_[0, z, 2], edge_order=2)[1:-1], -1)
    y = z[: len(z) // 2]
    return Profiles(y, y / nu, halves(U), *deviations, -uv, viscous - uv)


def moser() -> Profiles:
    """The table; its total stress is 1 - y."""
    rows = table(DATA / "moser_kim_mansour1999_retau180.csv")
    columns = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    names = ("y", "y_plus", "U_plus", "u_rms", "v_rms", "w_rms")
    return Profiles(*(columns[name] for name in names), -columns["uv"], 1 - columns["y"])


def errors(result: Profiles, known: Profiles, beyond: float = 5.0) -> dict[str, float]:
    """The largest differences where y+ exceeds 5: of U relative to its value there, of the others to their largest.

    That of the total stress is to 1 - y, relative to the stress on the wall.
    """
    outer = result.y_plus > beyond
    place = result.y_plus[outer]

    def apart(name: str) -> np.ndarray:
        return getattr(result, name)[outer] - np.interp(place, known.y_plus, getattr(known, name))

    relative = {"U": float(np.abs(apart("U") / np.interp(place, known.y_plus, known.U)).max())}
    peaks = {name: float(np.abs(apart(name)).max() / getattr(known, name).max())
             for name in ("u_rms", "v_rms", "w_rms", "uv")}  # fmt: skip
    return {**relative, **peaks, "total": float(np.abs(result.total - (1 - result.y))[outer].max())}


def main(directory: Path, picture: Path) -> None:
    """Print the table and the differences, and draw both."""
    result, known = measured(directory), moser()
    names = ("y_plus", "U", "u_rms", "v_rms", "w_rms", "uv", "total")
    print("".join(f"{name:>9}" for name in names))
    for row in zip(*(getattr(result, name) for name in names), strict=True):
        print("".join(f"{value:9.3f}" for value in row))
    print("largest differences for y+ > 5:", {name: f"{error:.2%}" for name, error in errors(result, known).items()})
    draw(result, known, picture)
    print("picture", picture)


def draw(result: Profiles, known: Profiles, picture: Path) -> None:
    """Mean velocity, deviations and stresses, over those of the direct simulation."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.6), layout="constrained")
    mean, deviations, stresses = figure.subplots(1, 3)
    for profile, style in ((known, "k."), (result, "-")):
        mean.semilogx(profile.y_plus[profile.y_plus > 0], profile.U[profile.y_plus > 0], style)
        for name in ("u_rms", "v_rms", "w_rms"):
            deviations.plot(profile.y_plus, getattr(profile, name), style, label=name if style == "-" else None)
        for name in ("uv", "total"):
            stresses.plot(profile.y_plus, getattr(profile, name), style, label=name if style == "-" else None)
    mean.set(xlabel="y+", ylabel="U+", title="points: Moser, Kim & Mansour")
    deviations.set(xlabel="y+")
    stresses.set(xlabel="y+")
    deviations.legend()
    stresses.legend()
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    run = Path(sys.argv[1])
    main(run, Path(sys.argv[2]) if len(sys.argv) > 2 else run / "profiles.png")
