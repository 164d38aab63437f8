"""The budget of turbulent kinetic energy: in each cell, or along one axis, over planes that are alike.

With k = <u'_i u'_i> / 2, U = <u> and p over density,

    dk/dt = - U_j dk/dx_j  - <u'_i u'_j> dU_i/dx_j  - d/dx_j <u'_i u'_i u'_j>/2  - d/dx_j <p' u'_j>
            + viscosity d2k/dx_j2  - viscosity <(du'_i/dx_j)^2>  - expansion g_i <u'_i T'>
            + d/dx_j <u'_i s'_ij>  - (<s_ij du_i/dx_j> - <s_ij> dU_i/dx_j)

s being the stress of eddies that are not resolved, if there are any, and k then the energy of those that are
(S. B. Pope 2000, Turbulent Flows, section 5.3; the dissipation is the one without cross terms, which goes with this
viscous diffusion). In each cell <> is the mean over time; along an axis that over planes, too, and j is the axis. Every
derivative is the difference of values on the faces of a cell, so what is transported adds up to what passes the ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.beside_bodies import bodies, outside
from taskflow.output.moments import Moments, MomentsOverPlanes
from taskflow.output.walls import case_of

TERMS = {
    "convection": "by the mean flow",
    "production": "from the mean flow",
    "turbulent_transport": "by fluctuations of the velocity",
    "pressure_transport": "by fluctuations of the pressure",
    "viscous_diffusion": "by viscosity",
    "dissipation": "by viscosity",
    "buoyancy": "by buoyancy",
    "eddy_transport": "by the stress of eddies",
    "eddy_dissipation": "to eddies",
}
EDDIES = "mean_eddy_dissipation"


def kinetic_energy_budget(ds: xr.Dataset, axis: str | None = None) -> xr.Dataset:
    """The terms with the sign with which they change k, k itself, and `residual`, their sum: dk/dt and errors. In each
    cell, NaN in bodies; or along an axis.

    Raises BadInput where the statistics have no budget, or bodies cut the planes across the axis.
    """
    if "mean_dissipation" not in ds:
        raise BadInput("these statistics have no budget; give statistics.budget = true in the case")
    if axis is not None and bodies(ds) is not None:
        raise BadInput(f"axis = {axis!r}: bodies cut the planes across it; leave it out, for the budget in each cell")
    moments = Moments(ds) if axis is None else MomentsOverPlanes(ds, axis)
    k, terms = moments.energy, dict(_terms(moments))
    budget = {name: term.assign_attrs(long_name=f"{name}: {TERMS[name]}", units="1") for name, term in terms.items()}
    total = sum(terms.values(), start=xr.zeros_like(k))
    budget["residual"] = total.assign_attrs(long_name="sum of the terms", units="1")
    budget["kinetic_energy"] = k.assign_attrs(long_name="turbulent kinetic energy", units="1")
    return xr.Dataset({name: outside(ds, each) for name, each in budget.items()}, attrs=ds.attrs)


def _terms(of: Moments) -> Iterator[tuple[str, xr.DataArray]]:
    """Each term by its name."""
    case, k = case_of(of.ds), of.energy
    nothing, lines, shear = xr.zeros_like(k), of.lines, of.shear
    viscosity, expansion = case["fluid"]["viscosity"], case.get("heat", {}).get("expansion", 0.0)

    def transported(flux: Callable[[str], xr.DataArray]) -> xr.DataArray:
        return sum((line.slope(line.on_faces(flux(a), line.tight)) for a, line in lines.items()), start=nothing)

    along = ((of.mean(a) * line.slope(line.on_faces(k, line.still))) for a, line in lines.items())
    yield "convection", -sum(along, start=nothing)
    yield "production", -sum((of.covariance(a, b) * each for (a, b), each in shear.items()), start=nothing)
    yield "turbulent_transport", -transported(of.flux)
    yield "pressure_transport", -transported(of.pressure_flux)
    spread = (line.slope(line.rise(k, line.still)) for line in lines.values())
    yield "viscous_diffusion", viscosity * sum(spread, start=nothing)
    yield "dissipation", -of.dissipation(viscosity)
    gravity = zip("xyz", case.get("body", {}).get("gravity", (0.0, 0.0, 0.0)), strict=True)
    lift = sum((float(g) * of.heat_flux(a) for a, g in gravity), start=nothing) if expansion else nothing
    yield "buoyancy", -expansion * lift
    if EDDIES in of.ds:
        yield "eddy_transport", transported(of.eddy_flux)
        carried = sum((of.stress(a, b) * each for (a, b), each in shear.items()), start=nothing)
        yield "eddy_dissipation", carried - of.found[EDDIES]
