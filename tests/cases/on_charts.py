"""Small cases on charts, for tests."""

from taskflow.cases import Case

CYLINDER = {
    "method": {"type": "artificial-compressibility"},
    "grid": {"shape": "o-grid", "cells": [20, 8, 1], "far": 5.0},
    "fluid": {"viscosity": 0.05},
    "boundaries": {
        "body": "wall", "far": {"type": "far-field", "velocity": [1.0, 0.0, 0.0]}, "ends": "symmetry",
    },
    "initial": {"velocity": [1.0, 0.0, 0.0]},
    "time": {"steady": 1e-8, "steps": 12},
    "output": {"every": {"steps": 4}, "precision": "double"},
    "monitor": {"every": {"steps": 2}},
    "machine": {"device": "cpu"},
}  # fmt: skip
LID = {
    "method": {
        "type": "artificial-compressibility", "flux": "central", "damping": {"type": "pressure"}, "march": "euler",
        "compressibility": {"local": True}, "steps": "global", "pressure_at": [0.5, 0.5, 0.5],
    },
    "grid": {"cells": [10, 8, 6], "lengths": [1.0, 1.0, 1.0], "charts": [2, 1, 1]},
    "fluid": {"viscosity": 0.02},
    "heat": {"diffusivity": 0.02, "expansion": 1.0},
    "scalars": [{"name": "dye", "diffusivity": 0.01, "initial": "x*y", "boundaries": {"y_min": {"value": 1.0}}}],
    "body": {"gravity": [0.0, 0.0, -1.0]},
    "boundaries": {
        **dict.fromkeys(("x_max", "y_min", "y_max", "z_min"), "wall"),
        "x_min": {"type": "wall", "temperature": 1.0},
        "z_max": {"type": "wall", "velocity": ["sin(pi*x)", 0.0, 0.0], "moment_about": [0.0, 0.0, 0.0]},
    },
    "time": {"steady": 1e-8, "steps": 12},
    "output": {"every": {"steps": 4}, "precision": "double"},
    "monitor": {"every": {"steps": 2}},
    "machine": {"device": "cpu"},
}  # fmt: skip
WING = {
    **CYLINDER,
    "grid": {"shape": "c-grid", "cells": [32, 8, 1], "far": 5.0, "wake": 5.0},
    "boundaries": {**CYLINDER["boundaries"], "outlet": {"type": "outflow", "pressure": 0.0}},
}
TURNED = {
    **CYLINDER,
    "grid": {
        "shape": "box", "cells": [10, 9, 8], "lengths": [1, 1, 1], "charts": [2, 2, 1], "distortion": 0.08,
        "turned": True, "periodic": ["x"],
    },
    "boundaries": {
        "y_min": "wall", "y_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]}, "z_min": "slip", "z_max": "symmetry",
    },
    "initial": {},
}  # fmt: skip


def changed(tables, **changes):
    """Tables with other values: those of `table__key` go into a table, None takes away."""
    tables = {name: dict(table) if isinstance(table, dict) else table for name, table in tables.items()}
    for path, value in changes.items():
        *outer, key = path.split("__")
        table = tables
        for name in outer:
            table = table.setdefault(name, {})
        if value is None:
            table.pop(key, None)
        else:
            table[key] = value
    return tables


def case(tables=CYLINDER, **changes):
    """The case of such tables."""
    return Case(**changed(tables, **changes))
