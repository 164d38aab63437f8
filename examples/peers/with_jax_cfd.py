"""jax-cfd: finite volumes on a staggered grid, central convection, RK2, pressure by FFT."""

from __future__ import annotations

from examples.peers.flow import SIDE, VISCOSITY, Flow, State, energy

PACKAGE = "jax-cfd"


class JaxCfd:
    """The flow in jax-cfd, as one compiled loop."""

    def __init__(self, flow: Flow) -> None:
        import jax
        from jax_cfd.base import advection, boundaries, equations, grids, time_stepping

        jax.config.update("jax_enable_x64", flow.precision == "double")
        grid = grids.Grid((flow.cells,) * 3, domain=((0.0, SIDE),) * 3)
        periodic = boundaries.periodic_boundary_conditions(3)
        arrays = zip(flow.velocity(staggered=True), grid.cell_faces, strict=True)
        self.velocity = tuple(
            grids.GridVariable(grids.GridArray(jax.numpy.asarray(field), offset, grid), periodic)
            for field, offset in arrays
        )
        step = equations.semi_implicit_navier_stokes(
            density=1.0, viscosity=VISCOSITY, dt=flow.step, grid=grid, convect=advection.convect_linear,
            time_stepper=time_stepping.heun_rk2,
        )  # fmt: skip
        self.loop = jax.jit(lambda n, v: jax.lax.fori_loop(0, n, lambda _, now: step(now), v))
        self.wait = jax.block_until_ready

    def advance(self, steps: int) -> None:
        """Take steps, and return when they are done."""
        self.velocity = self.wait(self.loop(steps, self.velocity))

    def state(self) -> State:
        """Return the energy and the divergence on cells."""
        from jax_cfd.base import finite_differences

        divergence = finite_differences.divergence(self.velocity)
        return State(energy([part.data for part in self.velocity]), float(abs(divergence.data).max()))


start = JaxCfd
