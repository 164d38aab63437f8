"""`examples/peers`: what is not installed is named with its remedy, and all codes compute the same flow."""

import importlib
from importlib.metadata import PackageNotFoundError

import pytest

from examples.peers import __main__ as peers
from examples.peers.flow import Flow, divergence, energy


@pytest.fixture
def bare(monkeypatch):
    def missing(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(peers, "version", missing)


def test_a_code_that_is_not_installed(bare, capsys):
    assert peers.main(["jax-cfd", "--cells", "8"]) == 2
    assert capsys.readouterr().err == "jax-cfd is not installed: pip install jax-cfd\n"
    assert peers.installed() == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["fluent"], "fluent: unknown code; choose some of taskflow, jax-cfd, exponax, peclet"),
        (["--cells", "2"], "give at least 4 cells, a step and a round"),
        (["--steps", "0"], "give at least 4 cells, a step and a round"),
    ],
)
def test_bad_words(capsys, words, told):
    with pytest.raises(SystemExit, match="2"):
        peers.main(words)
    assert told in capsys.readouterr().err


def test_the_flow_begins_with_its_energy_and_without_divergence():
    flow = Flow(8, "double")
    assert energy(flow.velocity(staggered=True, low=True)) == pytest.approx(0.125)
    assert divergence(flow.velocity(staggered=True, low=True), flow) < 1e-14
    assert divergence(flow.velocity(staggered=True), flow) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "near"), [("jax-cfd", 2e-4), ("exponax", 2e-4), ("peclet", 1e-3)]
)  # peclet's convection is upwind
def test_a_code_computes_the_same_flow(code, near):
    """Energies agree to the errors of the schemes on 32 cells, at the same time, and no divergence is left."""
    package = importlib.import_module(f"examples.peers.with_{code.replace('-', '_')}").PACKAGE
    pytest.importorskip(package.replace("-", "_"))
    results = peers.measure(["taskflow", code], Flow(32, "double"), steps=5, rounds=2)
    (_, _, ours), (_, _, theirs) = results["taskflow"], results[code]
    assert ours.energy < 0.12499
    assert theirs.energy == pytest.approx(ours.energy, rel=near)
    assert max(ours.divergence, theirs.divergence) < 1e-9
