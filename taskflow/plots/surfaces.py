"""Pictures of isosurfaces, drawn by pyvista without a screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import xarray as xr

from taskflow.output.export.picture_files import PictureOrder
from taskflow.output.store.metadata import SOLID, moment
from taskflow.output.store.reading import edges
from taskflow.plots.look import Look

SIZE = (1024, 768)
MOST = 2**24  # largest number of drawn values; above it every second, third, ... along each direction
WIDTH = 16  # letters of a line above the bar of colours
PLACE = (0.01, 0.93)  # of the title
GREY, BODY = "#595959", "#bfbfbf"
AMBIENT = 0.5  # ambient light on walls, whose inner sides face away from the lamp
ZOOM = 0.85  # so that the labels of axes are in the picture
BAR = {
    "vertical": True, "position_x": 0.87, "position_y": 0.2, "width": 0.06, "height": 0.6, "color": "black",
    "fmt": "%.3g", "n_labels": 5, "title_font_size": 16, "label_font_size": 14,
}  # fmt: skip


@dataclass(frozen=True)
class Scene:
    """Picture of a surface: pyvista grids with values at points, meshes of `walls`, ends of the domain, title and time.

    If `outside`, the faces of walls are ordered as viewed from outside, and are omitted if they are in front of the
    fluid.
    """

    volumes: Sequence[Any]
    walls: Sequence[Any]
    ends: Sequence[float]
    title: str
    moment: str
    outside: bool = False


def scene_of_box(order: PictureOrder, grid: xr.Dataset, fields: Mapping[str, np.ndarray]) -> Scene:
    """Return the scene of fields [z, y, x] in the cells of a Cartesian grid, with its bodies."""
    import pyvista  # a second, and not installed everywhere

    surface, walls = [*order.fields][-1], []
    stride = max(1, int(np.ceil((fields[surface].size / MOST) ** (1 / 3))))
    volume = pyvista.RectilinearGrid(*(grid[f"{axis}_c"].values[::stride] for axis in "xyz"))
    for role, values in fields.items():
        volume.point_data[role] = values[::stride, ::stride, ::stride].ravel()
    faces = [edges(grid, axis) for axis in "xyz"]
    if SOLID in grid:
        cells = pyvista.RectilinearGrid(*faces)
        cells.cell_data[SOLID] = grid[SOLID].transpose("z_c", "y_c", "x_c").values.ravel()
        solid = cells.threshold(0.5, scalars=SOLID)
        walls = [solid.extract_surface()] if solid.n_cells else []
    ends = [place for line in faces for place in (line[0], line[-1])]
    return Scene([volume], walls, ends, grid.attrs.get("title", ""), moment(grid.attrs, float(grid["time"])))


def draw_scene(order: PictureOrder, scene: Scene, look: Look, path: Path) -> None:
    """Draw the surface on which the last field has a value, coloured by the first, into a file."""
    import pyvista

    names = [*order.fields]
    colour, surface = names[0], names[-1]
    mesh = pyvista.merge([volume.contour([order.value], scalars=surface) for volume in scene.volumes])
    plotter = pyvista.Plotter(off_screen=True, window_size=look.size or SIZE)
    try:
        _draw_domain(plotter, pyvista, scene)
        words = f"{order.fields[surface].partition(',')[0]} = {order.value:g}"
        if mesh.n_points:
            look = look.drawable(mesh.point_data[colour])
            colours = look.colours(mesh.point_data[colour], order.fields[colour])
            plotter.add_mesh(
                mesh, scalars=colour, cmap=colours.cmap, clim=(colours.norm.vmin, colours.norm.vmax),
                log_scale=look.log, smooth_shading=True, specular=0.3, specular_power=20,
                scalar_bar_args={**BAR, "title": fill(colours.words, WIDTH)},
            )  # fmt: skip
        else:
            words += ": nowhere"
        title = "\n".join(filter(None, (scene.title, f"{scene.moment},  {words}")))
        plotter.add_text(title, position=PLACE, viewport=True, font_size=10, color="black")
        plotter.view_vector(order.view, viewup=(0.0, 1.0, 0.0) if not any(order.view[:2]) else (0.0, 0.0, 1.0))
        plotter.camera.zoom(ZOOM)
        plotter.screenshot(str(path))
    finally:
        plotter.close()


def _draw_domain(plotter: Any, pyvista: Any, scene: Scene) -> None:
    """Draw the edges of the domain with axes, and walls that are not between the eye and the fluid."""
    plotter.set_background("white")
    plotter.add_mesh(pyvista.Box(scene.ends).outline(), color=GREY)
    for wall in scene.walls:
        plotter.add_mesh(wall, color=BODY, ambient=AMBIENT, culling="front" if scene.outside else None)
    titles = {f"{axis}title": axis for axis in "xyz"} | {f"n_{axis}labels": 3 for axis in "xyz"}
    plotter.show_bounds(bounds=scene.ends, grid=False, location="outer", color=GREY, fmt="%.3g", font_size=11, **titles)
