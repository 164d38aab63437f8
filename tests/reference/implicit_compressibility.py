"""Implicit marching of artificial compressibility in NumPy: the residual of first order, block ILU(0), GMRES.

Arrays are those of `tests.reference.artificial_compressibility`: of a chart with two layers of cells around it.
Blocks are of p, u, v, w.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from tests.reference.artificial_compressibility import (
    CLOSED,
    FAR,
    GIVEN,
    INTERIOR,
    LAYERS,
    OPEN,
    Discretisation,
    Surfaces,
    at,
    flux,
    kinds,
    on_faces,
    outward,
)

SMOOTH = 0.02
Cells = tuple[int, int, int]
Blocks = dict[tuple[Cells, Cells], np.ndarray]


def absolute(state: np.ndarray, change: np.ndarray, n: np.ndarray, b: float, slide: np.ndarray) -> np.ndarray:
    """|A| change of a state [p, u, v, w] with unit normals n on faces that move at `slide` along these, by
    eigenvectors; |theta - slide| is smoothed near 0.
    """
    theta, jump = (n * state[1:]).sum(0), (n * change[1:]).sum(0)
    across = theta - slide
    low, size = SMOOTH * np.sqrt(b), np.abs(across)
    size = np.where(size < low, (across**2 / low + low) / 2, size)
    result = size * change
    for sign in (1, -1):
        speed = ((across + theta) + sign * np.sqrt((across + theta) ** 2 + 4 * b)) / 2
        strength = (change[0] + speed * jump) / (b / speed + speed)
        vector = np.stack([b / speed, *((n * b / speed + state[1:]) / (speed - across))])
        result = result + (np.abs(speed) - size) * strength * vector
    return result


def first_order(
    q: np.ndarray, frozen: np.ndarray, sides: np.ndarray, areas: np.ndarray, volumes: np.ndarray, how: Discretisation,
    swept: np.ndarray | None = None, nu_t: np.ndarray | None = None, surfaces: Surfaces | None = None,
) -> np.ndarray:  # fmt: skip
    """The residual [p, u, v, w] of first order of a state: |A| is that of the `frozen` one, friction is along lines of
    cells alone, by the gradient without its transpose, and the pressure on walls and inflows that of the cell there.
    Ghost values are those of q. `swept` [axis, z, y, x] is what low faces sweep per time.
    """
    total, b = np.zeros((4, *at(volumes).shape)), how.compressibility
    for axis in how.axes:
        kind, beyond = kinds(sides, axis)
        low, high = at(q, (-1, axis), more=axis), at(q, more=axis)
        base = (at(frozen, (-1, axis), more=axis) + at(frozen, more=axis)) / 2
        area, volume = at(areas[axis], more=axis), at(volumes, (-1, axis), more=axis) + at(volumes, more=axis)
        size = np.sqrt((area**2).sum(0))
        n = area / size
        slide = np.zeros(kind.shape) if swept is None else at(swept[axis], more=axis) / size
        d = absolute(base, high - low, n, b, slide)
        d[0] /= b
        closed = np.ones(kind.shape, bool)
        f = (flux(low, n, ~closed, slide) + flux(high, n, ~closed, slide) - d) / 2
        inside, mean = np.where(beyond, low, high), (low + high) / 2
        wall = np.concatenate([inside[:1], mean[1:]])
        for where, state, shut in ((CLOSED, wall, True), (GIVEN, wall, False), (OPEN, mean, False)):
            f = np.where(kind == where, flux(state, n, closed & shut, slide), f)
        theta = (n * mean[1:]).sum(0) - slide
        entering = (kind == OPEN) & np.where(beyond, theta < 0, theta > 0)
        f[1:] -= np.where(entering, theta**2, 0.0) * n
        viscosity = how.viscosity + (0.0 if nu_t is None else on_faces(nu_t, axis))
        f[1:] -= viscosity * 2 * size / volume * (high - low)[1:]
        total += outward(f * size * (1.0 if surfaces is None else at(surfaces.open[axis], more=axis)), axis)
    if surfaces is not None:  # with the pressure and the velocity of the cell
        wall = at(surfaces.wall)
        total[1:] += at(q[0]) * wall[:3] + (how.viscosity * wall[3] + wall[17]) * at(q[1:])
    return total


def scalar_first_order(
    q: Mapping[str, np.ndarray], sides: np.ndarray, areas: np.ndarray, volumes: np.ndarray, how: Discretisation,
    swept: np.ndarray, nu_t: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """Return what leaves cells of T less T times the mass that leaves, of first order: mass is of the mean velocity
    on faces, T comes from upwind, and is conducted along lines of cells alone. Ghost values are those of q; where
    nothing comes in through a side, T is that inside.
    """
    velocity, total = np.stack([q[name] for name in "uvw"]), np.zeros_like(at(volumes))
    for axis in how.axes:
        kind, beyond = kinds(sides, axis)
        (low, high), (one, other) = ([at(v, (n, axis), more=axis) for n in (-1, 0)] for v in (velocity, q["T"]))
        area, volume = at(areas[axis], more=axis), at(volumes, (-1, axis), more=axis) + at(volumes, more=axis)
        mass = np.where(kind == CLOSED, 0.0, (area * (low + high)).sum(0) / 2 - at(swept[axis], more=axis))
        outside, inside = np.where(beyond, other, one), np.where(beyond, one, other)
        on_side = np.where(kind == FAR, outside, (outside + inside) / 2)
        coming = np.where(beyond, mass < 0, mass > 0)
        side = np.where(coming, on_side, inside)
        T = np.where(kind == INTERIOR, np.where(mass > 0, one, other), side)
        diffusivity = how.diffusivity + (0.0 if nu_t is None else on_faces(nu_t, axis) / how.prandtl)
        conducted = diffusivity * 2 * (area**2).sum(0) / volume * (other - one)
        total += outward(mass * T - conducted, axis) - at(q["T"]) * outward(mass, axis)
    return total


def mirrored(q: np.ndarray, sides: np.ndarray, given: np.ndarray) -> np.ndarray:
    """A state with ghost values next to sides from the cells inside: a velocity that is `given` on walls and inflows,
    there the pressure inside, and a pressure given at outflows.
    """
    q = q.copy()
    for axis in range(3):
        for end in (0, 1):
            along = [slice(LAYERS, -LAYERS)] * 3
            ghost, inner = list(along), list(along)
            ghost[2 - axis] = slice(-LAYERS, -LAYERS + 1) if end else slice(LAYERS - 1, LAYERS)
            inner[2 - axis] = slice(-LAYERS - 1, -LAYERS) if end else slice(LAYERS, LAYERS + 1)
            kind, cell, value = sides[tuple(ghost)], q[:, *inner], given[:, *ghost]
            shut = np.concatenate([cell[:1], 2 * value[1:] - cell[1:]])
            out = np.concatenate([2 * value[:1] - cell[:1], cell[1:]])
            beyond = np.where(kind == OPEN, out, np.where(kind == FAR, value, shut))
            q[:, *ghost] = np.where(kind == INTERIOR, q[:, *ghost], beyond)
    return q


def cells_of(shape: tuple[int, int, int]) -> Iterator[Cells]:
    """The cells (i, j, k) of a chart [z, y, x] in their order."""
    return ((i, j, k) for k in range(shape[0]) for j in range(shape[1]) for i in range(shape[2]))


def factorised(blocks: Blocks, order: list[Cells]) -> Blocks:
    """Block ILU(0) of a matrix of blocks, cells in an order: the factors L, with unit diagonal, and U in its places."""
    place, a = {cell: n for n, cell in enumerate(order)}, {key: block.copy() for key, block in blocks.items()}
    beside: dict[Cells, list[Cells]] = {cell: [] for cell in order}
    for row, column in a:
        beside[row].append(column)
    for cell in order:
        for earlier in sorted((n for n in beside[cell] if place[n] < place[cell]), key=place.__getitem__):
            a[cell, earlier] = a[cell, earlier] @ np.linalg.inv(a[earlier, earlier])
            for later in beside[earlier]:
                if place[later] > place[earlier] and (cell, later) in a:
                    a[cell, later] = a[cell, later] - a[cell, earlier] @ a[earlier, later]
    return a


def solved(factors: Blocks, order: list[Cells], rhs: dict[Cells, np.ndarray]) -> dict[Cells, np.ndarray]:
    """The solution of L U x = rhs."""
    place, x = {cell: n for n, cell in enumerate(order)}, {cell: value.copy() for cell, value in rhs.items()}
    for forward in (True, False):
        for cell in order if forward else reversed(order):
            for row, column in factors:
                if row == cell and column != cell and (place[column] < place[cell]) == forward:
                    x[cell] = x[cell] - factors[row, column] @ x[column]
            if not forward:
                x[cell] = np.linalg.solve(factors[cell, cell], x[cell])
    return x


def gmres(
    product: Callable[[np.ndarray], np.ndarray], precondition: Callable[[np.ndarray], np.ndarray], rhs: np.ndarray,
    tolerance: float, vectors: int, most: int, first: int, depths: tuple[int, int], bounds: tuple[float, float, float],
) -> tuple[np.ndarray, int]:  # fmt: skip
    """The solution by restarted GMRES, preconditioned from the right, and the number of products that its vectors took:
    one each of the `first` ones of a cycle, d each of those behind them, whose preconditioner is the polynomial
    P = w M^-1 (1 + B + B^2 + ...) of d terms, B = 1 - w A M^-1. Of the eigenvalues e of the Hessenberg matrix of the
    first ones, w is the first of `bounds` over the largest one, at most 1, and d the larger one of `depths` if w |e|^2
    is at most the second one times Re e, and the third one, for all of them; else w is 1 and d the smaller one.
    """
    x, taken, begun, w, depth, enough = np.zeros_like(rhs), 0, np.linalg.norm(rhs), 1.0, 1, False

    def polynomial(v: np.ndarray) -> np.ndarray:
        total = np.zeros_like(v)
        for _ in range(depth):
            last = w * precondition(v)
            total, v = total + last, v - product(last)
        return total

    while not enough:
        r = rhs - product(x)
        norm = np.linalg.norm(r)
        if norm <= tolerance * begun:
            break
        basis, h = [r / norm], np.zeros((vectors + 1, vectors))
        for j in range(vectors):
            if j == first:
                known = np.linalg.eigvals(h[:first, :first])
                w = round(bounds[0] / max(bounds[0], abs(known).max()), 3)
                inside = (w * abs(known) ** 2 <= bounds[1] * known.real + bounds[2]).all()
                w, depth = (w, max(depths)) if inside else (1.0, min(depths))
            new = product((precondition if j < first else polynomial)(basis[j]))
            for i, v in enumerate(basis):
                h[i, j] = v @ new
                new = new - h[i, j] * v
            h[j + 1, j], taken = np.linalg.norm(new), taken + (1 if j < first else depth)
            e = np.eye(j + 2)[0] * norm
            y = np.linalg.lstsq(h[: j + 2, : j + 1], e, rcond=None)[0]
            basis.append(new / h[j + 1, j])
            left, step = np.linalg.norm(h[: j + 2, : j + 1] @ y - e), depth if j + 1 >= first else 1
            enough = bool(left <= tolerance * begun or taken + step > most)
            if enough:
                break
        terms = [a * v for a, v in zip(y, basis, strict=False)]
        x = x + precondition(sum(terms[:first])) + (polynomial(sum(terms[first:])) if terms[first:] else 0)
    return x, taken
