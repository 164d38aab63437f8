"""The examples of programs of one's own are right: exact solutions with their order, conservation, the same bits on any
blocks."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from itertools import pairwise
from math import log
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import taskflow as tf
from taskflow.runtime.cluster import embedded

CPU = {"device": "cpu", "threads": 1}
EXAMPLES = Path(__file__).parents[3] / "examples"
PATHS = [str(EXAMPLES.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
HERE = {**os.environ, "PYTHONPATH": os.pathsep.join(PATHS)}  # whatever folder a script is run in


def example(name: str) -> ModuleType:
    """An example as a module that nobody can import by its name, as `__main__` is one."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def client():
    with embedded(1, gpu=False) as result:
        yield result


# ---------------------------------------------------------------------------------------------------------------- heat


def test_heat_decays_as_it_should(client, monkeypatch, capsys):
    """Second order: with d fixed, time steps shrink as the square of the spacing. `main` prints what is exact."""
    heat, present = example("heat3d"), tf.distribute
    monkeypatch.setattr(heat.tf, "distribute", lambda box, scheduler_file: present(box, client=client, **CPU))
    errors = []
    for n in (16, 24, 32):
        heat.main(n, steps=n * n // 8)
        result, exact = map(float, re.findall(r"(0\.\d+) of its height, exactly (0\.\d+)", capsys.readouterr().out)[0])
        assert 0.1 < exact < 0.2
        errors.append((n, abs(result - exact)))
    orders = [log(e / f) / log(m / n) for (n, e), (m, f) in pairwise(errors)]
    assert orders == pytest.approx([2, 2], abs=0.1)


def test_heat_fits_on_a_page():
    assert len((EXAMPLES / "heat3d.py").read_text().splitlines()) <= 50


# ---------------------------------------------------------------------------------------------------------- Gray-Scott


def plane(nx=24, ny=18):
    i, j = np.arange(nx)[None, None, :], np.arange(ny)[None, :, None]
    return {"u": 0.8 + 0.1 * np.sin(i + 2 * j), "v": 0.2 + 0.1 * np.cos(i * j)}


def test_gray_scott_is_the_scheme_in_numpy(client):
    gray, start = example("gray_scott"), plane()
    r, u, v = gray.Reaction(), start["u"][0], start["v"][0]

    def laplacian(q):
        return sum(np.roll(q, shift, axis) for shift in (1, -1) for axis in (0, 1)) - 4 * q

    for _ in range(20):
        eaten = u * v * v
        u, v = u + r.Du * laplacian(u) - eaten + r.F * (1 - u), v + r.Dv * laplacian(v) + eaten - (r.F + r.k) * v
    found_u, found_v = gray.solve(20, start, r, client=client, **CPU)
    np.testing.assert_allclose(found_u, u, rtol=1e-13)
    np.testing.assert_allclose(found_v, v, rtol=1e-13)


def test_gray_scott_conserves_what_only_changes_its_name(client):
    """Without feed and kill u becomes v, and nothing is lost; without v as well, diffusion keeps u."""
    gray, start = example("gray_scott"), plane()
    u, v = gray.solve(200, start, gray.Reaction(F=0.0, k=0.0), client=client, **CPU)
    assert u.sum() + v.sum() == pytest.approx(start["u"].sum() + start["v"].sum(), rel=1e-12)
    assert v.sum() > start["v"].sum() + 1
    u, v = gray.solve(200, {**start, "v": 0 * start["v"]}, gray.Reaction(F=0.0), client=client, **CPU)
    assert u.sum() == pytest.approx(start["u"].sum(), rel=1e-13)
    assert not v.any()


def test_gray_scott_draws_its_picture(client, monkeypatch, tmp_path):
    gray, present = example("gray_scott"), tf.distribute
    monkeypatch.setattr(gray.tf, "distribute", lambda box, scheduler_file: present(box, client=client, **CPU))
    gray.main(20, tmp_path / "pattern.png")
    assert (tmp_path / "pattern.png").stat().st_size > 10_000


# ---------------------------------------------------------------------------------------------------------------- wave


def test_wave_is_of_eighth_order(client):
    """dt shrinks as h^4, and is so small that errors in space are the larger ones."""
    wave = example("wave8")
    (n, e), (m, f) = (
        (n, wave.solve(n, 0.02 / steps, steps, "f8", client=client, **CPU)[0])
        for n, steps in ((12, 125), (20, 965))
    )
    assert log(e / f) / log(m / n) == pytest.approx(8, abs=0.2)
    half, _ = wave.solve(12, 0.02 / 250, 250, "f8", client=client, **CPU)
    assert abs(half - e) < 0.3 * e


def test_wave_moves_as_its_scheme_says(client):
    """A plane wave keeps its shape; its phase is that of the discrete dispersion relation, to rounding."""
    wave, n, steps, dt = example("wave8"), 10, 40, 0.04
    coefficients = np.array([-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
    symbol = coefficients[0] + 2 * (coefficients[1:] * np.cos(np.arange(1, 5) * 2 * np.pi / n)).sum()
    omega = 2 / dt * np.arcsin(np.sqrt(-3 * symbol) * dt * n / 2)
    box = tf.region((n, n, n), ["u", "u_next"], ghost=4, periodic="xyz")

    def shape(t):
        return lambda i, j, k: np.sin(2 * np.pi * (i + j + k) / n - omega * t)

    def step(f):
        yield wave.advance(f.u, f.u_next, over=box.cells, r=(dt * n) ** 2)
        f.swap("u", "u_next")

    with tf.distribute(box, client=client, **CPU) as blocks:
        blocks.fill(u=shape(0), u_next=shape(-dt))
        blocks.run(step, times=steps)
        np.testing.assert_allclose(blocks.read("u"), shape(steps * dt)(*np.ogrid[:n, :n, :n]), atol=1e-12)


# ---------------------------------------------------------------------------------------------------------- invariance


@pytest.mark.fast("shape0", "shape2")
@pytest.mark.parametrize("shape", [(1, 1, 2), (2, 2, 1), (1, 3, 2)])
def test_the_same_bits_on_any_blocks(client, shape):
    gray, wave = example("gray_scott"), example("wave8")
    flat = (shape[0], shape[1] * shape[2], 1)
    alone, cut = (gray.solve(30, plane(), gray.Reaction(), client=client, blocks=b, **CPU) for b in ((1, 1, 1), flat))
    assert [q.tobytes() for q in alone] == [q.tobytes() for q in cut]
    alone, cut = (wave.solve(12, 0.01, 20, "f4", client=client, blocks=b, **CPU)[0] for b in ((1, 1, 1), shape))
    assert alone == cut


# ---------------------------------------------------------------------------------------------------------------- GPUs


@pytest.mark.gpu
def test_the_same_bits_on_a_gpu(client):
    gray, wave = example("gray_scott"), example("wave8")
    here, present = (gray.solve(30, plane(), gray.Reaction(), client=client, device=d) for d in ("cpu", "gpu"))
    assert [q.tobytes() for q in here] == [q.tobytes() for q in present]
    for dtype in ("f4", "f8"):
        here, present = (wave.solve(20, 0.01, 20, dtype, client=client, device=d)[0] for d in ("cpu", "gpu"))
        assert here == present


@pytest.mark.multigpu
def test_a_script_uses_all_gpus_of_the_machine():
    """A process and a block for each; what is printed is right."""
    from taskflow.runtime.host.accelerators import accelerators

    command = [sys.executable, EXAMPLES / "heat3d.py", "64", "512"]
    done = subprocess.run(command, capture_output=True, text=True, env=HERE)
    assert done.returncode == 0, done.stderr
    assert f"<1x1x{len(accelerators())} blocks of" in done.stdout
    assert "on gpu" in done.stdout
    result, exact = map(float, re.findall(r"(0\.\d+) of its height, exactly (0\.\d+)", done.stdout)[0])
    assert result == pytest.approx(exact, rel=2e-3)


# ------------------------------------------------------------------------------------------------- a cluster of workers


@pytest.mark.slow
def test_a_flow_on_a_cluster_is_opened_there(tmp_path):
    """Two workers of a scheduler file; the energy of the start is (1/8 + 1/8) / 2."""
    script = EXAMPLES.parent / "deploy" / "cluster.sh"
    words = ["scheduler.json", "cpu", "2", sys.executable, EXAMPLES / "cluster.py", "scheduler.json", "vortex", "16"]
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run([script, *words], cwd=tmp_path, env={**HERE, "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert tf.Run.open(tmp_path / "vortex").report["blocks"] == [1, 1, 2]
    energies = [float(line.split()[-1]) for line in done.stdout.splitlines() if re.match(r"0\.\d+ ", line)]
    assert energies[0] == pytest.approx(0.125, rel=1e-3)
    assert energies[0] > energies[1] > energies[2] > 0.12
