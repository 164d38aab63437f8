"""What a notebook shows of runs and simulations: numbers, nothing taken for markup, a picture of the last state."""

import base64
import re

import pytest
import xarray as xr

import taskflow as tf
from taskflow.simulation.notebook import as_html
from tests.cases import FOLDER
from tests.simulation.on_charts import LID, case

CAVITY = FOLDER / "small_cavity.toml"
PNG = b"\x89PNG\r\n"


def picture(html: str) -> bytes:
    """The picture in it."""
    return base64.b64decode(re.search(r'src="data:image/png;base64,([^"]+)"', html)[1])


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
