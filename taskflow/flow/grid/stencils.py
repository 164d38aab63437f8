"""Stencils: the cells that the operators of a staggered grid read around a cell."""

from taskflow.runtime.tasks import Components, Read, Stencil, offsets, star

ACROSS_X, ACROSS_Y, ACROSS_Z = offsets(x=(0, 1)), offsets(y=(0, 1)), offsets(z=(0, 1))
"""Both faces of a cell across a direction."""

FACE_VELOCITY = Components(u=Read[ACROSS_X], v=Read[ACROSS_Y], w=Read[ACROSS_Z])
"""Velocity on the six faces of a cell."""

BESIDE = offsets(x=(-1, 0)) | offsets(y=(-1, 0)) | offsets(z=(-1, 0))
"""Cells on both sides of a cell's low faces."""


AROUND = offsets(x=(-1, 1), y=(-1, 1)) | offsets(y=(-1, 1), z=(-1, 1)) | offsets(z=(-1, 1), x=(-1, 1))
"""Cells around all edges of a cell."""

TWICE = star(2) | AROUND
"""Cells at most two steps away, read by two sweeps over six neighbours."""


def _component(axis: str) -> Stencil:
    """Return the stencil of the velocity along `axis`, advected and advecting the other components."""
    own = star(1)
    for other in "xyz":
        if other != axis:
            own |= offsets(**{axis: (0, 1), other: (-1, 0)})
    return own


U, V, W = (_component(axis) for axis in "xyz")
"""Cells of each velocity component that the momentum equation reads."""

WIDE_U, WIDE_V, WIDE_W = (own | star(2) for own in (U, V, W))
"""The same cells for upwind-biased advection."""


def _around_edges() -> Stencil:
    """Return the cells around the edges of a cell's low faces across x, y and z."""
    edges = star(1)
    for a, b in (("x", "y"), ("y", "z"), ("z", "x")):
        for first, second in ((-1, -1), (-1, 1), (1, -1)):
            edges |= offsets(**{a: (first, first), b: (second, second)})
    return edges


AROUND_EDGES = _around_edges()
"""Cells of a variable viscosity that the momentum equation reads."""


def _with_neighbours(axis: str, width: int = 1) -> Stencil:
    """Return both faces across the axis of a cell and of its neighbours along the other axes."""
    first, second = (other for other in "xyz" if other != axis)
    reach = (-width, width)
    return offsets(**{axis: (0, 1), first: reach}) | offsets(**{axis: (0, 1), second: reach})


GRADIENT_U, GRADIENT_V, GRADIENT_W = (_with_neighbours(axis) for axis in "xyz")
"""Cells of each velocity component that the velocity gradient at a cell centre reads."""

GRADIENT_VELOCITY = Components(u=Read[GRADIENT_U], v=Read[GRADIENT_V], w=Read[GRADIENT_W])
"""Velocity for its gradient."""

SIDES_U, SIDES_V, SIDES_W = (star(1) | _with_neighbours(axis) for axis in "xyz")
"""Cells of each velocity component that the momentum flux through a face of a cell reads."""

WIDE_SIDES_U, WIDE_SIDES_V, WIDE_SIDES_W = (star(2) | _with_neighbours(axis, 2) for axis in "xyz")
"""The same cells for upwind-biased advection."""
