"""Runs that differ in parameters, from a file."""

import pytest


@pytest.mark.slow
def test_a_sweep_from_a_file(give, here):
    sweep = here / "viscosities.toml"
    sweep.write_text('case = "cavity.toml"\n[parameters]\n"fluid.viscosity" = [0.01, 0.02]\n')
    told = give("sweep", "viscosities.toml", "--set", "time.steps=2")
    assert told.exit_code == 0, told.stderr
    assert "viscosities/0001: fluid.viscosity = 0.02: " in told.stdout
    assert "2 runs are in viscosities" in told.stdout
    assert give("sweep", "viscosities.toml", "--set", "time.steps=2", "--quiet").stdout == ""
    sweep.write_text('case = "cavity.toml"\n[parameters]\n"fluid.viscosity" = [-1.0]\n')
    refused = give("sweep", "viscosities.toml")
    assert refused.exit_code == 2
    assert "fluid.viscosity = -1.0: give a number >= 0" in refused.stderr
