"""Atlases of charts whose sides are joined by name: round an edge, or as a butterfly across a pipe."""

from itertools import accumulate

from taskflow.runtime.regions import Atlas, Box, Seam, Turn, triple


def joined(shapes, joints, ghost=2):
    """An atlas of charts of these shapes, in a row, of which pairs of whole sides are joined: (chart, side) to (chart,
    side), as ("x1" is the high side across x). The joined sides lie in planes of x and y, with z along z; or are z
    sides, unturned.
    """
    starts = accumulate((shape[0] + 2 * ghost + 1 for shape in shapes), initial=0)
    charts = tuple(Box.of(shape).shift((x, 7 * n, 3)) for n, (x, shape) in enumerate(zip(starts, shapes, strict=False)))
    seams = []
    for (m, one), (n, other) in joints:
        (a, s), (b, t) = (("xyz".index(side[0]), int(side[1])) for side in (one, other))
        beyond, inside = charts[m].layer(a, s, -ghost, 0), charts[n].layer(b, t, 0, ghost)
        axes = _axes(a, b, 1 if s != t else -1)
        shift = triple(q - p for p, q in zip(Turn(axes)(beyond).lo, inside.lo, strict=True))
        turn = Turn(axes, shift)
        seams += [Seam(m, beyond, turn), Seam(n, turn(charts[m].layer(a, s, 0, ghost)), turn.inverse)]
    return Atlas(charts, tuple(dict.fromkeys(seams)), ghost)


def _axes(a, b, sign):
    """The rotation that takes the axis `a` along `b`, or against it, and turns x and y into x and y."""
    if a == b == 2:
        return (1, 2, 3)
    ways = ({a: (b + 1) * sign, 1 - a: (2 - b) * other, 2: 3} for other in (1, -1))
    turns = (Turn(triple(way[axis] for axis in range(3))) for way in ways)
    return next(turn.axes for turn in turns if turn.rotates)


def around(edge, n=4, height=3):
    """So many charts round an edge, each joined to the next; one is joined to itself."""
    return joined([(n, n, height)] * edge, [((m, "x0"), ((m + 1) % edge, "y0")) for m in range(edge)])


def butterfly(n=4, radial=4, height=3, periodic=True):
    """Five charts across a pipe: a core, and around it east, north, west and south with x outwards."""
    core = [((0, side), (m, "x0")) for m, side in enumerate(("x1", "y1", "x0", "y0"), 1)]
    ring = [((m, "y1"), (m % 4 + 1, "y0")) for m in range(1, 5)]
    along = [((m, "z1"), (m, "z0")) for m in range(5)] if periodic else []
    return joined([(n, n, height), *[(radial, n, height)] * 4], core + ring + along)
