"""Pictures of a run with two phases in three dimensions: the interface at several times, lit from one side.

    taskflow run examples/bubble_torus.toml -o runs/torus --set 'grid.cells=[128,128,128]'
    python docs/images/sources/interface.py runs/torus docs/images/bubble_torus.png 0.02 0.06 0.1 0.16

    taskflow run examples/droplet_splash.toml -o runs/splash --set 'grid.cells=[192,192,96]'
    python docs/images/sources/interface.py runs/splash docs/images/droplet_splash.png 0.2 0.4 0.7 1.0

Matplotlib draws triangles from the back to the front, twice as large as the picture, which is then made smaller. The
surface is drawn twice, what faces away and what faces the camera, and the second is laid over the first like glass.
"""

import sys
import tomllib
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from mpl_toolkits.mplot3d.art3d import Line3DCollection, Poly3DCollection
from PIL import Image

import taskflow as tf

SHADOW, WATER, LIGHT = np.array([[0.03, 0.18, 0.36], [0.30, 0.62, 0.88], [0.96, 0.99, 1.0]])
SMOOTH = 4  # means of normals over neighbours: tetrahedra are not seen
VIEWS = {  # by a word of the title: the box that is shown, the camera, opacity, if phase 1 is outside, unit of time
    "torus": {
        "low": (0.045, 0.045, 0.02), "high": (0.155, 0.155, 0.17),
        "elevation": 28, "azimuth": -60, "opacity": 0.65, "outside": True, "unit": " s",
    },
    "splashes": {
        "low": (0.0, 0.0, 0.0), "high": (4.0, 4.0, 1.1),
        "elevation": 26, "azimuth": -58, "opacity": 1.0, "outside": False, "unit": " D/U",
    },
}  # fmt: skip


def shades(vertices, triangles, eye, lamp):
    """Colours of triangles [m, 3], diffuse light and a highlight by smooth normals, and which of them face the eye."""
    a, b, c = (vertices[triangles[:, n]] for n in range(3))
    normals = np.cross(b - a, c - a)
    facing = normals @ eye > 0
    for _ in range(SMOOTH):
        around = [
            np.bincount(triangles.ravel(), np.repeat(normals[:, n], 3), minlength=len(vertices)) for n in range(3)
        ]
        normals = np.stack(around, axis=1)[triangles].mean(axis=1)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    normals *= np.where(normals @ eye < 0, -1, 1)[:, None]  # both sides of the surface are seen
    half = (eye + lamp) / np.linalg.norm(eye + lamp)
    diffuse, highlight = (np.clip(normals @ towards, 0, 1)[:, None] for towards in (lamp, half))
    rim = 0.35 * (1 - np.abs(normals @ eye))[:, None] ** 3  # as of glass
    colours = SHADOW + (0.25 + 0.75 * diffuse) * (WATER - SHADOW)
    return colours + np.maximum(0.75 * highlight**40, rim) * (LIGHT - colours), facing


def direction(elevation, azimuth):
    """The unit vector towards these angles in degrees."""
    up, around = np.radians([elevation, azimuth])
    return np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])


def behind(low, high, eye):
    """The nine edges of a box that do not meet in its corner next to the camera."""
    points = [np.where([n & 1, n >> 1 & 1, n >> 2], high, low) for n in range(8)]
    near = max(range(8), key=lambda n: points[n] @ eye)
    pairs = [(n, n | bit) for n in range(8) for bit in (1, 2, 4) if not n & bit]
    return [(points[n], points[m]) for n, m in pairs if near not in (n, m)]


def draw(surface, low, high, elevation, azimuth, opacity, outside):
    """One snapshot in a box, as an image [rows, columns, 3] from 0 to 255."""
    eye, lamp = direction(elevation, azimuth), direction(50, azimuth - 50)
    corners, triangles = surface.vertices, surface.triangles[:, ::-1] if outside else surface.triangles
    colours, facing = shades(corners, triangles, eye, lamp)
    image = None
    for side in (~facing, facing):
        figure = plt.figure(figsize=(8, 8), dpi=200)
        axes = figure.add_axes((0, 0, 1, 1), projection="3d", computed_zorder=False)
        axes.view_init(elevation, azimuth)
        axes.set_proj_type("ortho")
        axes.add_collection3d(Line3DCollection(behind(low, high, eye), colors="0.8", linewidths=2.5, zorder=1))
        faces = corners[triangles[side]]
        style = {"linewidths": 0, "antialiased": False, "zorder": 2}
        axes.add_collection3d(Poly3DCollection(faces, facecolors=colours[side], **style))
        for name, a, b in zip("xyz", low, high, strict=True):
            getattr(axes, f"set_{name}lim")(a, b)
        axes.set_box_aspect(np.subtract(high, low), zoom=0.9)
        axes.set_axis_off()
        figure.canvas.draw()
        drawn = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(float)
        plt.close(figure)
        image = drawn if image is None else image + opacity * (drawn - image)
    return image.astype(np.uint8)


def trimmed(images):
    """Images without the white margin that all of them have."""
    ink = np.min([image.min(axis=2) for image in images], axis=0) < 250
    rows, columns = (np.flatnonzero(ink.any(axis=axis)) for axis in (1, 0))
    return [image[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] for image in images]


def main(run, picture, *times):
    case = tomllib.loads((Path(run) / "case.toml").read_text())
    view = dict(next(known for word, known in VIEWS.items() if word in case["title"]))
    unit = view.pop("unit")
    snapshots = tf.Run.open(run).dataset()
    shown = [float(snapshots.time.sel(time=float(time), method="nearest")) for time in times]
    images = trimmed([draw(snapshots.flow.interface(time), **view) for time in shown])
    tall, wide, _ = images[0].shape
    columns = 2 if wide > 1.3 * tall else len(times)
    rows = -(-len(times) // columns)
    size = 10.0 / columns * tall / wide + 0.3
    figure, panels = plt.subplots(rows, columns, figsize=(10.9, 0.35 + rows * size), dpi=200, layout="constrained")
    for axes, image, time in zip(panels.flat, images, shown, strict=True):
        axes.imshow(image, interpolation="antialiased")
        axes.set_title(f"t = {time:.3g}{unit}", y=-0.09, va="top", fontsize=11)
        axes.set_axis_off()
    cells = " x ".join(map(str, case["grid"]["cells"]))
    figure.suptitle(f"{case['title']}: {cells} cells", fontsize=12)
    figure.canvas.draw()
    whole = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[..., :3].copy())
    smaller = whole.resize((whole.width // 2, whole.height // 2), Image.Resampling.LANCZOS)
    smaller.quantize(128).save(picture, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
