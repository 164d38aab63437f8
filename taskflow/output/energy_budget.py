"""The budget of turbulent kinetic energy along one axis, from statistics over time and over planes.

With k = <u'_i u'_i> / 2, U = <u>, z the axis, and p over density,

    dk/dt = - W dk/dz  - <u'_i w'> dU_i/dz  - d/dz <u'_i u'_i w'>/2  - d/dz <p' w'>
            + viscosity d2k/dz2  - viscosity <(du'_i/dx_j)^2>  - expansion g_i <u'_i T'>
            + d/dz <u'_i s'_iz>  - (<s_ij du_i/dx_j> - <s_iz> dU_i/dz)

s being the stress of eddies that are not resolved, if there are any, and k then the energy of those that are
(S. B. Pope 2000, Turbulent Flows, section 5.3; the dissipation is the one without cross terms, which goes with this
viscous diffusion). Every derivative is the difference of values on the faces of a cell, so what is transported adds up
to what passes the ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.averages import profiles, widths
from taskflow.output.derived import VELOCITY, derivative
from taskflow.output.planes import periodic
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


def kinetic_energy_budget(ds: xr.Dataset, axis: str) -> xr.Dataset:
    """The terms along an axis with the sign with which they change k, k itself, and `residual`, their sum: dk/dt and
    errors. Raises BadInput where the statistics have no budget.
    """
    if "mean_dissipation" not in ds:
        raise BadInput("these statistics have no budget; give statistics.budget = true in the case")
    case, line = case_of(ds), _Line(ds, axis)
    found, w = profiles(ds, axis), VELOCITY[axis]
    viscosity = case["fluid"]["viscosity"]

    def covariance(a: str, b: str) -> xr.DataArray:
        return found[f"cov_{a}_{b}"] if f"cov_{a}_{b}" in found else found[f"cov_{b}_{a}"]

    k = 0.5 * sum((covariance(name, name) for name in VELOCITY.values()), start=xr.zeros_like(found[f"mean_{w}"]))
    walls = {name: line.velocities("xyz".index(a)) for a, name in VELOCITY.items()}
    shear = {name: line.slope(line.on_faces(found[f"mean_{name}"], walls[name])) for name in walls}
    flux, rate = _with_differences(ds, axis, viscosity)
    gravity = case.get("body", {}).get("gravity", (0.0, 0.0, 0.0))
    expansion = case.get("heat", {}).get("expansion", 0.0)
    lift = sum(float(g) * covariance(n, "T") for g, n in zip(gravity, walls, strict=True)) if expansion else 0.0
    still = line.still
    terms = {
        "convection": -found[f"mean_{w}"] * line.slope(line.on_faces(k, still)),
        "production": -sum(covariance(name, w) * shear[name] for name in walls),
        "turbulent_transport": -line.slope(line.on_faces(flux, (0.0, 0.0))),
        "pressure_transport": -line.slope(line.on_faces(covariance(w, "p"), (0.0, 0.0))),
        "viscous_diffusion": viscosity * line.slope(line.rise(k, still)),
        "dissipation": -rate,
        "buoyancy": -expansion * lift + xr.zeros_like(k),
    }
    if EDDIES in ds:
        carried = sum(found[_stress(a, axis)] * shear[name] for a, name in VELOCITY.items())
        terms["eddy_transport"] = line.slope(line.on_faces(_eddy_flux(ds, axis), (0.0, 0.0)))
        terms["eddy_dissipation"] = carried - found[EDDIES]
    budget = {name: term.assign_attrs(long_name=f"{name}: {TERMS[name]}", units="1") for name, term in terms.items()}
    total = sum(terms.values(), start=xr.zeros_like(k))
    budget["residual"] = total.assign_attrs(long_name="sum of the terms", units="1")
    budget["kinetic_energy"] = k.assign_attrs(long_name="turbulent kinetic energy", units="1")
    return xr.Dataset(budget, attrs=ds.attrs)


def _stress(a: str, b: str) -> str:
    """The name of a mean stress of eddies."""
    return f"mean_eddy_stress_{min(a, b)}{max(a, b)}"


def _eddy_flux(ds: xr.Dataset, axis: str) -> xr.DataArray:
    """<u'_i s'_iz> of all that differs from the mean over time and planes."""
    flux = ds[f"mean_eddy_flux_{axis}"]
    for a, name in VELOCITY.items():
        flux = flux + _apart(ds, f"mean_{name}", axis) * _apart(ds, _stress(a, axis), axis)
    return _over_planes(ds, flux, axis)


def _over_planes(ds: xr.Dataset, q: xr.DataArray, axis: str) -> xr.DataArray:
    """The mean over planes across the axis."""
    across = [f"{other}_c" for other in "xyz" if other != axis]
    return q.weighted(widths(ds, across[0][0]) * widths(ds, across[1][0])).mean(across)


def _apart(ds: xr.Dataset, name: str, axis: str) -> xr.DataArray:
    """What differs from the mean over planes."""
    return ds[name] - _over_planes(ds, ds[name], axis)


def _with_differences(ds: xr.Dataset, axis: str, viscosity: float) -> tuple[xr.DataArray, xr.DataArray]:
    """The flux of k along the axis, and dissipation, of all that differs from the mean over time and planes: of means
    over time that differ within planes, too.
    """
    apart = {name: _apart(ds, f"mean_{name}", axis) for name in VELOCITY.values()}
    w, squares = VELOCITY[axis], sum(each**2 for each in apart.values())
    flux = ds[f"mean_energy_flux_{axis}"] + 0.5 * squares * apart[w]
    for name, each in apart.items():
        both = f"cov_{name}_{w}" if f"cov_{name}_{w}" in ds else f"cov_{w}_{name}"
        flux = flux + each * ds[both] + 0.5 * apart[w] * ds[f"cov_{name}_{name}"]
    around = ds.assign({f"apart_{name}": each for name, each in apart.items()})
    gradients = sum(derivative(around, f"apart_{name}", other) ** 2 for name in apart for other in "xyz")
    rate = ds["mean_dissipation"] + viscosity * gradients
    return _over_planes(ds, flux, axis), _over_planes(ds, rate, axis)


@dataclass(frozen=True, eq=False)
class _Line:
    """The cells along an axis, and what is at its ends."""

    ds: xr.Dataset
    axis: str

    @property
    def dim(self) -> str:
        return f"{self.axis}_c"

    @property
    def closed(self) -> bool:
        return periodic(self.ds, self.axis)

    def _sides(self) -> list[Mapping[str, Any]]:
        tables = (case_of(self.ds)["boundaries"].get(f"{self.axis}_{end}") for end in ("min", "max"))
        return [side if isinstance(side, Mapping) else {"type": side} for side in tables]

    def velocities(self, number: int) -> tuple[float | None, float | None]:
        """A velocity at both ends; None where there is no wall."""
        low, high = (
            float(side.get("velocity", (0.0, 0.0, 0.0))[number]) if side["type"] == "wall" else None
            for side in self._sides()
        )
        return low, high

    @property
    def still(self) -> tuple[float | None, float | None]:
        """The energy of fluctuations at both ends: 0 at walls, None elsewhere."""
        low, high = (0.0 if side["type"] == "wall" else None for side in self._sides())
        return low, high

    def on_faces(self, q: xr.DataArray, ends: tuple[float | None, float | None]) -> xr.DataArray:
        """On all faces, linear between centres; at an end its value, or that of the cell."""
        low, high, behind, ahead = self._beside(q)
        inner = (low * ahead + high * behind) / (behind + ahead)
        return self._closed(inner, self._end(q, 0, ends[0]), self._end(q, -1, ends[1]))

    def rise(self, q: xr.DataArray, ends: tuple[float | None, float | None]) -> xr.DataArray:
        """The derivative on all faces; at an end that of a parabola through its value and two cells, or 0."""
        low, high, behind, ahead = self._beside(q)
        first, last = self._rise_at(q, (0, 1), ends[0]), -self._rise_at(q, (-1, -2), ends[1])
        return self._closed((high - low) / (behind + ahead), first, last)

    def _rise_at(self, q: xr.DataArray, cells: tuple[int, int], value: float | None) -> xr.DataArray:
        """The derivative at an end, inwards."""
        here = q.isel({self.dim: [cells[0]]}).drop_vars(self.dim)
        if value is None:
            return xr.zeros_like(here)
        h = widths(self.ds, self.axis).values[list(cells)]
        near, far = h[0] / 2, h[0] + h[1] / 2
        beyond = q.isel({self.dim: [cells[1]]}).drop_vars(self.dim)
        return (far**2 * (here - value) - near**2 * (beyond - value)) / (near * far * (far - near))

    def slope(self, faces: xr.DataArray) -> xr.DataArray:
        """What all faces have as a derivative in the cells between them."""
        return faces.diff(self.dim).assign_coords({self.dim: self.ds[self.dim]}) / widths(self.ds, self.axis)

    def _end(self, q: xr.DataArray, n: int, value: float | None) -> xr.DataArray:
        cell = q.isel({self.dim: [n]}).drop_vars(self.dim)
        return cell if value is None else xr.full_like(cell, value)

    def _beside(self, q: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray, xr.DataArray]:
        """Before and behind each inner face, round where periodic: the values, and how far their places are from it."""
        count, h = q.sizes[self.dim], widths(self.ds, self.axis).values / 2
        first = np.arange(count) - 1 if self.closed else np.arange(count - 1)
        low, high = (q.isel({self.dim: n % count}).drop_vars(self.dim) for n in (first, first + 1))
        behind, ahead = (xr.DataArray(h[n % count], dims=self.dim) for n in (first, first + 1))
        return low, high, behind, ahead

    def _closed(self, inner: xr.DataArray, first: xr.DataArray, last: xr.DataArray) -> xr.DataArray:
        """With the faces at the ends: in a periodic direction the last one is the first."""
        if self.closed:
            return xr.concat([inner, inner.isel({self.dim: [0]})], self.dim)
        return xr.concat([first, inner, last], self.dim)
