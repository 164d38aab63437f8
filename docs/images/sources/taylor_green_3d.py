"""The picture of the README: vortices of the three-dimensional Taylor-Green flow, as surfaces of constant Q.

    taskflow run docs/images/sources/taylor_green_3d.toml -o runs/taylor_green_3d
    python docs/images/sources/taylor_green_3d.py runs/taylor_green_3d docs/images/taylor_green_3d.png

VTK, of the extra `dev`, draws it off screen.
"""

import sys

import matplotlib
import numpy as np
import vtkmodules.vtkRenderingOpenGL2  # noqa: F401  it draws what vtkRenderingCore declares
from PIL import Image
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkLookupTable
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkFiltersCore import vtkContourFilter
from vtkmodules.vtkFiltersModeling import vtkOutlineFilter
from vtkmodules.vtkRenderingCore import (
    vtkActor,
    vtkLight,
    vtkPolyDataMapper,
    vtkRenderer,
    vtkRenderWindow,
    vtkWindowToImageFilter,
)

import taskflow as tf

TIME = 7.0
LEVEL = 4.0  # of Q, in units of the initial velocity and the wavenumber


def image(ds):
    """Q and the speed in cell centres, as VTK takes them."""
    q, velocity = ds.flow.q_criterion(), ds.flow.velocity()
    speed = np.sqrt(sum(velocity[name] ** 2 for name in ("u", "v", "w")))
    data = vtkImageData()
    data.SetDimensions(*q.shape[::-1])
    h = float(ds.x_c[1] - ds.x_c[0])
    data.SetSpacing(h, h, h)
    for name, values in (("q", q), ("speed", speed)):
        array = numpy_to_vtk(np.ascontiguousarray(values.values, np.float32).ravel(), deep=True)
        array.SetName(name)
        data.GetPointData().AddArray(array)
    data.GetPointData().SetActiveScalars("q")
    return data


def colours(name="viridis"):
    table = vtkLookupTable()
    table.SetNumberOfTableValues(256)
    for i, (r, g, b, _) in enumerate(matplotlib.colormaps[name](np.linspace(0.05, 1, 256))):
        table.SetTableValue(i, r, g, b, 1.0)
    return table


def vortices(data):
    surface = vtkContourFilter()
    surface.SetInputData(data)
    surface.SetValue(0, LEVEL)
    mapper = vtkPolyDataMapper()
    mapper.SetInputConnection(surface.GetOutputPort())
    mapper.SetScalarModeToUsePointFieldData()
    mapper.SelectColorArray("speed")
    mapper.SetLookupTable(colours())
    mapper.SetScalarRange(0.0, 1.0)
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().SetSpecular(0.3)
    actor.GetProperty().SetSpecularPower(20)
    actor.GetProperty().SetAmbient(0.3)
    return actor


def box(data):
    outline = vtkOutlineFilter()
    outline.SetInputData(data)
    mapper = vtkPolyDataMapper()
    mapper.SetInputConnection(outline.GetOutputPort())
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().SetColor(0.3, 0.3, 0.3)
    actor.GetProperty().SetLineWidth(2)
    return actor


def main(run, path):
    data = image(tf.Run.open(run).dataset().sel(time=TIME, method="nearest"))
    renderer = vtkRenderer()
    renderer.SetBackground(1.0, 1.0, 1.0)
    for actor in (vortices(data), box(data)):
        renderer.AddActor(actor)
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(8)
    window.SetSize(860, 840)
    window.AddRenderer(renderer)
    camera = renderer.GetActiveCamera()
    camera.SetViewUp(0, 0, 1)
    camera.SetPosition(-2.1, -3.0, 1.7)
    camera.SetFocalPoint(0, 0, 0)
    renderer.ResetCamera()
    camera.Zoom(1.07)
    camera.SetWindowCenter(0.0, -0.05)
    lamp = vtkLight()
    lamp.SetPosition(-5, -2, 8)
    lamp.SetFocalPoint(np.pi, np.pi, np.pi)
    lamp.SetIntensity(0.7)
    renderer.AddLight(lamp)
    window.Render()
    shot = vtkWindowToImageFilter()
    shot.SetInput(window)
    shot.ReadFrontBufferOff()
    shot.Update()
    drawn = shot.GetOutput()
    rgb = vtk_to_numpy(drawn.GetPointData().GetScalars()).reshape(*drawn.GetDimensions()[1::-1], 3)[::-1]
    Image.fromarray(rgb).quantize(128).save(path, optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
