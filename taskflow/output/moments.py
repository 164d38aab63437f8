"""The moments of statistics that budgets are made of: of fluctuations in time in each cell, or in time and over planes.

Directions stand for the velocities along them: covariance("x", "z") is <u'w'>.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import xarray as xr

from taskflow.output.averages import profiles, widths
from taskflow.output.derived import VELOCITY, derivative
from taskflow.output.faces import Faces


@dataclass(frozen=True, eq=False)
class Moments:
    """Those in each cell, of statistics with a budget."""

    ds: xr.Dataset

    @property
    def axes(self) -> str:
        """Along which they vary."""
        return "xyz"

    @property
    def found(self) -> xr.Dataset:
        """Means and covariances."""
        return self.ds

    @cached_property
    def lines(self) -> dict[str, Faces]:
        """The faces across each of the axes."""
        return {axis: Faces(self.ds, axis) for axis in self.axes}

    @cached_property
    def energy(self) -> xr.DataArray:
        """k = <u'_i u'_i> / 2."""
        x, y, z = (self.covariance(axis, axis) for axis in "xyz")
        return 0.5 * (x + y + z)

    @cached_property
    def shear(self) -> dict[tuple[str, str], xr.DataArray]:
        """dU_i/dx_j by i and j."""
        found = {}
        for axis, line in self.lines.items():
            for number, other in enumerate("xyz"):
                found[other, axis] = line.slope(line.on_faces(self.mean(other), line.velocities(number)))
        return found

    def mean(self, a: str) -> xr.DataArray:
        """U_a."""
        return self.found[f"mean_{VELOCITY[a]}"]

    def covariance(self, a: str, b: str) -> xr.DataArray:
        """<u'_a u'_b>."""
        return _covariance(self.found, VELOCITY[a], VELOCITY[b])

    def pressure_flux(self, a: str) -> xr.DataArray:
        """<u'_a p'>."""
        return _covariance(self.found, VELOCITY[a], "p")

    def heat_flux(self, a: str) -> xr.DataArray:
        """<u'_a T'>."""
        return _covariance(self.found, VELOCITY[a], "T")

    def stress(self, a: str, b: str) -> xr.DataArray:
        """<s_ab> of eddies."""
        return self.found[_stress(a, b)]

    def flux(self, a: str) -> xr.DataArray:
        """<u'_i u'_i u'_a> / 2."""
        return self.ds[f"mean_energy_flux_{a}"]

    def eddy_flux(self, a: str) -> xr.DataArray:
        """<u'_i s'_ia>."""
        return self.ds[f"mean_eddy_flux_{a}"]

    def dissipation(self, viscosity: float) -> xr.DataArray:
        """viscosity <(du'_i/dx_j)^2>."""
        return self.ds["mean_dissipation"]


@dataclass(frozen=True, eq=False)
class MomentsOverPlanes(Moments):
    """Those of all that differs from the mean over time and over planes across an axis: of means over time that differ
    within planes, too.
    """

    axis: str

    @property
    def axes(self) -> str:
        """The one along which they vary."""
        return self.axis

    @cached_property
    def found(self) -> xr.Dataset:
        """Means and covariances."""
        return profiles(self.ds, self.axis)

    def flux(self, a: str) -> xr.DataArray:
        """See `Moments.flux`."""
        apart = self._velocities
        flux = self.ds[f"mean_energy_flux_{a}"] + 0.5 * sum(each**2 for each in apart.values()) * apart[a]
        for b, each in apart.items():
            both, own = (_covariance(self.ds, VELOCITY[b], VELOCITY[other]) for other in (a, b))
            flux = flux + each * both + 0.5 * apart[a] * own
        return self._mean(flux)

    def eddy_flux(self, a: str) -> xr.DataArray:
        """See `Moments.eddy_flux`."""
        flux = self.ds[f"mean_eddy_flux_{a}"]
        for b, each in self._velocities.items():
            flux = flux + each * self._apart(_stress(b, a))
        return self._mean(flux)

    def dissipation(self, viscosity: float) -> xr.DataArray:
        """See `Moments.dissipation`."""
        apart = {f"apart_{VELOCITY[a]}": each for a, each in self._velocities.items()}
        around = self.ds.assign(apart)
        gradients = sum(derivative(around, name, other) ** 2 for name in apart for other in "xyz")
        return self._mean(self.ds["mean_dissipation"] + viscosity * gradients)

    @cached_property
    def _velocities(self) -> dict[str, xr.DataArray]:
        return {a: self._apart(f"mean_{name}") for a, name in VELOCITY.items()}

    def _apart(self, name: str) -> xr.DataArray:
        """What differs from the mean over planes."""
        return self.ds[name] - self._mean(self.ds[name])

    def _mean(self, q: xr.DataArray) -> xr.DataArray:
        """That over planes across the axis."""
        across = [f"{other}_c" for other in "xyz" if other != self.axis]
        return q.weighted(widths(self.ds, across[0][0]) * widths(self.ds, across[1][0])).mean(across)


def _covariance(ds: xr.Dataset, a: str, b: str) -> xr.DataArray:
    return ds[f"cov_{a}_{b}"] if f"cov_{a}_{b}" in ds else ds[f"cov_{b}_{a}"]


def _stress(a: str, b: str) -> str:
    """The name of a mean stress of eddies."""
    return f"mean_eddy_stress_{min(a, b)}{max(a, b)}"
