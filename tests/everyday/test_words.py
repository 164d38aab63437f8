"""Messages, pages and pictures say what is the case, and what to do."""

import http.client
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import taskflow as tf
from tests.everyday.cases import PERIODIC, SLAB

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

DOCS = Path(__file__).resolve().parents[2] / "docs"
SMALL = {
    "grid": {"cells": [8, 1, 8], "lengths": [1, 0.125, 1]}, "fluid": {"viscosity": 0.01}, "boundaries": PERIODIC,
    "time": {"steps": 3}, "machine": {"device": "cpu", "threads": 1},
}  # fmt: skip


def test_an_inflow_is_set(client, tmp_path):
    case = tf.Case(
        grid={"cells": [16, 1, 8], "lengths": [2.0, 0.125, 1.0]}, fluid={"viscosity": 0.01},
        initial={"velocity": [1.0, 0.0, 0.0]}, time={"steps": 20}, machine={"device": "cpu", "threads": 1},
        boundaries={
            "x_min": {"type": "inflow", "velocity": ["1 + 0*t", 0.0, 0.0]}, "x_max": "outflow", "y": "periodic",
            "z_min": "slip", "z_max": "slip",
        },
    )  # fmt: skip
    with tf.Simulation(case, tmp_path / "run", client) as simulation:
        simulation.step(1)
        simulation.set("boundaries.x_min.velocity", [1.5, 0.0, 0.0])
        simulation.step(5)
        assert float(simulation["u"].isel(x_f=0).mean()) == pytest.approx(1.5, abs=1e-6)


@pytest.mark.slow
def test_a_steady_run_has_no_time(command):
    command("new", "pipe.toml", "--example", "round_pipe")
    changes = ("--set", "grid.cells=[4,4,4]", "--set", "time.steps=200", "--set", "machine.device=cpu")
    command("run", "pipe.toml", "-o", "run", "-q", *changes)
    told = command("info", "run")[1]
    assert [line for line in told.splitlines() if re.search(r"\btime \d", line)] == []


def test_each_entry_of_a_legend_has_a_curve(command, monkeypatch):
    """Forces that are zero by construction are not drawn."""
    from taskflow.plots import charts

    changes = ("--set", "grid.cells=[24,12,1]", "--set", "time.steps=40", "--set", "monitor.every={steps=2}")
    command("new", "cylinder.toml", "--example", "cylinder_body_fitted")
    command("run", "cylinder.toml", "-o", "run", "-q", *changes, "--set", "machine.device=cpu")
    drawn, save = [], Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda figure, *a, **k: (drawn.append(figure), save(figure, *a, **k))[1])
    charts.plot_series("run")
    empty = [
        line.get_label() for figure in drawn for axes in figure.axes for line in axes.lines
        if not line.get_label().startswith("_")
        and not [y for y in line.get_ydata() if y == y and (y > 0 or axes.get_yscale() != "log")]
    ]  # fmt: skip
    assert empty == []


def test_names_of_the_package_are_those_it_exports():
    assert [name for name in dir(tf) if not name.startswith("_") and name not in tf.__all__] == []


@pytest.mark.parametrize(("at", "name", "value"), [("case", "title", "b"), ("fluid", "viscosity", 1)])
def test_setting_an_attribute_of_a_case_names_the_remedy(at, name, value):
    case = tf.Case(title="a", **SMALL)
    with pytest.raises(Exception, match="replace") as caught:
        setattr(case if at == "case" else case.fluid, name, value)
    assert "pydantic" not in str(caught.value)


def test_a_case_shows_no_names_of_pydantic():
    theirs = ("parse_obj", "construct", "model_construct", "from_orm", "parse_raw", "update_forward_refs")
    assert [name for name in dir(tf.Case(title="a", **SMALL)) if name in theirs] == []


@pytest.mark.slow
def test_a_page_has_the_number_of_steps_of_its_run(command):
    page = (DOCS / "examples/capillary_wave.md").read_text()
    said = int(re.search(r"^([\d,]+) steps on", page, re.M)[1].replace(",", ""))
    command("new", "wave.toml", "--example", "capillary_wave")
    command("run", "wave.toml", "-o", "run", "-q", "--set", "machine.device=cpu")
    assert tf.Run.open("run").log()[-1]["step"] == said


def test_a_function_on_blocks_that_returns_an_array_is_said_what_to_return(client, tmp_path):
    with tf.Simulation(tf.Case(**SMALL), tmp_path / "run", client) as simulation:
        simulation.step(1)
        with pytest.raises(tf.TaskflowError, match=r"(?s)return.*number|number.*return"):
            simulation.on_blocks(lambda block: block["u"], ["u"])


def test_commands_take_the_same_options(command):
    """`grid convert A -o B`, and `export RUN` alone."""
    command("grid", "new", "box", "--set", "grid.cells=[6,6,6]", "--set", "grid.lengths=[1,1,1]", "-o", "box.xyz")
    status, told = command("grid", "convert", "box.xyz", "-o", "box.cgns")
    assert status == 0, told
    Path("slab.toml").write_text(SLAB)
    command("run", "slab.toml", "-q", "-o", "run")
    status, told = command("export", "run")
    assert status == 0, told


# ------------------------------------------------------------------------------------------------- watch --web


@contextmanager
def page(directory):
    """The port of a page that shows a run; what the command printed is empty at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["watch", directory, "--web", "--port", str(port)]
    command = [sys.executable, "-m", "taskflow", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        while True:
            assert running.poll() is None, running.communicate()
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        try:
            yield port
        finally:
            running.terminate()
            told, _ = running.communicate()
    assert "Traceback" not in told


def answer(port, path):
    link = http.client.HTTPConnection("127.0.0.1", port)
    link.putrequest("GET", path, skip_host=True)
    link.putheader("Host", f"127.0.0.1:{port}")
    link.endheaders()
    response = link.getresponse()
    return response.status, response.read().decode(errors="replace")


def test_requests_of_a_page_are_answered(command):
    """What is no address, and a snapshot that is not there, with 400; and the path of the run is resolved."""
    Path("a/b").mkdir(parents=True)
    Path("slab.toml").write_text(SLAB)
    assert command("run", "slab.toml", "-q", "-o", "a/room")[0] == 0
    with page("a/b/../room") as port:
        assert answer(port, "http://[bad/")[0] == 400
        assert answer(port, "/slice?field=u&plane=y&snapshot=-1")[0] == 400
        assert "/../" not in answer(port, "/run")[1]
