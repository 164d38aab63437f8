"""Write person.stl, the standing figure of the example room.toml, 1.7 m tall: ellipses stacked along z."""

import numpy as np
import trimesh

# height of a section, half its width, half its depth, in metres
SECTIONS = np.array([
    (0.00, 0.16, 0.13), (0.08, 0.15, 0.09), (0.45, 0.15, 0.09), (0.80, 0.18, 0.12), (0.95, 0.17, 0.12),
    (1.10, 0.19, 0.12), (1.30, 0.23, 0.12), (1.40, 0.20, 0.10), (1.44, 0.07, 0.06), (1.48, 0.07, 0.07),
    (1.52, 0.09, 0.10), (1.60, 0.09, 0.11), (1.66, 0.07, 0.09), (1.70, 0.02, 0.03),
])  # fmt: skip
AROUND = 16


def person() -> trimesh.Trimesh:
    """Return the closed surface, with its feet on z = 0, facing along x."""
    angles = 2 * np.pi * np.arange(AROUND) / AROUND
    around = np.stack([np.cos(angles), np.sin(angles), np.ones(AROUND)], 1)
    rings = [around * (depth, width, z) for z, width, depth in SECTIONS]
    points = np.concatenate([*rings, [[0, 0, SECTIONS[0, 0]], [0, 0, SECTIONS[-1, 0]]]])
    here = np.arange(AROUND)
    following, triangles = (here + 1) % AROUND, []
    for low in range(0, AROUND * (len(SECTIONS) - 1), AROUND):
        triangles += [*np.stack([low + here, low + following, low + AROUND + here], 1)]
        triangles += [*np.stack([low + following, low + AROUND + following, low + AROUND + here], 1)]
    last, top = len(points) - 2, AROUND * (len(SECTIONS) - 1)
    triangles += [*np.stack([following, here, np.full(AROUND, last)], 1)]
    triangles += [*np.stack([top + here, top + following, np.full(AROUND, last + 1)], 1)]
    return trimesh.Trimesh(points, triangles, process=False)


if __name__ == "__main__":
    figure = person()
    assert figure.is_watertight
    assert figure.volume > 0
    figure.export("person.stl")
