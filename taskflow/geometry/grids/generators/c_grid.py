"""Grids around a wing section and its wake."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from taskflow.common import files
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadArgument, BadInput, named
from taskflow.geometry.grids.generators import spacing
from taskflow.geometry.grids.generators.options import LENGTH, TEXT, key, written
from taskflow.geometry.grids.generators.round import AXIAL, Ends, widest
from taskflow.geometry.grids.multiblock.assembly import LEAST
from taskflow.geometry.grids.multiblock.grid import BadGrid, MultiBlockGrid

NACA = re.compile(r"(?:naca)?[ -]?(\d{4})", re.IGNORECASE)
THICKNESS = (0.2969, -0.1260, -0.3516, 0.2843, -0.1036)  # of sqrt x, x, x^2, x^3, x^4; the last closes the section
CLOSED = 1e-6  # of the chord: largest distance of the ends of a list of points
FEWEST = 5  # points
SAMPLES = 4001
DIFFERENCE = 1e-6
REMEDY = "give two numbers a line, x and y, from the trailing edge over the upper surface and back below"

# A surface of a section of chord 1, as an upper one: points [xy, n] from the leading edge, at 0, to the trailing edge
# (1, 0), at 1. A section is its upper surface and the lower one, upside down.
Curve = Callable[[np.ndarray], np.ndarray]
Section = tuple[Curve, Curve]


def on(surface: Curve, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points [xy, n] at fractions of the length of a surface, and the angle of its normal from y towards -x
    there.

    The angle is in radians: pi/2 on the nose.
    """
    samples = np.arange(SAMPLES) / (SAMPLES - 1)
    along = np.cumsum(np.concatenate([[0.0], np.hypot(*np.diff(surface(samples), axis=1))]))
    places = np.interp(shares * along[-1], along, samples)
    ahead, behind = (surface(np.clip(places + step, 0, 1)) for step in (DIFFERENCE, -DIFFERENCE))
    step = ahead - behind
    return surface(places), np.arctan2(step[1], step[0])


def section(name: str) -> Section:
    """Return the section of this name: four NACA digits, or a file of points, whose name has a suffix.

    Raises BadInput if it is neither, or the file cannot be read.
    """
    if digits := NACA.fullmatch(name):
        return four_digits(digits[1])
    if path := file_of(name):
        return listed(path)
    raise BadInput('give "naca" and four digits, as "naca0012", or a file of coordinates with suffix, as "wing.dat"')


def file_of(name: str) -> Path | None:
    """Return the file of a section, or None if it is a NACA section."""
    return Path(name) if Path(name).suffix and not NACA.fullmatch(name) else None


def four_digits(digits: str) -> Section:
    """Return a NACA four-digit section: camber in hundredths of the chord, its position in tenths, thickness in
    hundredths.

    E. N. Jacobs, K. E. Ward, R. M. Pinkerton, NACA Report 460, 1933, with the last coefficient -0.1036, which closes
    the trailing edge.
    """
    camber, place, thickness = int(digits[0]) / 100, int(digits[1]) / 10, int(digits[2:]) / 100
    if not thickness:
        raise BadInput("a section without thickness; give the last two digits, in hundredths of the chord")
    if bool(camber) != bool(place):
        raise BadInput("camber and its position go together; give both of the first two digits, or 00 for no camber")
    return _four_digits(camber, place, thickness), _four_digits(-camber, place, thickness)


def _four_digits(camber: float, place: float, thickness: float) -> Curve:
    def points(t: np.ndarray) -> np.ndarray:
        x = t * t  # y is a polynomial in the square root
        a, b, c, d, e = THICKNESS
        y = 5 * thickness * (a * t + b * x + c * x**2 + d * x**3 + e * x**4)
        y = np.where(t == 1, 0.0, y)
        if not camber:
            return np.stack([x, y])
        ahead = x < place
        scale = camber / np.where(ahead, place, 1 - place) ** 2
        middle = scale * np.where(ahead, 2 * place * x - x**2, 1 - 2 * place + 2 * place * x - x**2)
        slope = np.arctan(2 * scale * (place - x))
        return np.stack([x - y * np.sin(slope), np.where(t == 1, 0.0, middle) + y * np.cos(slope)])

    return points


def listed(path: Path) -> Section:
    """Return the section of a file: cubic splines in the chord length along its points.

    The leading edge is the point farthest from the trailing edge. The section is shifted and scaled so that x runs from
    0 to 1 and y = 0 at the trailing edge.
    """
    points = _read(path)
    if np.ptp(points[0]) == 0:
        raise BadInput(f"{path}: all points have one x; {REMEDY}")
    end = points[:, 0]
    gap = float(np.hypot(*(points[:, -1] - end))) / float(np.ptp(points[0]))
    if gap > CLOSED:
        problem = f"its trailing edge is open, {gap:.3g} of the chord thick"
        raise BadInput(f"{path}: {problem}; give both surfaces one last point")
    points[:, -1] = end
    if (points[0, :-1] * points[1, 1:] - points[0, 1:] * points[1, :-1]).sum() < 0:
        points = points[:, ::-1]  # reversed orientation
    nose = int(np.hypot(*(points - end[:, None])).argmax())
    if not 2 <= nose <= points.shape[1] - 3:
        raise BadInput(f"{path}: the leading edge is point {nose + 1} of {points.shape[1]}; {REMEDY}")
    points = (points - np.array([[points[0, nose]], [end[1]]])) / (end[0] - points[0, nose])
    return _splines(points, nose)


def _read(path: Path) -> np.ndarray:
    """Return the points [xy, n] of a file, below a line with a name."""
    with named(str(path)):
        lines = [line.split() for line in files.text(path, files.TABLE, REMEDY).splitlines()]
    rows: list[list[float]] = []
    for number, words in enumerate(lines, start=1):
        try:
            row = [float(word.rstrip(",")) for word in words]
        except ValueError:
            row = []
        if len(row) == 2 and np.isfinite(row).all():
            rows.append(row)
        elif words and number > 1:
            raise BadInput(f"{path}, line {number}: {' '.join(words)[:40]!r}; {REMEDY}")
    if len(rows) < FEWEST:
        raise BadInput(f"{path}: {len(rows)} points; {REMEDY}, at least {FEWEST}")
    points = np.array(rows).T
    if (points[:, 0] > 1.5).all():
        raise BadInput(f"{path}: its first numbers are counts of points on either surface; {REMEDY}")
    if (twice := np.flatnonzero((np.diff(points, axis=1) == 0).all(axis=0))).size:
        raise BadInput(f"{path}: points {twice[0] + 1} and {twice[0] + 2} are the same; omit one of them")
    return points


def _splines(points: np.ndarray, nose: int) -> Section:
    along = np.cumsum(np.concatenate([[0.0], np.hypot(*np.diff(points, axis=1))]))
    bends = _second_derivatives(along, points)

    def upper(t: np.ndarray) -> np.ndarray:
        return _spline(along, points, bends, along[nose] * (1 - t))

    def lower(t: np.ndarray) -> np.ndarray:
        x, y = _spline(along, points, bends, along[nose] + (along[-1] - along[nose]) * t)
        return np.stack([x, 0.0 - y])

    return upper, lower


def _second_derivatives(s: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return second derivatives [xy, n] of the natural cubic spline at its knots."""
    h, slope = np.diff(s), np.diff(values, axis=1) / np.diff(s)
    matrix = np.eye(s.size)
    inner = np.arange(1, s.size - 1)
    matrix[inner, inner - 1], matrix[inner, inner], matrix[inner, inner + 1] = h[:-1], 2 * (h[:-1] + h[1:]), h[1:]
    right = np.zeros_like(values)
    right[:, 1:-1] = 6 * np.diff(slope, axis=1)
    return np.asarray(np.linalg.solve(matrix, right.T).T)


def _spline(s: np.ndarray, values: np.ndarray, bends: np.ndarray, at: np.ndarray) -> np.ndarray:
    n = np.clip(np.searchsorted(s, at, "right") - 1, 0, s.size - 2)
    h = s[n + 1] - s[n]
    a, b = (s[n + 1] - at) / h, (at - s[n]) / h
    curved = (a**3 - a) * bends[:, n] + (b**3 - b) * bends[:, n + 1]
    return np.asarray(a * values[:, n] + b * values[:, n + 1] + curved * h**2 / 6)


CLUSTERING = 2.0  # of the vertices at both ends of each surface
FAN = 0.5  # fraction of the rotation of lines that follows their number instead of the surface normal


@dataclass(frozen=True, kw_only=True)
class CGrid(Ends):
    """A wing section and its wake, in three charts: lower wake, section, upper wake. The leading edge of the section is
    at the origin, its trailing edge on the x axis, along which both wakes are joined. Outward lines are straight and
    equally long. The grid of a symmetric section is bitwise symmetric.
    """

    shape: ClassVar[str] = "c-grid"
    counts: ClassVar[str] = "the way round from outlet to outlet, the way outwards, the span"

    section: str = key(
        TEXT,
        'NACA\'s four digits, as "naca0012", with a closed trailing edge, or a file name with suffix: two numbers a'
        " line, x and y, from the trailing edge over the upper surface and back below, to the same point",
        "naca0012",
    )
    chord: float = key(LENGTH, "of the section", 1.0)
    far: float = key(LENGTH, "length of the lines outwards, from the section and its wake")
    wake: float = key(LENGTH, "length of the wake, with a quarter of the circumferential cells on each side")
    first: float | None = key(
        LENGTH,
        "length of the first cells on the lines outwards, which then grow geometrically. Default: the length of the"
        " cells at the trailing edge",
        None,
    )
    span: float = key(LENGTH, AXIAL, 1.0)

    def problems(self) -> Iterator[BadArgument]:
        yield from super().problems()
        yield from self.at_least(0, 4 * LEAST, "as a quarter of it is the wake")
        yield from self.at_least(1, LEAST, "across the seam in the wake")
        if self.cells[0] % 2:
            remedy = "give an even number along the first, so that a vertex lies on the leading edge"
            yield BadArgument("cells", written(self.cells), "", remedy)
        try:
            section(self.section)
        except BadInput as error:
            yield BadArgument("section", written(self.section), "", str(error))
            return
        yield from widest(self.first, self.far, self.cells[1])
        if self.cells[0] >= 4 * LEAST and self.wake < self._parts[1] * self._last:
            least = f"{self._parts[1] * self._last:.4g}"
            remedy = f"give at least {least}, for {self._parts[1]} cells as long as those at the trailing edge"
            yield BadArgument("wake", written(self.wake), "", f"{remedy}, or more cells")

    @property
    def files(self) -> tuple[Path, ...]:
        path = file_of(self.section)
        return (path,) if path else ()

    @property
    def _parts(self) -> tuple[int, int]:
        """Numbers of cells along either surface, and along either side of the wake."""
        wake = self.cells[0] // 4
        return self.cells[0] // 2 - wake, wake

    @cached_property
    def _section(self) -> Section:
        return section(self.section)

    @cached_property
    def _shares(self) -> np.ndarray:
        return spacing.both_ends(self._parts[0], CLUSTERING)

    @cached_property
    def _last(self) -> float:
        """Length of the longer cell at the trailing edge."""
        ends = [on(surface, self._shares[-2:])[0] for surface in self._section]
        return self.chord * max(float(np.hypot(*(end[:, 1] - end[:, 0]))) for end in ends)

    def grid(self) -> MultiBlockGrid:
        (above, over), (below, under) = map(self._half, self._section)
        below[1], under[1] = 0.0 - below[1], 0.0 - under[1]
        around = np.concatenate([below[..., :0:-1], above], axis=2)
        far, body = {"j_max": "far"}, {"j_min": "body", "j_max": "far"}
        charts = [(*under[..., ::-1], {"i_min": "outlet", **far}), (*around, body), (*over, {"i_max": "outlet", **far})]
        try:
            return self.extended(charts, self.span)
        except BadGrid:
            remedy = "lines outwards meet, cells turn inside out; give one with less camber, or a grid from a file"
            raise BadGrid([BadArgument("section", written(self.section), "", remedy)]) from None

    def _half(self, surface: Curve) -> tuple[np.ndarray, np.ndarray]:
        """Return the vertices [xy, j, i] above a surface, and above the wake downstream of it."""
        points, turned = on(surface, self._shares)
        least = np.minimum.accumulate(np.clip(turned, 0, np.pi / 2))  # lines never meet
        number = spacing.equal(self._parts[0])
        angle = (1 - FAN) * least + FAN * (np.pi / 2) * (1 - np.sin(np.pi / 2 * number))
        lines = np.stack([0.0 - np.sin(angle), np.cos(angle)])
        lines[:, 0], lines[:, -1] = (-1.0, 0.0), (0.0, 1.0)

        first = self.first or min(self._last, self.far / self.cells[1])
        away = self.far * spacing.with_first(spacing.geometric, self.cells[1], first / self.far)[:, None]
        body = self.chord * points[:, None] + lines[:, None] * away
        behind = self.chord + self.wake * spacing.with_first(spacing.geometric, self._parts[1], self._last / self.wake)
        return body, np.stack(np.broadcast_arrays(behind, away))
