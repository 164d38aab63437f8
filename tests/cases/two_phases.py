"""A case of two phases for tests: a droplet that falls, in a few cells."""

from __future__ import annotations

import taskflow as tf

DROP = {
    "grid": {"cells": [12, 8, 14], "lengths": [0.6, 0.4, 0.7]},
    "two_phase": {
        "density": [50.0, 1.0], "viscosity": [0.1, 0.01], "surface_tension": 1.0,
        "initial": "0.15 - sqrt((x - 0.3)**2 + (y - 0.2)**2 + (z - 0.35)**2)",
    },
    "body": {"gravity": [0, 0, -1.0]},
    "boundaries": {"x_min": "slip", "x_max": "slip", "y": "periodic", "z_min": "wall", "z_max": "wall"},
    "time": {"steps": 6},
    "pressure": {"solver": "multigrid", "outer": "none", "iterations": 3},
    "phases": [{"name": "drop", "phase": 1, "every": {"steps": 2}}],
    "monitor": {"every": {"steps": 1}},
    "output": {"every": {"steps": 3}, "precision": "double"},
}  # fmt: skip


def case(**tables) -> tf.Case:
    merged = {name: dict(table) if isinstance(table, dict) else table for name, table in DROP.items()}
    for name, table in tables.items():
        merged[name] = {**merged.get(name, {}), **table} if isinstance(table, dict) else table
    return tf.Case(**merged)
