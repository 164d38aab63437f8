"""A turbulent channel on few cells against the direct simulation of Moser, Kim & Mansour (1999)."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import taskflow as tf
from tests.validation.channel import Profiles, errors, main, measured, moser

EXAMPLE = Path(__file__).parents[2] / "examples" / "turbulent_channel.toml"
RESOLVED = Path(__file__).parent / "cases" / "channel_resolved.toml"


@pytest.mark.slow
@pytest.mark.parametrize(("path", "cells", "allowed"), [(EXAMPLE, [32, 32, 40], 0.08), (RESOLVED, [64, 40, 40], 0.04)])
def test_few_cells(tmp_path, path, cells, allowed):
    """With the eddies of a model on uniform cells, and with none on stretched ones; a short time is averaged over."""
    short = [f"grid.cells={cells}", "time.end=6", "statistics.start=3", "machine.device=cpu"]
    run = tf.run(tf.Case.load(path, short), tmp_path / "channel")
    result = errors(measured(run.directory), moser())
    print(result)
    assert result["U"] < allowed
    assert result["u_rms"] < 0.25
    main(run.directory, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def test_differences_are_those_of_the_place():
    """On stretched cells, the last of which is not at the middle of the channel; a stress 2 % too large by a part."""
    known = moser()
    y = np.tanh(np.linspace(0.02, 0.98, 30)) / np.tanh(1)
    result = Profiles(*(np.interp(y, known.y, getattr(known, item.name)) for item in fields(known)))
    assert max(errors(result, known).values()) < 0.01
    assert errors(result, known)["total"] < 1e-12
    assert errors(replace(result, total=result.total + 0.02 * (y > 0.7)), known)["total"] == pytest.approx(0.02)


def test_the_resolved_channel_is_resolved():
    """At most 10 and 5 wall units along and across; a box of at least 4 pi x 4 pi / 3."""
    case, units = tf.Case.load(RESOLVED), 180
    along, across, _ = (length / n * units for length, n in zip(case.grid.lengths, case.grid.cells, strict=True))
    assert along <= 10
    assert across <= 5
    assert case.fluid.viscosity * units == pytest.approx(1)
    assert case.grid.lengths == pytest.approx((4 * 3.14159265, 4 * 3.14159265 / 3, 2), rel=1e-6)
    assert case.time.end - case.statistics.start >= 10
