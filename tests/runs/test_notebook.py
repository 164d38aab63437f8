"""What a notebook shows of runs and simulations: numbers, nothing taken for markup, a picture of the last state."""

import base64
import re
from types import SimpleNamespace

import pytest
import xarray as xr

import taskflow as tf
from taskflow.runs.notebook import CellProgress, as_html, shown_progress
from taskflow.runtime.cluster import unwatched
from tests.cases.on_charts import LID, case
from tests.data.cases import FOLDER
from tests.runs.test_restart import stirred

CAVITY = FOLDER / "small_cavity.toml"
PNG = b"\x89PNG\r\n"


def picture(html: str) -> bytes:
    """The picture in it."""
    return base64.b64decode(re.search(r'src="data:image/png;base64,([^"]+)"', html)[1])


@pytest.mark.slow
def test_of_a_simulation_and_of_its_run(tmp_path):
    small = tf.Case.load(CAVITY, ["machine.device=cpu", "time.steps=4", 'title="a <b> cavity"'])
    with tf.Simulation(small, output=tmp_path / "run") as simulation:
        simulation.step(2)
        paused = simulation._repr_html_()
        assert "<td><code>step</code></td><td>2</td>" in paused
        assert picture(paused).startswith(PNG)
        simulation.run()
        over = simulation._repr_html_()
        assert picture(over).startswith(PNG)
        assert picture(over) != picture(paused)
    run = tf.Run.open(tmp_path / "run")
    shown = run._repr_html_()
    assert "<td><code>steps</code></td><td>4</td>" in shown
    assert picture(shown) == picture(over)
    assert "<b>" not in paused + over + shown


def test_without_snapshots_there_is_no_picture(tmp_path):
    assert "<img" not in tf.Run(tmp_path, {"title": "nothing"})._repr_html_()


def test_a_store_without_records_has_no_picture():
    empty = xr.Dataset({name: ("time", []) for name in "uvw"})
    assert as_html("a <run>", {"title": "nothing"}, lambda: empty).endswith("</table>")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the state is not steady")
def test_on_charts(tmp_path):
    run = tf.run(case(LID), tmp_path / "run")
    assert picture(run._repr_html_()).startswith(PNG)


def test_progress_is_beneath_the_cell_that_goes_on(monkeypatch):
    """Once a cell has taken a while, one line for each; nothing outside of notebooks."""
    lines, now = [], [0.0]

    class Line:
        def __init__(self, content):
            self.texts = [content["text/html"]]

        def update(self, content, raw):
            self.texts.append(content["text/html"])

    def show(content, raw, display_id):
        lines.append(Line(content))
        return lines[-1]

    shell = SimpleNamespace(execution_count=1)
    monkeypatch.setattr("taskflow.runs.notebook.time.perf_counter", lambda: now[0])
    told = CellProgress(stirred(title="<b>", time={"steps": 8}), shell, show)
    for seconds, step in ((0.0, 0), (0.9, 1), (1.1, 2), (1.2, 3), (1.4, 4)):
        now[0] = seconds
        told({"step": step, "time": 0.5 * step})
    assert [line.texts for line in lines] == [[
        '&lt;b&gt;: step 2, time 1 <progress value="0.2500"></progress> 25%',
        '&lt;b&gt;: step 4, time 2 <progress value="0.5000"></progress> 50%',
    ]]  # fmt: skip
    shell.execution_count = 2
    told({"step": 5, "time": 2.5})
    now[0] = 2.5
    told({"step": 8, "time": 4.0, "ended": "end"})
    assert lines[1].texts[0].endswith("100%")
    assert shown_progress(stirred()) is unwatched
