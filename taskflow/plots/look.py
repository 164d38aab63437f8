"""Appearance of a picture: range, map and scale of its colours, its size, and its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from taskflow.analysis.planes import CutPlane
from taskflow.common.derived_names import SHARP
from taskflow.common.errors import BadInput
from taskflow.common.text import literal
from taskflow.output.store.metadata import moment

POWER, RAISED = re.compile(r"(?<=[^\W\d])(-?[0-9]+)"), r"$^{\1}$"  # in a unit such as m s-1
ONE_SIDED = 1e-2  # of the largest value: negative values below this do not count for two-signed colours
MOST = 0.99  # of the values of a sharp field, which the colours cover
DECADES = 4  # of a logarithmic scale below the largest value
SMALLEST, LARGEST = 100, 10_000  # points of the screen
SLACK = 1e-3  # of a range: smaller excesses are ignored
PADDING = 0.08  # inches around a picture


@dataclass(frozen=True)
class Look:
    """Requested appearance. By default it is derived from the values.

    `range`: of the colours. `log`: logarithmic scale. `cmap`: a matplotlib colour map. `size`: width and height in
    pixels. `given`: prescribed ranges of the run, by field. Raises BadInput for invalid values.
    """

    range: tuple[float, float] | None = None
    log: bool = False
    cmap: str | None = None
    size: tuple[int, int] | None = None
    given: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.range is not None and not (np.isfinite(self.range).all() and self.range[0] < self.range[1]):
            raise BadInput(f"--range {self.range[0]:g},{self.range[1]:g}: give two numbers, the lower one first")
        if self.log and self.range is not None and self.range[0] <= 0:
            raise BadInput(f"--range {self.range[0]:g},{self.range[1]:g} --log: give a lower end above 0")
        if self.cmap is not None and self.cmap not in colormaps:
            raise BadInput(f"--cmap {self.cmap}: unknown colour map; try viridis, magma, cividis or RdBu_r")
        if self.size is not None and not all(SMALLEST <= length <= LARGEST for length in self.size):
            raise BadInput(f"--size {self.size[0]}x{self.size[1]}: give sides of {SMALLEST} to {LARGEST} points")

    @classmethod
    def parsed(cls, range: str | None, log: bool, cmap: str | None, size: str | None) -> Look:  # noqa: A002
        """Return the look for texts: a range "LO,HI" and a size "WxH". Raises BadInput if they are invalid."""
        try:
            low, high = map(float, range.split(",")) if range is not None else (0.0, 0.0)
        except ValueError:
            raise BadInput(f"--range {range}: give two numbers, as 0,1.5 or -1,1") from None
        try:
            width, height = map(int, size.lower().split("x")) if size is not None else (0, 0)
        except ValueError:
            raise BadInput(f"--size {size}: give width and height in points of the screen, as 1280x720") from None
        return cls(None if range is None else (low, high), log, cmap, None if size is None else (width, height))

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Look:
        """Return the look for options of Python. Raises BadInput for an unknown option or an invalid value."""
        known: Mapping[str, Callable[[Any], Any]] = {"range": _pair, "log": _truth, "cmap": str, "size": _pair}
        values: dict[str, Any] = {}
        for name, value in options.items():
            if name not in known:
                raise BadInput(f"plot({name}={value!r}): unknown option; give {', '.join(known)} or window, or omit it")
            try:
                values[name] = value if value is None else known[name](value)
                cls(**{name: values[name]})
            except BadInput as error:
                raise BadInput(f"plot({name}={value!r}): {str(error).rpartition(': ')[2]}") from None
        try:
            return cls(**values)
        except BadInput as error:
            raise BadInput(f"plot(log=True, range={values['range']}): {str(error).rpartition(': ')[2]}") from None

    @property
    def plain(self) -> bool:
        """Nothing is asked of the colours."""
        return self.range is None and not self.log and self.cmap is None

    def colours(
        self, values: np.ndarray, words: str, cmap: str = "viridis", bottom: float | None = None, name: str = ""
    ) -> Colours:
        """Return the colours for values, ignoring values that are not finite.

        If the values of a field leave its prescribed range, the colours cover that range, and the bar marks values
        outside. By default the range covers all values, of sharp fields all but a few per cent, starts at `bottom` if
        given, and is symmetric about 0 in blue and red if both signs occur. A logarithmic range spans at most DECADES.
        Raises BadInput if the scale is logarithmic and no value is positive.
        """
        known = values[np.isfinite(values)]
        least, most = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        ends = np.quantile(known, (1 - MOST, MOST)).tolist() if name in SHARP and known.size else (least, most)
        low, high = (ends[0] if bottom is None else bottom), ends[1]
        if self.range is not None:
            low, high = self.range
        elif self.log:
            if most <= 0:
                raise BadInput(f"--log: {words} is nowhere above 0; omit it")
            low = max(float(known[known > 0].min()), most * 10.0**-DECADES)
        elif bottom is None and min(-low, high) > ONE_SIDED * max(-low, high):
            low, high = -max(-low, high), max(-low, high)
        low, high = self._bounded(low, high, name)
        if low == -high:
            cmap = "RdBu_r"
        if high <= low:  # all are equal
            low, high = (low / 2, low * 2) if self.log else (low - 0.5 * (abs(low) or 1), low + 0.5 * (abs(low) or 1))
        beyond = 1e-9 * (high - low)
        arrows = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}
        outside = arrows[least < low - beyond, most > high + beyond]
        norm = LogNorm(low, high) if self.log else Normalize(low, high)
        return Colours(norm, self.cmap or cmap, outside, words)

    def _bounded(self, low: float, high: float, name: str) -> tuple[float, float]:
        """Return the ends of the colours limited to the prescribed range of a field, if they clearly exceed it."""
        if name not in self.given or self.range is not None or self.log:
            return low, high
        least, most = self.given[name]
        slack = SLACK * (min(most, high) - max(least, low))
        return least if low < least - slack else low, most if high > most + slack else high

    def drawable(self, values: np.ndarray) -> Look:
        """Return this look, or a linear one if a logarithmic scale could not show any value."""
        return replace(self, log=False) if self.log and self.range is None and not (values > 0).any() else self

    def figure_size(self, width: float, height: float, dpi: int) -> tuple[float, float]:
        """Return the size in inches: the requested size, or the given one."""
        return (width, height) if self.size is None else (self.size[0] / dpi, self.size[1] / dpi)

    def trim(self, figure: Figure) -> None:
        """Trim empty margins of a figure without a requested size."""
        if self.size is None:
            figure.draw_without_rendering()
            box = figure.get_tightbbox()
            figure.set_size_inches(box.width + 2 * PADDING, box.height + 2 * PADDING)


def _pair(value: Any) -> tuple[float, float]:
    try:
        low, high = map(float, value)
    except (TypeError, ValueError):
        raise BadInput("give two numbers") from None
    return low, high


def window_of(value: Any) -> tuple[float, float, float, float] | None:
    """Return a window of `Run.plot`. Raises BadInput if it is invalid."""
    if value is None:
        return None
    try:
        left, right, bottom, top = map(float, value)
        if left < right and bottom < top:
            return left, right, bottom, top
    except (TypeError, ValueError):
        pass
    raise BadInput(f"plot(window={value!r}): give four numbers, the lower one of each pair first, as (-1, 2, -1, 1)")


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadInput("give True or False")
    return value


@dataclass(frozen=True)
class Colours:
    """Colours of values: scale, map, ends with values out of range, and description."""

    norm: Normalize
    cmap: str
    beyond: str
    words: str

    @property
    def keywords(self) -> dict[str, Any]:
        """Arguments for images of matplotlib."""
        return {"norm": self.norm, "cmap": self.cmap}

    def shown(self, values: np.ndarray) -> np.ndarray:
        """Return the values, raised to the lower end of a logarithmic scale."""
        low = self.norm.vmin
        return np.where(values < low, low, values) if isinstance(self.norm, LogNorm) and low is not None else values

    def bar(self, axes: Axes, image: Any) -> None:
        """Draw the colour bar of an image, with arrows at ends that values exceed."""
        place = axes.inset_axes((1.03, 0.0, 0.03, 1.0))
        axes.figure.colorbar(image, cax=place, label=self.words, extend=self.beyond)


def title(records: xr.Dataset | xr.DataTree, plane: CutPlane | None) -> str:
    """Return the case, the time (except for means) and the plane, if the grid is cut by one."""
    when = [moment(records.attrs, float(records["time"]))] if "time" in records.coords else []
    place = [str(plane)] if plane is not None else []
    return literal(f"{records.attrs.get('title', '')}\n{',  '.join((*when, *place))}".strip())


def label(array: xr.DataArray, words: str) -> str:
    """Return words with the unit, or without one for a case in consistent units."""
    return with_unit(words, array.attrs.get("units", "1"))


def with_unit(words: str, units: str) -> str:
    """Return words with a unit such as "m s-1", with its powers raised, or without the unit "1"."""
    return words if units == "1" else f"{words} [{POWER.sub(RAISED, units)}]"
