"""Operators of stretched grids in NumPy. Fields are arrays [z, y, x] with one layer of ghost cells, in which nothing is
right afterwards.
"""

import numpy as np


def shift(q, axis, n=1):
    """The value n cells further along an axis."""
    return np.roll(q, -n, axis=2 - axis)


class Metrics:
    """Widths W of cells, and distances D between the centres on both sides of low faces, along each axis."""

    def __init__(self, grid):
        self.W, self.D = [], []
        for axis in range(3):
            mode = "wrap" if grid.periodic[axis] else "symmetric"
            width = np.pad(grid.widths(axis), 2, mode=mode)
            for found, values in ((self.W, width[1:-1]), (self.D, (width[:-2] + width[1:-1]) / 2)):
                shape = [1, 1, 1]
                shape[2 - axis] = -1
                found.append(values.reshape(shape))

    def divergence(self, velocity):
        return sum((shift(q, a) - q) / self.W[a] for a, q in enumerate(velocity))

    def gradient(self, p, axis):
        return (p - shift(p, axis, -1)) / self.D[axis]

    def carrier(self, r, a):
        """r in the volumes around low faces across a: the mean weighted by the volumes on both sides."""
        return (shift(self.W[a], a, -1) * shift(r, a, -1) + self.W[a] * r) / (2 * self.D[a])

    def momentum(self, velocity, a, viscosity):
        """-div(q u) + viscosity Laplacian(q), q being the velocity along a."""
        q, W, D = velocity[a], self.W, self.D
        inside = ((q + shift(q, a)) / 2) ** 2
        stress = (shift(q, a) - q) / W[a]
        total = (viscosity * (stress - shift(stress, a, -1)) - (inside - shift(inside, a, -1))) / D[a]
        for b in {0, 1, 2} - {a}:
            flux = self.carrier(velocity[b], a) * (shift(q, b, -1) + q) / 2 - viscosity * self.gradient(q, b)
            total = total - (shift(flux, b) - flux) / W[b]
        return total

    def transport(self, T, velocity, diffusivity):
        """-div(u T) + div(diffusivity grad T), the diffusivity a number or a field in cells."""
        total = 0.0
        for a, u in enumerate(velocity):
            on_face = (diffusivity + shift(np.broadcast_to(diffusivity, T.shape), a, -1)) / 2
            flux = u * (shift(T, a, -1) + T) / 2 - on_face * self.gradient(T, a)
            total = total - (shift(flux, a) - flux) / self.W[a]
        return total
