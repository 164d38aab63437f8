"""Wing sections: NACA's four digits, and files of coordinates."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from taskflow import files
from taskflow.errors import BadInput

NACA = re.compile(r"(?:naca)?[ -]?(\d{4})", re.IGNORECASE)
THICKNESS = (0.2969, -0.1260, -0.3516, 0.2843, -0.1036)  # of sqrt x, x, x^2, x^3, x^4; the last one shuts the end
CLOSED = 1e-6  # of the chord: what may lie between both ends of a list of points
FEWEST = 5  # points
SAMPLES = 4001
DIFFERENCE = 1e-6
REMEDY = "give two numbers a line, x and y, from the trailing edge over the upper surface and back below"

Curve = Callable[[np.ndarray], np.ndarray]  # from the leading edge, at 0, to the trailing one, at 1: points [xy, n]


@dataclass(frozen=True)
class Surface:
    """One of both surfaces of a section of chord 1, as an upper one: from the leading edge to the trailing one at
    (1, 0).
    """

    curve: Curve

    def at(self, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points [xy, n] at shares of the length of the surface, and there the angle by which its normal is turned from
        y against x, in radians: a right one on a nose.
        """
        samples = np.arange(SAMPLES) / (SAMPLES - 1)
        along = np.cumsum(np.concatenate([[0.0], np.hypot(*np.diff(self.curve(samples), axis=1))]))
        places = np.interp(shares * along[-1], along, samples)
        ahead, behind = (self.curve(np.clip(places + step, 0, 1)) for step in (DIFFERENCE, -DIFFERENCE))
        step = ahead - behind
        return self.curve(places), np.arctan2(step[1], step[0])


@dataclass(frozen=True)
class Section:
    """A section, by its upper surface and the lower one, upside down."""

    upper: Surface
    lower: Surface


def section(name: str) -> Section:
    """Return the section of this name: NACA's four digits, or a file of points, whose name has a suffix.

    Raises BadInput where it is neither, or the file cannot be read.
    """
    if digits := NACA.fullmatch(name):
        return four_digits(digits[1])
    if path := file_of(name):
        return listed(path)
    raise BadInput('give "naca" and four digits, as "naca0012", or a file of coordinates with suffix, as "wing.dat"')


def file_of(name: str) -> Path | None:
    """The file that a section is read from, if it is."""
    return Path(name) if Path(name).suffix and not NACA.fullmatch(name) else None


def four_digits(digits: str) -> Section:
    """NACA's sections of four digits: largest camber in hundredths of the chord, its place in tenths, thickness in
    hundredths (E. N. Jacobs, K. E. Ward, R. M. Pinkerton, NACA Report 460, 1933), whose last coefficient is changed to
    -0.1036, so that the trailing edge is closed.
    """
    camber, place, thickness = int(digits[0]) / 100, int(digits[1]) / 10, int(digits[2:]) / 100
    if not thickness:
        raise BadInput("a section without thickness; give the last two digits, in hundredths of the chord")
    if bool(camber) != bool(place):
        raise BadInput("camber and its place go together; give both of the first two digits, or 00 for no camber")
    return Section(*(Surface(_four_digits(sign * camber, place, thickness)) for sign in (1, -1)))


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
    """The section of a file: cubic splines in the length of the chain of its points, the leading edge that point which
    is farthest from the trailing edge. It is moved and made larger or smaller, so that x goes from 0 to 1, and y is 0
    at the trailing edge.
    """
    points = _read(path)
    if np.ptp(points[0]) == 0:
        raise BadInput(f"{path}: all points have one x; {REMEDY}")
    end = points[:, 0]
    gap = float(np.hypot(*(points[:, -1] - end))) / float(np.ptp(points[0]))
    if gap > CLOSED:
        said = f"its trailing edge is open, {gap:.3g} of the chord thick"
        raise BadInput(f"{path}: {said}; give both surfaces one last point")
    points[:, -1] = end
    if (points[0, :-1] * points[1, 1:] - points[0, 1:] * points[1, :-1]).sum() < 0:
        points = points[:, ::-1]  # it goes round the other way
    nose = int(np.hypot(*(points - end[:, None])).argmax())
    if not 2 <= nose <= points.shape[1] - 3:
        raise BadInput(f"{path}: the leading edge is point {nose + 1} of {points.shape[1]}; {REMEDY}")
    points = (points - np.array([[points[0, nose]], [end[1]]])) / (end[0] - points[0, nose])
    return Section(*(Surface(curve) for curve in _splines(points, nose)))


def _read(path: Path) -> np.ndarray:
    """The points [xy, n] of a file, below a line with a name."""
    try:
        lines = [line.split() for line in files.text(path, files.TABLE, REMEDY).splitlines()]
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
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
        raise BadInput(f"{path}: points {twice[0] + 1} and {twice[0] + 2} are the same; leave one of them out")
    return points


def _splines(points: np.ndarray, nose: int) -> tuple[Curve, Curve]:
    """Both surfaces, the lower one upside down."""
    along = np.cumsum(np.concatenate([[0.0], np.hypot(*np.diff(points, axis=1))]))
    bends = _second_derivatives(along, points)

    def upper(t: np.ndarray) -> np.ndarray:
        return _spline(along, points, bends, along[nose] * (1 - t))

    def lower(t: np.ndarray) -> np.ndarray:
        x, y = _spline(along, points, bends, along[nose] + (along[-1] - along[nose]) * t)
        return np.stack([x, 0.0 - y])

    return upper, lower


def _second_derivatives(s: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Those [xy, n] of the natural cubic spline at its knots."""
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
