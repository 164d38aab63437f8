"""The budget of turbulent kinetic energy of statistics that are made up, and so known."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from taskflow.common.errors import BadInput

CASE = """
[fluid]
viscosity = 0.1
[heat]
expansion = 2.0
[body]
gravity = [0.0, 0.0, -3.0]
[boundaries]
x = "periodic"
y = "periodic"
z_min = "wall"
z_max = { type = "wall", velocity = [2.0, 0.0, 0.0] }
"""
FIELDS = {  # between walls at z = -1 and 1
    "mean_u": lambda z: 1 + z + 1 - z**2, "mean_v": lambda z: 0 * z, "mean_w": lambda z: 0 * z,
    "cov_u_u": lambda z: (1 - z**2) ** 2, "cov_v_v": lambda z: 0.5 * (1 - z**2) ** 2,
    "cov_w_w": lambda z: 0.5 * (1 - z**2) ** 2, "cov_u_v": lambda z: 0 * z, "cov_u_w": lambda z: z * (1 - z**2),
    "cov_v_w": lambda z: 0 * z, "cov_w_p": lambda z: (1 - z**2) ** 2 * z, "cov_w_T": lambda z: 1 - z**2,
    "cov_u_T": lambda z: 0 * z, "cov_v_T": lambda z: 0 * z,
    "mean_energy_flux_z": lambda z: np.sin(np.pi * z), "mean_dissipation": lambda z: 1 + z**2,
}  # fmt: skip
EXACT = {
    "production": lambda z: -z * (1 - z**2) * (1 - 2 * z),
    "turbulent_transport": lambda z: -np.pi * np.cos(np.pi * z),
    "pressure_transport": lambda z: -((1 - z**2) ** 2) + 4 * z**2 * (1 - z**2),
    "viscous_diffusion": lambda z: 0.1 * (12 * z**2 - 4),
    "dissipation": lambda z: -(1 + z**2),
    "buoyancy": lambda z: 6.0 * (1 - z**2),
    "convection": lambda z: 0 * z,
    "kinetic_energy": lambda z: (1 - z**2) ** 2,
}

EDDIES = {
    "mean_eddy_dissipation": lambda z: 3 - z**2, "mean_eddy_stress_xz": lambda z: z**2, "mean_eddy_stress_yz": np.sin,
    "mean_eddy_stress_zz": lambda z: z, "mean_eddy_flux_z": lambda z: z * (1 - z**2),
}  # fmt: skip
EXACT_EDDIES = {
    "eddy_transport": lambda z: 1 - 3 * z**2,
    "eddy_dissipation": lambda z: z**2 * (1 - 2 * z) - (3 - z**2),
}


def made(n: int, *, eddies: bool = False) -> xr.Dataset:
    """Statistics on n cells of different heights, alike along x and y."""
    faces = np.tanh(1.2 * np.linspace(-1, 1, n + 1)) / np.tanh(1.2)
    centres = (faces[1:] + faces[:-1]) / 2
    coords = {"x_c": [0.25, 0.75], "x_f": [0.0, 0.5], "y_c": [0.25, 0.75], "y_f": [0.0, 0.5]}
    coords |= {"z_c": centres, "z_f": faces, "time": [1.0]}
    ds = xr.Dataset(coords=coords, attrs={"case": CASE})
    for name, values in {**FIELDS, **(EDDIES if eddies else {})}.items():
        data = np.broadcast_to(values(centres)[None, :, None, None], (1, n, 2, 2))
        ds[name] = xr.DataArray(data, dims=("time", "z_c", "y_c", "x_c"), attrs={"long_name": name, "units": "1"})
    return ds.assign(since=("time", [0.0]), samples=("time", [9.0]))


@pytest.mark.slow
def test_its_terms_are_of_second_order():
    """On average over the height: in the cells beside walls of first."""
    for name, exact in {**EXACT, **EXACT_EDDIES}.items():
        errors = []
        for ds in (made(24, eddies=True), made(48, eddies=True)):
            result = ds.flow.kinetic_energy_budget("z")[name].isel(time=0)
            errors.append(float((np.abs(result - exact(ds.z_c.values)) * np.diff(ds.z_f)).sum()) / 2)
        assert errors[1] < 0.01, name
        assert errors[0] < 1e-12 or np.log2(errors[0] / errors[1]) > 1.8, name


@pytest.mark.fast("True")
@pytest.mark.parametrize("eddies", [False, True])
def test_what_is_transported_adds_up_to_nothing_between_walls(eddies):
    ds = made(20, eddies=eddies)
    budget = ds.flow.kinetic_energy_budget("z")
    heights = np.diff(ds.z_f)
    exact = {**EXACT, **(EXACT_EDDIES if eddies else {})}
    for name in exact:
        if name.endswith("_transport"):
            assert abs((budget[name].isel(time=0) * heights).sum()) < 1e-14
    terms = [name for name in exact if name != "kinetic_energy"]
    xr.testing.assert_allclose(budget.residual, sum(budget[name] for name in terms))


def test_beside_a_wall_whose_velocity_changes_diffusion_is_not_known():
    """Fluctuations of the wall itself have an energy, which was taken as 0."""
    attrs = {"case": CASE.replace("[2.0, 0.0, 0.0]", "[nan, 0.0, 0.0]")}
    diffusion = made(8).assign_attrs(attrs).flow.kinetic_energy_budget("z").isel(time=0).viscous_diffusion
    np.testing.assert_array_equal(np.isnan(diffusion), np.arange(8) == 7)


def test_what_differs_within_planes_counts_as_fluctuations():
    """Half the plane has U + 1, half U - 1: 1/2 more energy, of which W carries nothing, and gradients of x."""
    steps = xr.DataArray([1.0, -1.0], dims="x_c")
    ds = made(20, eddies=True)
    ds["mean_u"], ds["mean_eddy_stress_xz"] = ds.mean_u + steps, ds.mean_eddy_stress_xz + 0.3 * steps
    with_steps, without = (item.flow.kinetic_energy_budget("z") for item in (ds, made(20, eddies=True)))
    np.testing.assert_allclose(with_steps.eddy_dissipation, without.eddy_dissipation)
    carried = (with_steps.eddy_transport - without.eddy_transport).values[0]  # 0.3, everywhere but at the walls
    np.testing.assert_allclose(carried * np.diff(ds.z_f), [0.3, *[0.0] * 18, -0.3], atol=1e-14)
    np.testing.assert_allclose(with_steps.kinetic_energy, without.kinetic_energy + 0.5)
    np.testing.assert_allclose(with_steps.production, without.production)


ALIKE = [f"cov_{a}_{b}" for a, b in ("uv", "vw", "up", "vp")]


def in_cells(n: int, *, body: bool = False) -> xr.Dataset:
    """The same, with what the budget in each cell needs besides; of `body` two cells in the middle are."""
    ds = made(n, eddies=True)
    zero = ds.mean_v.assign_attrs(long_name="0", units="1")
    more = [*ALIKE, *(f"mean_energy_flux_{a}" for a in "xy"), *(f"mean_eddy_flux_{a}" for a in "xy")]
    ds = ds.assign(dict.fromkeys((*more, *(f"mean_eddy_stress_{pair}" for pair in ("xx", "xy", "yy"))), zero))
    if body:
        solid = xr.zeros_like(ds.mean_u.isel(time=0), dtype="i1")
        solid[n // 2 : n // 2 + 2, 0, 1] = 1
        ds = ds.assign(solid=solid)
    return ds


@pytest.mark.slow
def test_in_each_cell_it_is_that_along_the_axis_where_planes_are_alike():
    ds = in_cells(20)
    local, along = ds.flow.kinetic_energy_budget(), ds.flow.kinetic_energy_budget("z")
    assert local.production.dims == ("time", "z_c", "y_c", "x_c")
    for name in along:
        np.testing.assert_allclose(local[name].isel(y_c=0, x_c=1), along[name], rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_beside_bodies_what_is_transported_adds_up_to_nothing():
    """In them there is nothing. On their faces all is 0, and k rises from there as a parabola."""
    ds = in_cells(20, body=True)
    rng = np.random.default_rng(0)
    fluxes = ["mean_energy_flux_x", "mean_energy_flux_y", "mean_eddy_flux_x"]
    for name in ("mean_u", "cov_u_p", "cov_v_p", "cov_u_u", *fluxes):
        ds[name] = ds[name] + rng.uniform(0, 1, ds[name].shape)
    budget, inside = ds.flow.kinetic_energy_budget().load(), ds.solid == 1
    heights = xr.DataArray(np.diff(ds.z_f), dims="z_c")
    for name in budget:
        assert (budget[name].isnull() == inside).all()
    for name in ("turbulent_transport", "pressure_transport", "eddy_transport"):
        assert abs((budget[name] * heights).sum()) < 1e-13
        assert abs(budget[name]).max() > 0.1
    terms = [name for name in budget if name not in ("residual", "kinetic_energy")]
    xr.testing.assert_allclose(budget.residual, sum(budget[name] for name in terms))


def test_beside_a_body_derivatives_end_on_its_face():
    """Between a body and a wall, k and U as between walls there: the diffusion of k ~ y^2 is right in each cell."""
    n = 24
    ds = in_cells(n)
    z, faces = ds.z_c, ds.z_f.values
    solid = xr.zeros_like(ds.mean_u.isel(time=0), dtype="i1")
    solid[: n // 2] = 1
    low = faces[n // 2]
    nothing = xr.zeros_like(ds.cov_u_u)
    k, U = nothing + (z - low) * (z - 1), nothing + 2 * (z - low) / (1 - low)
    ds = ds.assign(solid=solid, cov_u_u=2 * k, cov_v_v=nothing, cov_w_w=nothing, mean_u=U)
    budget = ds.flow.kinetic_energy_budget().isel(time=0, x_c=0, y_c=0, z_c=slice(n // 2, None)).load()
    np.testing.assert_allclose(budget.viscous_diffusion[1:-1], 0.2, rtol=0.05)
    shear = 2 / (1 - low)
    np.testing.assert_allclose(budget.production, -ds.cov_u_w[0, n // 2 :, 0, 0] * shear, rtol=1e-12)


def test_planes_that_bodies_cut_are_refused():
    with pytest.raises(BadInput, match=r"axis = 'z': bodies cut the planes across it; omit it"):
        in_cells(8, body=True).flow.kinetic_energy_budget("z")


def test_statistics_without_a_budget_are_refused():
    with pytest.raises(BadInput, match=r"statistics.budget = true"):
        made(8).drop_vars("mean_dissipation").flow.kinetic_energy_budget("z")
