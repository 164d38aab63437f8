"""Pictures of the examples with two phases in two dimensions, beside what they are compared with.

    python docs/images/sources/two_phase.py rising_bubble RUN docs/images/rising_bubble.png

and likewise `dam_break`, `rayleigh_taylor`, `capillary_wave` (run with `--set output.every=0.02`) and `sloshing` (with
`--set output.every=0.1 --set grid.cells=[64,1,40]`). `sloshing_baffle RUN OTHER_RUN PICTURE` has the run without a
baffle, too, of `--set obstacles=[]`, and `sessile_droplet RUN OTHER_RUN PICTURE` that with `--set
boundaries.z_min.contact_angle=135`. `flags` draws cells of `docs/images/sources/flags.toml`.
"""

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import taskflow as tf

DATA = Path(__file__).parents[3] / "tests" / "data"
WATER, DEEP, POINT = "#4f94cd", "#153e66", "#c8402a"


def table(name):
    """The columns of a file of reference data, as text."""
    lines = [line for line in (DATA / name).read_text().splitlines() if not line.startswith("#")]
    rows = list(csv.DictReader(lines))
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def numbers(rows, key, where=True):
    return np.array([float(text) for text in rows[key][where if np.ndim(where) else slice(None)]])


def share(ds, time):
    """x, z and f of phase 1 in the snapshot next to a time, continued beyond the walls."""
    one = ds.sel(time=time, method="nearest").isel(y_c=0)
    x, z = (np.pad(one[name].values, 1, "reflect", reflect_type="odd") for name in ("x_c", "z_c"))
    return x, z, np.pad(one.f.transpose("z_c", "x_c").values, 1, "edge")


def fill(axes, ds, time, unit=1.0, phase=1, colour=WATER):
    """A phase at a time, in one colour, with its edge; lengths are divided by a unit."""
    x, z, f = share(ds, time)
    axes.contourf(x / unit, z / unit, f, [0.5, 2] if phase == 1 else [-1, 0.5], colors=[colour])
    axes.contour(x / unit, z / unit, f, [0.5], colors=[DEEP], linewidths=1)
    frame(axes, ds, unit)


def frame(axes, ds, unit=1.0):
    """Axes from wall to wall, with equal scales."""
    for name, limit in (("x_c", axes.set_xlim), ("z_c", axes.set_ylim)):
        centres, h = ds[name].values, float(ds[name][1] - ds[name][0])
        limit((centres[0] - h / 2) / unit, (centres[-1] + h / 2) / unit)
    axes.set_aspect("equal")


def heights(ds):
    """The height of the interface over the floor at all times [time, x]: how much of phase 1 is in each column."""
    h = float(ds.z_c[1] - ds.z_c[0])
    return ds.time.values, ds.x_c.values, ds.f.isel(y_c=0).transpose("time", "x_c", "z_c").values.sum(axis=2) * h


def rising_bubble(run):
    ds, bubble = run.dataset(), run.dataset("bubble")
    figure, (shape, speed) = plt.subplots(1, 2, figsize=(8, 4.4), width_ratios=[1, 1.9], layout="constrained")
    shape.set_facecolor(WATER)
    for time, grey in ((0, "0.55"), (1, "0.7"), (2, "0.85"), (3, "1.0")):
        fill(shape, ds, time, phase=2, colour=grey)
    shape.set(title="bubble at t = 0, 1, 2, 3 s", xlabel="x (m)", ylabel="z (m)")
    rows = table("hysing2009_case1_moonmd_series.csv")
    speed.plot(bubble.time, bubble.velocity_z, color=DEEP, label="taskflow, h = 1/64 m")
    speed.plot(numbers(rows, "t"), numbers(rows, "rise_velocity"), "o", ms=4, mfc="none", color=POINT,
               label="MooNMD (Hysing et al. 2009)")  # fmt: skip
    speed.set(title="velocity of the bubble", xlabel="t (s)", ylabel="w (m/s)", xlim=(0, 3), ylim=(0, None))
    speed.legend(loc="lower right")
    speed.grid(alpha=0.3)
    return figure


def dam_break(run):
    ds, water = run.dataset(), run.dataset("water")
    figure = plt.figure(figsize=(9, 5.4), layout="constrained")
    pictures, chart = figure.subfigures(1, 2, width_ratios=[1, 1.4])
    for axes, time in zip(pictures.subplots(3, 1, sharex=True), (0.06, 0.12, 0.2), strict=True):
        fill(axes, ds, time, unit=0.01)
        axes.text(0.97, 0.9, f"t = {time:g} s", transform=axes.transAxes, ha="right", va="top")
        axes.set_ylabel("z (cm)")
    axes.set_xlabel("x (cm)")
    a, rows, front = 0.05715, table("martin_moyce1952_front.csv"), chart.subplots()
    front.plot(water.time * np.sqrt(2 * 9.81 / a), water.extent_x_max / a, color=DEEP, label="taskflow")
    measured = rows["set"] == "table"
    front.plot(numbers(rows, "T", measured), numbers(rows, "Z", measured), "o", mfc="none", color=POINT,
               label="Martin and Moyce (1952)")  # fmt: skip
    front.set(title="front of the water", xlabel=r"t (2 g / a)$^{1/2}$", ylabel="x / a", xlim=(0, 3.5), ylim=(0.9, 4.1))
    front.legend(loc="upper left")
    front.grid(alpha=0.3)
    return figure


def rayleigh_taylor(run):
    ds = run.dataset()
    figure = plt.figure(figsize=(9, 4.6), layout="constrained")
    pictures, chart = figure.subfigures(1, 2, width_ratios=[1.25, 1])
    for number, (axes, time) in enumerate(zip(pictures.subplots(1, 4, sharey=True), (1, 2, 3, 4), strict=True)):
        fill(axes, ds, time)
        axes.set(title=f"t = {time}", xlabel="x / W", xticks=[0, 0.5, 1], xticklabels=["0", "", "1"])
        if number == 0:
            axes.set_ylabel("z / W")
    axes, rows = chart.subplots(), table("he1999_rayleigh_taylor.csv")
    for group, name, column, colour in (
        ("bubble", "extent_z_max", "y_bubble", WATER),
        ("spike", "extent_z_min", "y_spike", DEEP),
    ):
        measured = run.dataset(group)
        axes.plot(measured.time, measured[name], color=colour, label=f"{group}, taskflow")
        axes.plot(numbers(rows, "t_star"), 4 * numbers(rows, column), "o", ms=4, mfc="none", color=POINT)
    axes.plot([], [], "o", ms=4, mfc="none", color=POINT, label="He et al. (1999)")
    axes.set(title="tips", xlabel=r"t (g / W)$^{1/2}$", ylabel="z / W", xlim=(0, 4), ylim=(0, 4))
    axes.legend(loc="upper left")
    axes.grid(alpha=0.3)
    return figure


def capillary_wave(run):
    time, x, height = heights(run.dataset())
    omega = np.sqrt((2 * np.pi) ** 3 / 2)
    figure, (shape, decay) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=[1, 1.7], layout="constrained")
    for tau, colour in ((0, DEEP), (1.5, WATER), (3, "#9cc3e0"), (6.2, POINT)):
        row = np.abs(omega * time - tau).argmin()
        shape.plot(x, 100 * (height[row] - 1.5), color=colour, label=rf"$\omega$t = {omega * time[row]:.1f}")
    shape.set(title="interface", xlabel="x / wavelength", ylabel="height (% of wavelength)", xlim=(0, 1),
              ylim=(-1.1, 1.7))  # fmt: skip
    shape.legend(fontsize=8, loc="upper center", ncols=2)
    rows = table("prosperetti1981_capillary_wave_la3000.csv")
    mode = 2 * ((height - 1.5) * np.cos(2 * np.pi * x)).mean(axis=1) / 0.01
    decay.plot(numbers(rows, "tau"), numbers(rows, "a_formula") / 0.01, color=POINT, label="Prosperetti (1981)")
    decay.plot(omega * time, mode, "o", ms=3, mfc="none", color=DEEP, label="taskflow, 32 cells per wavelength")
    decay.set(title="amplitude of the wave over that at the start", xlabel=r"$\omega$t", xlim=(0, 22))
    decay.legend()
    decay.grid(alpha=0.3)
    return figure


def sloshing(run):
    time, x, height = heights(run.dataset())
    figure, (shape, decay) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=[1, 1.7], layout="constrained")
    for t, colour in ((0, DEEP), (1, WATER), (2, "#9cc3e0"), (4, POINT)):
        shape.plot(x, 100 * (height[np.abs(time - t).argmin()] - 1), color=colour, label=f"t = {t}")
    shape.set(title="surface", xlabel="x / depth", ylabel="height (% of depth)", xlim=(-1, 1), ylim=(-1.1, 1.6))
    shape.legend(fontsize=8, loc="upper center", ncols=2)
    middle = height[:, [len(x) // 2 - 1, len(x) // 2]].mean(axis=1) - 1
    decay.plot(time, middle / 0.01, color=DEEP, label="taskflow, 32 cells per depth")
    rows = table("carrica2007_sloshing.csv")
    chosen = rows["Re"] == "20"
    decay.plot(numbers(rows, "t", chosen), -numbers(rows, "eta", chosen), "o", ms=4, mfc="none", color=POINT,
               label="theory of Wu et al. (2001)")  # fmt: skip
    decay.set(title="height in the middle over that at the start", xlabel=r"t (g / depth)$^{1/2}$", xlim=(0, 9))
    decay.legend()
    decay.grid(alpha=0.3)
    return figure


def sloshing_baffle(run, free):
    ds = run.dataset()
    figure = plt.figure(figsize=(9, 4.4), layout="constrained")
    pictures, chart = figure.subfigures(1, 2, width_ratios=[1, 1.05])
    for axes, time in zip(pictures.subplots(2, 1, sharex=True), (1.5, 3.0), strict=True):
        one = ds.sel(time=time, method="nearest")
        velocity = one.flow.velocity().isel(y_c=0)
        speed = np.hypot(velocity.u, velocity.w).where(one.f.isel(y_c=0) > 0.5)
        image = axes.pcolormesh(one.x_c, one.z_c, speed.transpose("z_c", "x_c"), vmin=0, vmax=0.3, cmap="viridis")
        axes.contour(*share(ds, time), [0.5], colors=[DEEP], linewidths=1)
        axes.fill([-0.03125, 0.03125, 0.03125, -0.03125], [-1, -1, -0.2, -0.2], color="0.35")
        axes.text(0.97, 0.93, f"t = {time:g}", transform=axes.transAxes, ha="right", va="top")
        axes.set_ylabel("z / depth")
        frame(axes, ds)
    axes.set_xlabel("x / depth")
    pictures.colorbar(image, ax=pictures.axes, label=r"speed / (g depth)$^{1/2}$", shrink=0.8)
    axes = chart.subplots()
    for words, name, style in (("with baffle", run, "-"), ("without", free, "--")):
        water = name.dataset("water")
        axes.plot(water.time, 100 * water.centre_x, style, color=DEEP, label=words)
    axes.set(title="centre of the water, to the side", xlabel=r"t (g / depth)$^{1/2}$", ylabel="x (% of depth)",
             xlim=(0, 20), ylim=(-4.5, 6))  # fmt: skip
    axes.legend(loc="upper right", ncols=2)
    axes.grid(alpha=0.3)
    return figure


def sessile_droplet(*runs):
    figure = plt.figure(figsize=(9, 4.4), layout="constrained")
    pictures, chart = figure.subfigures(1, 2, width_ratios=[1, 1.05])
    height = chart.subplots()
    for axes, run, angle, style in zip(pictures.subplots(2, 1, sharex=True), runs, (45, 135), ("-", "--"), strict=True):
        ds, theta = run.dataset(), np.radians(angle)
        fill(axes, ds, 8)
        for time, colour in ((0, "0.55"), (0.3, POINT)):
            axes.contour(*share(ds, time), [0.5], colors=[colour], linewidths=1)
        radius = 0.5 * np.sqrt(np.pi / 2 / (theta - np.sin(theta) * np.cos(theta)))
        around = np.linspace(-theta, theta, 100)
        axes.plot(radius * np.sin(around), radius * (np.cos(around) - np.cos(theta)), "k:", lw=2)
        axes.text(0.97, 0.93, f"{angle}°", transform=axes.transAxes, ha="right", va="top")
        axes.set(ylabel="z", ylim=(0, None), xticks=[-1, -0.5, 0, 0.5, 1])
        time, _, above = heights(ds)
        height.plot(time, above.max(axis=1), style, color=DEEP, label=f"{angle}°")
        height.axhline(radius * (1 - np.cos(theta)), color="k", ls=":")
    axes.set_xlabel("x")
    keys = [plt.Line2D([], [], color=colour) for colour in ("0.55", POINT, DEEP)]
    keys.append(plt.Line2D([], [], color="k", ls=":", lw=2))
    pictures.legend(keys, ["t = 0", "0.3", "8", "segment of a circle"], loc="outside lower center", ncols=2)
    height.set(title="height of the droplet", xlabel="t", xlim=(0, 8))
    height.legend()
    height.grid(alpha=0.3)
    return figure


def flags(run):
    """Cells by what happens in them, and the faces that a body closes, as figure 1 of Zaspel and Griebel (2011)."""
    one = run.dataset().isel(time=0, y_c=0).transpose("z_c", "x_c", ...)
    solid, f = one.solid.values.astype(bool), one.f
    cut = (f.values > 0) & (f.values < 1) & ~solid
    kinds = np.where(solid, 3, np.where(cut, 1, np.where(f.values >= 1, 0, 2)))
    figure, axes = plt.subplots(figsize=(8, 5.2), layout="constrained")
    names = {"phase 1": WATER, "both phases": "#b9d6ec", "phase 2": "#ffffff", "body: nothing is computed": "0.55"}
    rows, columns = kinds.shape
    palette = matplotlib.colors.ListedColormap(list(names.values()))
    axes.pcolormesh(np.arange(columns + 1), np.arange(rows + 1), kinds, cmap=palette, vmin=0, vmax=3,
                    edgecolors="0.75", linewidth=0.6)  # fmt: skip
    for k, i in zip(*np.nonzero(solid[:, 1:] != solid[:, :-1]), strict=True):
        axes.plot([i + 1, i + 1], [k, k + 1], color=POINT, lw=2.5)
    for k, i in zip(*np.nonzero(solid[1:] != solid[:-1]), strict=True):
        axes.plot([i, i + 1], [k + 1, k + 1], color=POINT, lw=2.5)
    around = np.linspace(0, 2 * np.pi, 200)
    axes.plot(12 + 4.2 * np.cos(around), 7.3 + 4.2 * np.sin(around), "--", color="0.15", lw=1)
    phi = np.where(solid, np.nan, one.phi.values)
    axes.contour(one.x_c, one.z_c, phi, [0], colors=[DEEP], linewidths=2)
    keys = [plt.Rectangle((0, 0), 1, 1, fc=colour, ec="0.75") for colour in names.values()]
    keys += [plt.Line2D([], [], color=POINT, lw=2.5), plt.Line2D([], [], color=DEEP, lw=2)]
    figure.legend(keys, [*names, "faces that nothing passes", "interface"], loc="outside lower center", ncols=3)
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure


def main(example, *runs_and_picture):
    *runs, picture = runs_and_picture
    figure = globals()[example](*(tf.Run.open(run) for run in runs))
    figure.savefig(picture, dpi=120)
    Image.open(picture).convert("RGB").quantize(128).save(picture, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
