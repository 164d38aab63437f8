"""Velocities of moving surfaces in cut cells, and the volumes that surfaces sweep.

A surface that moves with the velocity u_b of a rigid body sweeps

    Q = -sum over faces of their open share times the flux of u_b through the face,

outward positive. As div u_b = 0, the sum of Q over all cells that a body cuts is 0, so that the flow around it in a
closed domain has a solution. In a uniform stream u = u_b, Q is minus the sum of the fluxes of the cell, and the flow
does not change.
The flux of u_b through a face is the circulation of a vector potential along its edges, so that the sum over the faces
of a whole cell is 0 to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskflow.common.hexahedra import centres, face_areas, face_corners
from taskflow.flow.bodies.cut_cells import CutCells


@dataclass(frozen=True)
class RigidVelocity:
    """u_b = velocity + spin x (x - centre)."""

    velocity: np.ndarray
    spin: np.ndarray
    centre: np.ndarray

    def at(self, points: np.ndarray) -> np.ndarray:
        """Return the velocities at points [xyz, ...]."""
        velocity = np.broadcast_to(self._along(self.velocity, points), points.shape)
        if not self.spin.any():
            return velocity
        return np.asarray(velocity + np.cross(self.spin, points - self._along(self.centre, points), axis=0))

    def through(self, vertices: np.ndarray, axis: int) -> np.ndarray:
        """Return the fluxes [z, y, x] through all faces across an axis between vertices [xyz, z, y, x].

        The potential of spin x r is -|r|^2 spin / 2, with the exact mean of |r|^2 on each edge.
        """
        flux = (self._along(self.velocity, vertices) * face_areas(vertices, axis)).sum(axis=0)
        if not self.spin.any():
            return np.asarray(flux)
        corners = [corner - self._along(self.centre, corner) for corner in face_corners(vertices, axis)]
        for a, b in zip(corners, [*corners[1:], corners[0]], strict=True):
            mean = (a**2 + a * b + b**2).sum(axis=0) / 3
            flux -= mean / 2 * (self._along(self.spin, a) * (b - a)).sum(axis=0)
        return np.asarray(flux)

    @staticmethod
    def _along(vector: np.ndarray, points: np.ndarray) -> np.ndarray:
        return vector.reshape(3, *(1,) * (points.ndim - 1))


def wall_motion(cells: CutCells, walls: np.ndarray, rigid: RigidVelocity) -> np.ndarray:
    """Return values 14 to 17 [value, z, y, x] of `CutCells.walls` for a body with this velocity.

    `walls` are the values [value, z, y, x] of all cells but the outer layer. Cells without a face that is open have the
    velocity of the body in their centre.
    """
    inner = (slice(1, -1),) * 3
    area = walls[:3]
    cut = (area != 0).any(axis=0)
    swept = np.zeros(cut.shape)
    for axis, face in enumerate(cells.faces):
        flux = np.moveaxis(face * rigid.through(cells.vertices, axis), 2 - axis, 0)
        swept += np.moveaxis(flux[:-1] - flux[1:], 0, 2 - axis)[inner]
    middle = np.where(cut, walls[11:14], centres(cells.vertices)[:, *inner])
    return np.concatenate([rigid.at(middle), np.where(cut, swept, 0.0)[None]])
