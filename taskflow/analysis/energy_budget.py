"""Budget of turbulent kinetic energy, in each cell, or along one axis over homogeneous planes.

With k = <u'_i u'_i> / 2, U = <u> and p over density,

    dk/dt = - U_j dk/dx_j  - <u'_i u'_j> dU_i/dx_j  - d/dx_j <u'_i u'_i u'_j>/2  - d/dx_j <p' u'_j>
            + viscosity d2k/dx_j2  - viscosity <(du'_i/dx_j)^2>  - expansion g_i <u'_i T'>
            + d/dx_j <u'_i s'_ij>  - (<s_ij du_i/dx_j> - <s_ij> dU_i/dx_j)

with s the subgrid-scale stress, if any, and k then the resolved energy (S. B. Pope 2000, Turbulent Flows, section 5.3).
The dissipation has no cross terms, consistent with this viscous diffusion. In each cell <> is the mean over time, along
an axis j also over planes. Every derivative is the difference of values on the faces of a cell, so transport terms
integrate to the fluxes through the ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import xarray as xr

from taskflow.analysis.conditions import conditions
from taskflow.analysis.derived import bodies, derivative, outside
from taskflow.analysis.faces import FaceValues
from taskflow.analysis.planes import VELOCITY
from taskflow.analysis.profiles import over_planes, profiles
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput

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
    """Return the terms with their sign in dk/dt, k, and `residual`, the sum of the terms: dk/dt and errors.

    In each cell, NaN in bodies, or along an axis. Raises BadInput if the statistics have no budget, if bodies intersect
    the planes across the axis, or if openings are in its ends.
    """
    if "mean_dissipation" not in ds:
        raise BadInput("these statistics have no budget; give statistics.budget = true in the case")
    if axis is not None and bodies(ds) is not None:
        raise BadInput(f"axis = {axis!r}: bodies cut the planes across it; omit it, for the budget in each cell")
    if axis is not None and (opened := [name for name, one in conditions(ds).openings.items() if one.side[0] == axis]):
        names = ", ".join(opened)
        raise BadInput(f"axis = {axis!r}: openings are in its ends ({names}); omit it, for the budget in each cell")
    moments = Moments(ds) if axis is None else MomentsOverPlanes(ds, axis)
    k, terms = moments.energy, dict(_terms(moments))
    budget = {name: term.assign_attrs(long_name=f"{name}: {TERMS[name]}", units="1") for name, term in terms.items()}
    total = sum(terms.values(), start=xr.zeros_like(k))
    budget["residual"] = total.assign_attrs(long_name="sum of the terms", units="1")
    budget["kinetic_energy"] = k.assign_attrs(long_name="turbulent kinetic energy", units="1")
    return xr.Dataset({name: outside(ds, term) for name, term in budget.items()}, attrs=ds.attrs)


def _terms(of: Moments) -> Iterator[tuple[str, xr.DataArray]]:
    known, k = conditions(of.ds), of.energy
    nothing, lines, shear = xr.zeros_like(k), of.lines, of.shear
    viscosity, expansion = known.viscosity, known.thermal_expansion

    def transported(flux: Callable[[str], xr.DataArray]) -> xr.DataArray:
        return sum((line.slope(line.on_faces(flux(a), line.tight)) for a, line in lines.items()), start=nothing)

    along = ((of.mean(a) * line.slope(line.on_faces(k, line.still))) for a, line in lines.items())
    yield "convection", -sum(along, start=nothing)
    yield "production", -sum((of.covariance(a, b) * rate for (a, b), rate in shear.items()), start=nothing)
    yield "turbulent_transport", -transported(of.flux)
    yield "pressure_transport", -transported(lambda a: of.covariance(a, "p"))
    spread = (line.slope(line.rise(k, line.still)) for line in lines.values())
    yield "viscous_diffusion", viscosity * sum(spread, start=nothing)
    yield "dissipation", -of.dissipation(viscosity)
    gravity = zip("xyz", known.gravity, strict=True)
    lift = sum((g * of.covariance(a, "T") for a, g in gravity), start=nothing) if expansion else nothing
    yield "buoyancy", -expansion * lift
    if EDDIES in of.ds:
        yield "eddy_transport", transported(of.eddy_flux)
        lost = sum((of.means[_stress(a, b)] * rate for (a, b), rate in shear.items()), start=nothing)
        yield "eddy_dissipation", lost - of.means[EDDIES]


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of fluctuations in time per cell. Directions denote velocities: covariance("x", "z") is <u'w'>."""

    ds: xr.Dataset
    axes: str = "xyz"  # along which the moments vary

    @property
    def means(self) -> xr.Dataset:
        return self.ds

    @cached_property
    def lines(self) -> dict[str, FaceValues]:
        """Faces across each of the axes."""
        return {axis: FaceValues(self.ds, axis) for axis in self.axes}

    @cached_property
    def energy(self) -> xr.DataArray:
        """k = <u'_i u'_i> / 2."""
        x, y, z = (self.covariance(axis, axis) for axis in "xyz")
        return 0.5 * (x + y + z)

    @cached_property
    def shear(self) -> dict[tuple[str, str], xr.DataArray]:
        """dU_i/dx_j by i and j."""
        shear = {}
        for axis, line in self.lines.items():
            for number, other in enumerate("xyz"):
                shear[other, axis] = line.slope(line.on_faces(self.mean(other), line.velocities(number)))
        return shear

    def mean(self, a: str) -> xr.DataArray:
        """Return U_a."""
        return self.means[f"mean_{VELOCITY[a]}"]

    def covariance(self, a: str, b: str) -> xr.DataArray:
        """Return <u'_a u'_b>, or <u'_a b'> if b is the name of a scalar."""
        return _covariance(self.means, VELOCITY[a], VELOCITY.get(b, b))

    def flux(self, a: str) -> xr.DataArray:
        """Return <u'_i u'_i u'_a> / 2."""
        return self.ds[f"mean_energy_flux_{a}"]

    def eddy_flux(self, a: str) -> xr.DataArray:
        """Return <u'_i s'_ia>."""
        return self.ds[f"mean_eddy_flux_{a}"]

    def dissipation(self, viscosity: float) -> xr.DataArray:
        """Return viscosity <(du'_i/dx_j)^2>."""
        return self.ds["mean_dissipation"]


@dataclass(frozen=True, eq=False)
class MomentsOverPlanes(Moments):
    """Moments of deviations from the mean over time and planes across the axis in `axes`, also of means in time."""

    @cached_property
    def means(self) -> xr.Dataset:
        return profiles(self.ds, self.axes)

    def flux(self, a: str) -> xr.DataArray:
        """Return <u'_i u'_i u'_a> / 2, including variation within planes."""
        apart = self._velocities
        flux = self.ds[f"mean_energy_flux_{a}"] + 0.5 * sum(q**2 for q in apart.values()) * apart[a]
        for b, q in apart.items():
            both, own = (_covariance(self.ds, VELOCITY[b], VELOCITY[other]) for other in (a, b))
            flux = flux + q * both + 0.5 * apart[a] * own
        return over_planes(self.ds, flux, self.axes)

    def eddy_flux(self, a: str) -> xr.DataArray:
        """Return <u'_i s'_ia>, including variation within planes."""
        flux = self.ds[f"mean_eddy_flux_{a}"]
        for b, q in self._velocities.items():
            flux = flux + q * self._apart(_stress(b, a))
        return over_planes(self.ds, flux, self.axes)

    def dissipation(self, viscosity: float) -> xr.DataArray:
        """Return viscosity <(du'_i/dx_j)^2>, including variation within planes."""
        apart = {f"apart_{VELOCITY[a]}": q for a, q in self._velocities.items()}
        around = self.ds.assign(apart)
        gradients = sum(derivative(around, name, other) ** 2 for name in apart for other in "xyz")
        return over_planes(self.ds, self.ds["mean_dissipation"] + viscosity * gradients, self.axes)

    @cached_property
    def _velocities(self) -> dict[str, xr.DataArray]:
        return {a: self._apart(f"mean_{name}") for a, name in VELOCITY.items()}

    def _apart(self, name: str) -> xr.DataArray:
        """Return the deviation from the mean over planes."""
        return self.ds[name] - over_planes(self.ds, self.ds[name], self.axes)


def _covariance(ds: xr.Dataset, a: str, b: str) -> xr.DataArray:
    return ds[f"cov_{a}_{b}"] if f"cov_{a}_{b}" in ds else ds[f"cov_{b}_{a}"]


def _stress(a: str, b: str) -> str:
    return f"mean_eddy_stress_{min(a, b)}{max(a, b)}"
