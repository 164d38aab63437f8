"""Pictures of surfaces on which a field has a value, drawn by pyvista without a screen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from taskflow.output.metadata import SOLID
from taskflow.output.pictures import PictureOrder
from taskflow.output.reading import edges
from taskflow.plots.look import Look

SIZE = (1024, 768)
MOST = 2**24  # values of a field that are drawn; of more every second, third, ... one along each direction
GREY, BODY = "#595959", "#bfbfbf"
ZOOM = 0.85  # so that the labels of axes are in the picture
BAR = {
    "vertical": True, "position_x": 0.87, "position_y": 0.2, "width": 0.06, "height": 0.6, "color": "black",
    "fmt": "%.3g", "n_labels": 5, "title_font_size": 16, "label_font_size": 14,
}  # fmt: skip


def draw_surface(
    order: PictureOrder, grid: xr.Dataset, fields: dict[str, np.ndarray], look: Look, path: Path
) -> None:
    """Draw the surface on which the last of the fields [z, y, x] has a value, coloured by the first, into a file."""
    import pyvista  # a second, and not installed everywhere

    roles = list(order.fields)
    colour, surface = roles[0], roles[-1]
    stride = max(1, int(np.ceil((fields[surface].size / MOST) ** (1 / 3))))
    places = [grid[f"{axis}_c"].values[::stride] for axis in "xyz"]
    volume = pyvista.RectilinearGrid(*places)
    for role, values in fields.items():
        volume.point_data[role] = values[::stride, ::stride, ::stride].ravel()
    mesh = volume.contour([order.value], scalars=surface)
    plotter = pyvista.Plotter(off_screen=True, window_size=look.size or SIZE)
    try:
        _draw_box(plotter, pyvista, grid)
        words = f"{order.fields[surface].partition(',')[0]} = {order.value:g}"
        if mesh.n_points:
            look = look.drawable(mesh.point_data[colour])
            colours = look.colours(mesh.point_data[colour], order.fields[colour])
            plotter.add_mesh(
                mesh, scalars=colour, cmap=colours.cmap, clim=(colours.norm.vmin, colours.norm.vmax),
                log_scale=look.log, smooth_shading=True, specular=0.3, specular_power=20,
                scalar_bar_args={**BAR, "title": colours.words},
            )  # fmt: skip
        else:
            words += ": nowhere"
        title = "\n".join(filter(None, (grid.attrs.get("title", ""), f"t = {float(grid['time']):.6g},  {words}")))
        plotter.add_text(title, position="upper_left", font_size=10, color="black")
        plotter.view_vector(order.view, viewup=(0.0, 1.0, 0.0) if not any(order.view[:2]) else (0.0, 0.0, 1.0))
        plotter.camera.zoom(ZOOM)
        plotter.screenshot(str(path))
    finally:
        plotter.close()


def _draw_box(plotter: Any, pyvista: Any, grid: xr.Dataset) -> None:
    """Draw the edges of the domain with axes, and the cells that are solid."""
    faces = [edges(grid, axis) for axis in "xyz"]
    plotter.set_background("white")
    ends = [place for line in faces for place in (line[0], line[-1])]
    plotter.add_mesh(pyvista.Box(ends).outline(), color=GREY)
    if SOLID in grid:
        cells = pyvista.RectilinearGrid(*faces)
        cells.cell_data[SOLID] = grid[SOLID].transpose("z_c", "y_c", "x_c").values.ravel()
        solid = cells.threshold(0.5, scalars=SOLID)
        if solid.n_cells:
            plotter.add_mesh(solid.extract_surface(), color=BODY)
    titles = {f"{axis}title": axis for axis in "xyz"} | {f"n_{axis}labels": 3 for axis in "xyz"}
    plotter.show_bounds(bounds=ends, grid=False, location="outer", color=GREY, fmt="%.3g", font_size=11, **titles)
