"""A cylinder of stair steps in a channel against Schaefer & Turek (1996)."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.machine.device import Device, gpu
from tests.validation.cylinder import computed, pressure_difference, reference


def check_steady(cells: int, allowed: float, device: Device | None = None) -> float:
    """2D-1 at t = 8: Cd within so much; its error is what comes back."""
    known = reference("steady")
    flow, forces = computed("steady", cells, device=device)
    Cd, Cl, dp = forces.drag[-1], forces.lift[-1], pressure_difference(flow)
    error = Cd / known["Cd"] - 1
    print(f"2D-1, {cells} cells per diameter, {flow.tick.step} steps: Cd {Cd:.4f} ({error:+.2%}), Cl {Cl:.4f}, dp {dp:.5f}")
    assert abs(error) < allowed
    assert Cl == pytest.approx(known["Cl"], abs=0.01)
    assert dp == pytest.approx(known["dp"], rel=0.05)
    return error


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_steady():
    check_steady(10, 0.04)


@pytest.mark.gpu
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_steady_on_a_gpu():
    """The error falls with the spacing."""
    assert abs(check_steady(40, 0.02, gpu())) < abs(check_steady(20, 0.04, gpu()))


def check_street(cells: int, device: Device | None = None) -> float:
    """2D-2: the Strouhal number from 4 s on; the street is fully there then."""
    known = reference("street")
    flow, forces = computed("street", cells, device=device)
    late = forces.since(5.0)
    St = 0.1 * late.frequency
    print(f"2D-2, {cells} cells per diameter, {flow.tick.step} steps: St {St:.4f} of {known['St']}, Cd <= {late.drag.max():.3f}"
          f" of {known['Cd_max']}, Cl <= {late.lift.max():.3f} of {known['Cl_max']}")  # fmt: skip
    return St


def check_pulse(cells: int, device: Device | None = None) -> dict[str, float]:
    """2D-3: relative errors, of times absolute ones."""
    known = reference("pulse")
    flow, forces = computed("pulse", cells, device=device)
    top, lifted = int(np.argmax(forces.drag)), int(np.argmax(forces.lift))
    late = forces.since(4.5)
    found = {"Cd_max": forces.drag[top], "t_Cd_max": forces.time[top], "Cl_max": forces.lift[lifted],
             "t_Cl_max": forces.time[lifted], "dp_t8": pressure_difference(flow)}  # fmt: skip
    print(f"2D-3, {cells} cells per diameter, {flow.tick.step} steps:", found, "of", {name: known[name] for name in found},
          "frequency of the lift from 4.5", late.frequency)  # fmt: skip
    return {name: value / known[name] - 1 for name, value in found.items()}
