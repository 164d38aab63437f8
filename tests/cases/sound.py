"""Two sound cases, as tables, which tests change."""

from copy import deepcopy

CAVITY = {
    "title": "cavity",
    "grid": {"cells": [16, 4, 16], "lengths": [1.0, 0.25, 1.0]},
    "fluid": {"viscosity": 1e-2},
    "boundaries": {
        "y": "periodic", "x_min": "wall", "x_max": "slip", "z_min": "symmetry",
        "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]},
    },
    "time": {"end": 1.0},
}
HEATED = {
    "grid": {"cells": [8, 1, 8], "lengths": [1, 1, 1], "origin": [-0.5, 0, 0]},
    "fluid": {"viscosity": 0.71},
    "heat": {"diffusivity": 1.0, "expansion": 7100.0, "reference": 0.5},
    "body": {"gravity": [0, 0, -1]},
    "boundaries": {
        "x_min": {"type": "wall", "temperature": 1}, "x_max": {"type": "wall", "heat_flux": -1.0}, "y": "periodic",
        "z_min": "wall", "z_max": "slip",
    },
    "initial": {"velocity": ["sin(pi*x)", 0, 0.5]},
    "time": {"steps": 100, "step": 1e-4, "steady": 1e-5},
    "output": {"fields": ["w", "T"], "every": {"steps": 5}, "precision": "double"},
    "monitor": {"every": 0.01},
    "machine": {
        "blocks": [1, 1, 2], "workers": 2, "threads": 1, "device": "cpu", "overlap": "full", "channel": "ucx",
        "debug": True,
    },
}


def _changed(tables, changes):
    """A copy with `table__key=value` set, or taken out by `...`; `table=value` for a whole table."""
    tables = deepcopy(tables)
    for path, value in changes.items():
        *outer, key = path.split("__")
        inner = tables
        for name in outer:
            inner = inner.setdefault(name, {})
        if value is ...:
            del inner[key]
        else:
            inner[key] = value
    return tables


def cavity(**changes):
    """A lid-driven cavity: `cavity(table__key=value)` gives its tables with changes."""
    return _changed(CAVITY, changes)


def heated(**changes):
    """A heated box that uses many keys."""
    return _changed(HEATED, changes)
