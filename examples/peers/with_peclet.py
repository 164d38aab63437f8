"""peclet: a staggered grid, upwind convection of second order, implicit diffusion, pressure by multigrid, in double
precision.
"""

from __future__ import annotations

import numpy as np

from examples.peers.flow import SIDE, VISCOSITY, Flow, State, divergence, energy

PACKAGE = "peclet"


class Peclet:
    """The flow in peclet. Raises ValueError for single precision, which it lacks."""

    def __init__(self, flow: Flow) -> None:
        import peclet.flow

        if flow.precision != "double":
            raise ValueError(f'peclet with precision = "{flow.precision}": it has double precision alone')
        self.flow, self.solver = flow, peclet.flow.Solver((flow.cells,) * 3, extent=(SIDE,) * 3)
        self.solver.set_rho(1.0)
        self.solver.set_mu(VISCOSITY)
        self.solver.set_dt(flow.step)
        self.solver.set_advection(True)
        nowhere = np.full((flow.cells,) * 3, SIDE, order="F")
        self.solver.set_solid(nowhere, cutcell_pressure=True)  # without it there is no pressure
        self.solver.set_state(*(np.asfortranarray(part) for part in flow.velocity(staggered=True, low=True)))

    def advance(self, steps: int) -> None:
        """Take steps, and return when they are done."""
        for _ in range(steps):
            self.solver.step()

    def state(self) -> State:
        """Return the energy and the divergence on cells."""
        velocity = [np.asarray(part()) for part in (self.solver.get_u, self.solver.get_v, self.solver.get_w)]
        return State(energy(velocity), divergence(velocity, self.flow))


start = Peclet
