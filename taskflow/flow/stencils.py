"""What the operators of a staggered grid read around a cell."""

from taskflow.tasks import Stencil, offsets, star

ACROSS_X, ACROSS_Y, ACROSS_Z = offsets(x=(0, 1)), offsets(y=(0, 1)), offsets(z=(0, 1))
"""The two faces of a cell across a direction."""

BESIDE = offsets(x=(-1, 0)) | offsets(y=(-1, 0)) | offsets(z=(-1, 0))
"""The cells on both sides of a cell's low faces."""


TWICE = star(2) | offsets(x=(-1, 1), y=(-1, 1)) | offsets(y=(-1, 1), z=(-1, 1)) | offsets(z=(-1, 1), x=(-1, 1))
"""What two sweeps over the six neighbours read: the cells at most two steps away."""


def _component(axis: str) -> Stencil:
    """What is read of the velocity along `axis`: it is carried in all directions, and carries the other components."""
    own = star(1)
    for other in "xyz":
        if other != axis:
            own |= offsets(**{axis: (0, 1), other: (-1, 0)})
    return own


U, V, W = (_component(axis) for axis in "xyz")
"""What the momentum equation reads of each velocity."""
