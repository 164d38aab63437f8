"""exponax: a Fourier pseudospectral method with exponential time steps of second order."""

from __future__ import annotations

import numpy as np

from examples.peers.flow import SIDE, VISCOSITY, Flow, State, energy

PACKAGE = "exponax"


class Exponax:
    """The flow in exponax, as one compiled loop."""

    def __init__(self, flow: Flow) -> None:
        import exponax
        import jax

        jax.config.update("jax_enable_x64", flow.precision == "double")
        self.velocity = jax.numpy.stack([jax.numpy.asarray(part) for part in flow.velocity(staggered=False)])
        step = exponax.stepper.NavierStokesVelocity(3, SIDE, flow.cells, flow.step, diffusivity=VISCOSITY)
        self.loop = jax.jit(lambda n, u: jax.lax.fori_loop(0, n, lambda _, now: step(now), u))
        self.wait = jax.block_until_ready

    def advance(self, steps: int) -> None:
        """Take steps, and return when they are done."""
        self.velocity = self.wait(self.loop(steps, self.velocity))

    def state(self) -> State:
        """Return the energy and the spectral divergence."""
        velocity = np.asarray(self.velocity, dtype="f8")
        waves = np.fft.fftfreq(velocity.shape[1], 1 / velocity.shape[1]) * 2 * np.pi / SIDE
        waves[len(waves) // 2] = 0.0  # a wave of two points has no derivative there
        k = np.meshgrid(waves, waves, waves, indexing="ij", sparse=True)
        sides = (1j * k[axis] * np.fft.fftn(velocity[axis]) for axis in range(3))
        return State(energy(velocity), float(abs(np.fft.ifftn(sum(sides))).max()))


start = Exponax
