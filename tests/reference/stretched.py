"""Operators of stretched grids in NumPy. Fields are arrays [z, y, x] with layers of ghost cells, in which nothing is
right afterwards.
"""

import numpy as np


def shift(q, axis, n=1):
    """The value n cells further along an axis."""
    return np.roll(q, -n, axis=2 - axis)


def parabola(place, points, values):
    """The value at a place on the parabola through three points, by Lagrange."""
    total = 0.0
    for n, value in enumerate(values):
        others = [points[m] for m in range(3) if m != n]
        total = total + value * np.prod([(place - other) / (points[n] - other) for other in others], axis=0)
    return total


class Metrics:
    """Of cells along each axis: widths W, distances D between the centres on both sides of low faces, places F of low
    faces and C of centres, numbers N; and the number of the `last` one before a wall.
    """

    def __init__(self, grid, ghost=1):
        self.W, self.D, self.F, self.C, self.N, self.last = [], [], [], [], [], []
        for axis in range(3):
            periodic, n = grid.periodic[axis], grid.cells[axis]
            width = np.pad(grid.widths(axis), ghost + 1, mode="wrap" if periodic else "symmetric")
            faces = np.cumsum(width)[:-2]
            centres, numbers = faces + width[1:-1] / 2, np.arange(-ghost, n + ghost)
            found = width[1:-1], (width[:-2] + width[1:-1]) / 2, faces, centres, numbers
            for member, values in zip((self.W, self.D, self.F, self.C, self.N), found, strict=True):
                shape = [1, 1, 1]
                shape[2 - axis] = -1
                member.append(values.reshape(shape))
            self.last.append(None if periodic else n - 1)

    def divergence(self, velocity):
        return sum((shift(q, a) - q) / self.W[a] for a, q in enumerate(velocity))

    def gradient(self, p, axis):
        return (p - shift(p, axis, -1)) / self.D[axis]

    def carrier(self, r, a):
        """r in the volumes around low faces across a: the mean weighted by the volumes on both sides."""
        return (shift(self.W[a], a, -1) * shift(r, a, -1) + self.W[a] * r) / (2 * self.D[a])

    def upwind(self, q, a, speed, points, places, central):
        """QUICK: q, which is given at `points`, at `places` between it and the one before, by the speed there; the mean
        in cells that are `central` for flow that goes forward, and for flow that goes backward.
        """
        found = []
        for first, mean in zip((-2, -1), central, strict=True):
            row = [[shift(each, a, first + n) for n in range(3)] for each in (np.broadcast_to(points, q.shape), q)]
            found.append(np.where(mean, (q + shift(q, a, -1)) / 2, parabola(places, *row)))
        return np.where(speed > 0, *found)

    def momentum(self, velocity, a, viscosity):
        """-div(q u) + viscosity Laplacian(q), q being the velocity along a, with central differences."""
        return self._momentum(velocity, a, viscosity, lambda q, b, _: (q + shift(q, b, -1)) / 2)

    def momentum_quick(self, velocity, a, viscosity):
        """The same, carried by QUICK."""

        def carried(q, b, speed):
            if b == a:
                cell = self.N[a] - 1
                central = [np.equal(cell, 0) & (self.last[a] is not None), np.equal(cell, self.last[a])]
                return self.upwind(q, a, speed, self.F[a], shift(self.C[a], a, -1), central)
            on_wall = np.isin(self.N[b], [] if self.last[b] is None else [0, self.last[b] + 1])
            return self.upwind(q, b, speed, self.C[b], self.F[b], [on_wall, on_wall])

        return self._momentum(velocity, a, viscosity, carried)

    def _momentum(self, velocity, a, viscosity, carried):
        q, W, D = velocity[a], self.W, self.D
        speed = (q + shift(q, a, -1)) / 2
        inside = shift(speed * carried(q, a, speed), a)
        stress = (shift(q, a) - q) / W[a]
        total = (viscosity * (stress - shift(stress, a, -1)) - (inside - shift(inside, a, -1))) / D[a]
        for b in {0, 1, 2} - {a}:
            speed = self.carrier(velocity[b], a)
            flux = speed * carried(q, b, speed) - viscosity * self.gradient(q, b)
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
