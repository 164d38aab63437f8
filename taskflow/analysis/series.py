"""Series in time of a run: its log and the forces on its bodies as datasets, settled means, and frequencies.

The transient is found, not given: it ends where the standard error of the mean of the rest is smallest (K. P. White
1997, Simulation 69, 323), of the means over periods of the value and of the square of its fluctuation, so that
oscillations that still grow count as transient. At most half of a series is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from taskflow.common.errors import BadInput

AXES = ["x", "y", "z"]
BATCHES = 20  # at least, of a series in which a transient is sought
LEAST = 8  # values, or crossings, without which nothing is said
REFERENCE = ("velocity", "length", "area", "direction", "lift")


def series(log: Sequence[Mapping[str, Any]]) -> xr.Dataset:
    """Return the lines of a log as a dataset over time. Raises BadInput if the log is empty.

    Vectors have a dimension `axis`, values of a body or a side its name before theirs: `cylinder_force`. NaN, and "" of
    words, where a line lacks a value.
    """
    if not log:
        raise BadInput("the log has no line yet; wait for the first one")
    lines = [dict(_flat(line)) for line in log]
    names = dict.fromkeys(name for line in lines for name in line if name not in ("time", "step"))
    variables = {name: _variable([line.get(name) for line in lines]) for name in names}
    coords = {"time": [line["time"] for line in lines], "step": ("time", [line["step"] for line in lines])}
    used = {"axis": AXES} if any("axis" in variable.dims for variable in variables.values()) else {}
    return xr.Dataset(variables, coords={**coords, **used})


def _flat(line: Mapping[str, Any], before: str = "") -> Any:
    for name, value in line.items():
        if isinstance(value, Mapping):
            yield from _flat(value, "" if name == "bodies" else f"{before}{name}_")
        else:
            yield f"{before}{name}", value


def _variable(values: list[Any]) -> xr.Variable:
    if any(isinstance(value, str) for value in values):
        return xr.Variable(("time",), [value if isinstance(value, str) else "" for value in values])
    if any(isinstance(value, list) for value in values):
        nothing = [math.nan] * 3
        rows = [[math.nan if part is None else part for part in value] if value else nothing for value in values]
        return xr.Variable(("time", "axis"), np.array(rows, "f8"))
    return xr.Variable(("time",), np.array([math.nan if value is None else value for value in values], "f8"))


def forces(
    log: Sequence[Mapping[str, Any]], name: str, reference: Mapping[str, Any] | None, span: Mapping[str, float]
) -> xr.Dataset:
    """Return force, its parts pressure and friction, and moment of a body over time. A `reference` adds coefficients.

    `span`: of a flow in two dimensions, the axis across it and the extent along it over which forces are summed.
    Raises BadInput if the body is not in the log, or the reference is not complete.
    """
    names = dict.fromkeys(body for line in log for body in line.get("bodies", {}))
    if name not in names:
        known = f"choose one of {', '.join(names)}" if names else "give [[obstacles]] a name in the case"
        raise BadInput(f"forces({name!r}): no such body in the log; {known}")
    whole = series([{**line, "bodies": {name: line.get("bodies", {}).get(name, {})}} for line in log])
    parts = {"force": f"{name}_force", "pressure": f"{name}_pressure_force", "moment": f"{name}_moment"}
    ds = xr.Dataset({part: whole[column] for part, column in parts.items() if column in whole}, attrs={"body": name})
    ds["friction"] = ds["force"] - ds["pressure"]
    return ds if reference is None else ds.assign(_coefficients(ds, reference, span))


def _coefficients(ds: xr.Dataset, reference: Mapping[str, Any], span: Mapping[str, float]) -> dict[str, xr.DataArray]:
    """Return drag and lift with their parts, and the moment, over velocity^2 / 2 and an area (times a length)."""
    if unknown := [key for key in reference if key not in REFERENCE]:
        raise BadInput(f"reference: {unknown[0]}: unknown key; known here: {', '.join(REFERENCE)}")
    speed, length, area = (_positive(reference, key) for key in REFERENCE[:3])
    if speed is None:
        raise BadInput("reference: velocity: missing; give the speed of the free stream, a number > 0")
    if area is None and length is None:
        raise BadInput("reference: length: missing; give a length of the body, or its area")
    if area is None and not span:
        raise BadInput("reference: area: missing; the flow has three dimensions, give the area of the body")
    across = next(iter(span), None)
    drag = _unit(reference.get("direction", [1.0, 0.0, 0.0]), "direction")
    lift = _unit(reference["lift"], "lift") if "lift" in reference else _lift(drag, across)
    dynamic = 0.5 * speed**2 * (area if area is not None else (length or 0.0) * span[across or ""])
    found = {}
    for quantity, way in (("drag", drag), ("lift", lift)):
        along = xr.DataArray(way, dims="axis", coords={"axis": AXES})
        for part, prefix in (("force", ""), ("pressure", "pressure_"), ("friction", "friction_")):
            found[f"{prefix}{quantity}"] = ((ds[part] * along).sum("axis", skipna=False) / dynamic).assign_attrs(
                long_name=f"{prefix.replace('_', ' ')}{quantity} coefficient"
            )
    if length is not None and "moment" in ds:
        moment = ds["moment"] if across is None else ds["moment"].sel(axis=across, drop=True)
        found["moment_coefficient"] = (moment / (dynamic * length)).assign_attrs(long_name="moment coefficient")
    return found


def _positive(reference: Mapping[str, Any], key: str) -> float | None:
    value = reference.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value > 0):
        raise BadInput(f"reference: {key} = {value!r}; give a number > 0")
    return float(value)


def _unit(value: Any, key: str) -> np.ndarray:
    try:
        way = np.asarray(value, float)
    except (TypeError, ValueError):
        way = np.zeros(0)
    if way.shape != (3,) or not np.isfinite(way).all() or not way.any():
        raise BadInput(f"reference: {key} = {value!r}; give a direction, three numbers, as [1.0, 0.0, 0.0]")
    return np.asarray(way / np.linalg.norm(way))


def _lift(drag: np.ndarray, across: str | None) -> np.ndarray:
    """Return the direction of lift: across drag and span, in three dimensions as close to z as possible, else y."""
    if across is not None:
        way = np.cross(drag, np.eye(3)[AXES.index(across)])
    else:
        up = np.eye(3)[2 if abs(drag[2]) < 0.9 else 1]
        way = up - (up @ drag) * drag
    if not way.any():
        raise BadInput(f"reference: direction: it is along {across}, across the flow; give one within its plane")
    way /= np.linalg.norm(way)
    return way * np.sign(way[np.abs(way).argmax()])


def settled(values: xr.DataArray) -> xr.Dataset:
    """Return mean and rms of a series after its transient, the uncertainty of the mean, and the time it begins.

    The rms is of the fluctuation. The uncertainty is the standard error with the number of independent values, from the
    autocorrelation. Raises BadInput if the series is too short.
    """
    times, known = _known(values)
    first = _transient(known)
    rest = known[first:]
    error = rest.std() / math.sqrt(_independent(rest))
    found = {"mean": rest.mean(), "rms": rest.std(), "uncertainty": error, "begins": times[first]}
    return xr.Dataset({name: float(value) for name, value in found.items()}, attrs={"of": str(values.name)})


def spectrum(values: xr.DataArray) -> xr.DataArray:
    """Return the power spectral density of a series after its transient, over the frequency, with a Hann window.

    Uneven times are interpolated linearly. Its integral is the variance.
    """
    times, known = _known(values)
    first = _transient(known)
    even = np.linspace(times[first], times[-1], len(times) - first)
    fluctuation = np.interp(even, times, known)
    fluctuation -= fluctuation.mean()
    window, step = np.hanning(len(even)), even[1] - even[0]
    power = np.abs(np.fft.rfft(window * fluctuation)) ** 2 * 2 * step / (window**2).sum()
    frequency = xr.Variable(("frequency",), np.fft.rfftfreq(len(even), step), {"long_name": "frequency"})
    about = {"long_name": f"power spectral density of {values.name}", "begins": float(even[0])}
    return xr.DataArray(power, {"frequency": frequency}, name=str(values.name), attrs=about)


def strouhal(values: xr.DataArray, length: float = 1.0, velocity: float = 1.0) -> xr.Dataset:
    """Return the Strouhal number f L / U of a series after its transient, its frequency f, and their uncertainties.

    f is the mean over periods between upward crossings of the mean, its uncertainty their standard error, or one
    interval of the series over all periods if larger. Raises BadInput if it does not oscillate.
    """
    if not all(isinstance(scale, int | float | np.number) and scale > 0 for scale in (length, velocity)):
        raise BadInput(f"strouhal: length = {length!r}, velocity = {velocity!r}; give numbers > 0")
    times, known = _known(values)
    first = _transient(known)
    times, rest = times[first:], known[first:] - known[first:].mean()
    armed, crossings = False, []
    for n in range(len(rest) - 1):  # a crossing counts after an excursion to the other side, so that noise does not
        armed |= rest[n] < -0.25 * rest.std()
        if armed and rest[n] <= 0 < rest[n + 1]:
            crossings.append(times[n] - rest[n] * (times[n + 1] - times[n]) / (rest[n + 1] - rest[n]))
            armed = False
    if len(crossings) < LEAST // 2:
        raise BadInput(f"strouhal: {values.name} crosses its mean {len(crossings)} times; give a longer series")
    periods = np.diff(crossings)
    slack = float(np.diff(times).mean()) / 2 / len(periods)
    error = max(periods.std(ddof=1) / math.sqrt(len(periods)), slack) / periods.mean() ** 2
    frequency, scale = 1 / periods.mean(), length / velocity
    found = {
        "strouhal": frequency * scale, "uncertainty": error * scale, "frequency": frequency,
        "frequency_uncertainty": error, "periods": len(periods), "begins": times[0],
    }  # fmt: skip
    return xr.Dataset({name: float(value) for name, value in found.items()}, attrs={"of": str(values.name)})


def _known(values: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
    """Return times and finite values."""
    if values.dims != ("time",):
        other = [str(dim) for dim in values.dims if dim != "time"]
        raise BadInput(f"{values.name} has {'no time' if 'time' not in values.dims else f'values along {other[0]}'};"
                       f" give a series in time{f', as by .sel({other[0]}=...)' if other else ''}")  # fmt: skip
    finite = np.isfinite(values.values)
    times, known = values["time"].values[finite], values.values[finite].astype("f8")
    if len(known) < LEAST:
        raise BadInput(f"{values.name}: the series has {len(known)} values; {LEAST} are the least, run longer")
    return times, known


def _transient(values: np.ndarray) -> int:
    """Return the number of values that belong to the transient, in batches as long as a period."""
    half = values[len(values) // 2 :]
    power = np.abs(np.fft.rfft(half - half.mean()))
    period = round(len(half) / max(1, int(power[1:].argmax()) + 1))
    length = max(1, min(period, len(values) // BATCHES))
    first = len(values) % length
    batches = (part[first:].reshape(-1, length).mean(axis=1) for part in (values, (values - half.mean()) ** 2))
    return max(first + length * drop if drop else 0 for drop in map(_drop, batches))


def _drop(values: np.ndarray) -> int:
    """Return the number of values without which the standard error of the mean of the rest is smallest."""
    count, values = len(values) - np.arange(len(values) // 2 + 1), values - values.mean()
    sums, squares = (np.cumsum(power[::-1])[::-1][: len(count)] for power in (values, values**2))
    return int(((squares - sums**2 / count) / count**2).argmin())


def _independent(values: np.ndarray) -> float:
    """Return the number of independent values: the length of a series over twice its integral time."""
    part = values - values.mean()
    if not part.any():
        return float(len(values))
    power = np.abs(np.fft.rfft(part, 2 * len(part))) ** 2
    correlation = np.fft.irfft(power)[: len(part)]
    correlation /= correlation[0]
    end = int((correlation <= 0).argmax()) or len(part)
    return max(1.0, len(part) / max(1.0, 2 * correlation[:end].sum() - 1))
