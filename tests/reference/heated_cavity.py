"""Steady convection in a square between a hot and a cold wall, in Chebyshev polynomials: an independent reference.

Stream function psi (u = psi_z, w = -psi_x) and temperature T satisfy, in units of the side and the diffusivity,

    Pr lap^2 psi - u . grad lap psi - Ra Pr T_x = 0,    lap T - u . grad T = 0,

psi = psi_n = 0 on all walls, T = 1 at x = 0, T = 0 at x = 1, T_z = 0 at z = 0 and 1. Collocation and Newton's method.
"""

from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev


class Cavity(NamedTuple):
    """A steady state: coordinates of the nodes in [0, 1], T[x, z], and the Nusselt numbers of both walls."""

    nodes: np.ndarray
    temperature: np.ndarray
    hot: float
    cold: float

    def centreline(self, x: np.ndarray) -> np.ndarray:
        """Return T(x, 1/2) by interpolation in both directions."""
        columns = [_interpolated(self.nodes, column, np.array([0.5]))[0] for column in self.temperature]
        return _interpolated(self.nodes, np.array(columns), x)


def steady_cavity(rayleigh: float, prandtl: float, modes: int) -> Cavity:
    """Solve for `modes`^2 polynomials; the Rayleigh number rises in steps of at most a factor of ten."""
    nodes, first = _differences(modes)
    inner = slice(1, -1)
    powers = [np.linalg.matrix_power(first, k) for k in range(5)]
    clamped = [matrix[inner, inner] for matrix in _clamped(nodes, powers)]
    eye, all_eye = np.eye(modes - 1), np.eye(modes + 1)
    psi_x, psi_z = np.kron(clamped[1], eye), np.kron(eye, clamped[1])
    laplacian_x = np.kron(clamped[3], eye) + np.kron(clamped[1], clamped[2])
    laplacian_z = np.kron(clamped[2], clamped[1]) + np.kron(eye, clamped[3])
    biharmonic = np.kron(clamped[4], eye) + np.kron(eye, clamped[4]) + 2 * np.kron(clamped[2], clamped[2])
    t_x, t_z = np.kron(first, all_eye), np.kron(all_eye, first)
    heat = np.kron(powers[2], all_eye) + np.kron(all_eye, powers[2])

    number = np.arange((modes + 1) ** 2).reshape(modes + 1, modes + 1)
    inside = number[inner, inner].ravel()
    hot, cold = number[nodes.argmin()], number[nodes.argmax()]
    ends = number[inner][:, [0, -1]].ravel()
    psi = np.zeros(inside.size)
    temperature = np.repeat(1 - nodes, modes + 1)
    for value in _steps(rayleigh):
        for _ in range(30):
            u, w = psi_z @ psi, -psi_x @ psi
            third_x, third_z = laplacian_x @ psi, laplacian_z @ psi
            grad_x, grad_z = (t_x @ temperature)[inside], (t_z @ temperature)[inside]
            vorticity = prandtl * biharmonic @ psi - u * third_x - w * third_z - value * prandtl * grad_x
            energy = heat @ temperature
            energy[inside] -= u * grad_x + w * grad_z
            energy[hot], energy[cold], energy[ends] = (
                temperature[hot] - 1, temperature[cold], (t_z @ temperature)[ends],
            )  # fmt: skip
            by_psi = prandtl * biharmonic - u[:, None] * laplacian_x - w[:, None] * laplacian_z
            by_psi += third_z[:, None] * psi_x - third_x[:, None] * psi_z
            cross = np.zeros((temperature.size, psi.size))
            cross[inside] = grad_z[:, None] * psi_x - grad_x[:, None] * psi_z
            by_t = heat.copy()
            by_t[inside] -= u[:, None] * t_x[inside] + w[:, None] * t_z[inside]
            for rows, matrix in ((hot, np.eye(number.size)), (cold, np.eye(number.size)), (ends, t_z)):
                by_t[rows] = matrix[rows]
            jacobian = np.block([[by_psi, -value * prandtl * t_x[inside]], [cross, by_t]])
            change = np.linalg.solve(jacobian, -np.concatenate([vorticity, energy]))
            psi, temperature = psi + change[: psi.size], temperature + change[psi.size :]
            if np.abs(change[psi.size :]).max() < 1e-11:
                break
        else:
            raise ArithmeticError(f"Newton's method does not converge at Ra = {value:g}")
    flux = -(t_x @ temperature).reshape(number.shape)
    walls = [_integral(nodes, flux[at]) for at in (nodes.argmin(), nodes.argmax())]
    return Cavity(nodes, temperature.reshape(number.shape), *walls)


def _steps(rayleigh: float) -> list[float]:
    """Return the Rayleigh numbers of a continuation from 1000, each at most ten times the one before."""
    return [1000.0 * 10**k for k in range(10) if 1000.0 * 10**k < rayleigh] + [rayleigh]


def _differences(modes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Chebyshev nodes in [0, 1] and their matrix of first derivatives (Trefethen 2000, program `cheb`)."""
    nodes = np.cos(np.pi * np.arange(modes + 1) / modes)
    weights = np.ones(modes + 1)
    weights[[0, -1]] = 2
    weights *= (-1.0) ** np.arange(modes + 1)
    apart = nodes[:, None] - nodes[None, :] + np.eye(modes + 1)
    matrix = np.outer(weights, 1 / weights) / apart
    matrix -= np.diag(matrix.sum(axis=1))
    return (1 + nodes) / 2, 2 * matrix


def _clamped(nodes: np.ndarray, powers: list[np.ndarray]) -> list[np.ndarray]:
    """Return derivatives 0 to 4 of functions q(x) x (1 - x), q = 0 at both ends, by values at the nodes."""
    factor = [nodes * (1 - nodes), 1 - 2 * nodes, np.full_like(nodes, -2.0)]
    bubble = factor[0].copy()
    bubble[[0, -1]] = 1
    found = [np.eye(nodes.size)]
    for k in range(1, 5):
        terms = factor[0][:, None] * powers[k] + k * factor[1][:, None] * powers[k - 1]
        if k > 1:
            terms = terms + k * (k - 1) / 2 * factor[2][:, None] * powers[k - 2]
        found.append(terms / bubble)
    return found


def _interpolated(nodes: np.ndarray, values: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the polynomial through all nodes at `x`."""
    return chebyshev.chebval(2 * x - 1, chebyshev.chebfit(2 * nodes - 1, values, nodes.size - 1))


def _integral(nodes: np.ndarray, values: np.ndarray) -> float:
    """Return the integral of the polynomial through all nodes over [0, 1]."""
    series = chebyshev.chebint(chebyshev.chebfit(2 * nodes - 1, values, nodes.size - 1))
    return float(chebyshev.chebval(1.0, series) - chebyshev.chebval(-1.0, series)) / 2
