"""Text of others: nothing in it steers a terminal, and nothing is shown at length."""

import ast
import gc
import io
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import rich.console
from typer.testing import CliRunner

import taskflow as tf
from taskflow.cases.timing.schedule import Clock
from taskflow.cli.app import app
from taskflow.cli.watch import Display, ProgressMeter
from taskflow.common.errors import BadInput
from taskflow.common.text import LONGEST, literal, parsed, visible
from taskflow.flow.stability import StepLimit

CASE = Path(__file__).parent / "data" / "cases" / "small_cavity.toml"
EVIL = "\x1b]0;owned\x07\x1b[2J \x9b31m \u202efdp.exe\u2069 $\\frac{ [link=x]"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, Grüße, 速度, ∂u/∂x\ttab\nline", "plain, Grüße, 速度, ∂u/∂x\ttab\nline"),
        ("\x1b[31m\x07\x00\r", r"\x1b[31m\x07\x00\r"),
        ("\x9b \x85", r"\x9b \x85"),
        ("a\u202eb\u2066c\u200bd\ufeff", r"a\u202eb\u2066c\u200bd\ufeff"),
        ("\u2028\u2029\udc80", r"\u2028\u2029\udc80"),
        ("x" * LONGEST + "y" * LONGEST, "x" * (LONGEST // 2) + " ... " + "y" * (LONGEST // 2)),
    ],
)
def test_what_cannot_be_seen_is_shown_as_an_escape(text, shown):
    assert visible(text) == shown


def test_a_picture_shows_dollars():
    assert literal("$\\frac{\x1b") == "\\$\\frac{\\x1b"


def harmless(*texts: str) -> bool:
    return not any(item in text for text in texts for item in "\x1b\x07\x9b\u202e\u2069")


def test_errors_quote_nothing_raw():
    assert harmless(str(BadInput(f"title = {EVIL}")))


@pytest.mark.parametrize("text", ['title = "{}"\n', "[{}]\n", '["{}"]\nx = 1\n', "x = {}\n", '[grid]\ncells = "{}"\n'])
def test_a_case_file_that_steers_terminals_is_refused_harmlessly(tmp_path, text):
    path = tmp_path / "case.toml"
    escaped = EVIL.encode("unicode_escape").decode().replace("\\x", "\\u00")
    for evil in (EVIL, escaped.replace("\\\\", "\\\\\\\\"), "y" * 100_000):
        path.write_text(text.format(evil), encoding="utf-8")
        done = CliRunner().invoke(app, ["check", str(path)])
        assert done.exit_code == 2
        assert harmless(done.output)
        assert max(map(len, done.output.splitlines())) < LONGEST + 20


def test_very_many_problems_are_not_all_printed(tmp_path):
    path = tmp_path / "case.toml"
    path.write_text("[grid]\n" + "".join(f"a{number} = 1\n" for number in range(1000)))
    done = CliRunner().invoke(app, ["check", str(path)])
    assert done.exit_code == 2
    assert len(done.output.splitlines()) == 21
    assert "more problems" in done.output.splitlines()[-1]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    case = tf.Case.load(CASE, ["title=HERE", "time.steps=2", "machine.device=cpu"])
    done = tf.run(case, output=tmp_path_factory.mktemp("text") / "run")
    for path in done.directory.rglob("*"):  # as somebody may have written it
        if path.name in ("case.toml", "zarr.json", "report.json"):
            escaped = json.dumps(EVIL, ensure_ascii=path.suffix == ".json")[1:-1]
            path.write_text(path.read_text().replace("HERE", escaped), encoding="utf-8")
    report = json.loads((done.directory / "report.json").read_text())
    (done.directory / "report.json").write_text(json.dumps({**report, "reason": EVIL, "command": ["taskflow", EVIL]}))
    return done


@pytest.mark.parametrize("words", [["info"], ["watch"], ["plot"], ["plot", "--series"], ["export", "--vtk"]])
def test_a_title_that_steers_terminals_is_harmless_everywhere(run, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [words[0], str(run.directory), *words[1:]])
    assert done.exit_code == 0, done.output
    assert harmless(done.output)


def test_tables_that_steer_terminals_are_harmless(run, tmp_path):
    table = tmp_path / "table.csv"
    for text in (f"z,u,{EVIL}\n0,0\n", f"# {EVIL}\nz,u\n0.1,0.2\n0.5,0.1\n", f"z,u\n{EVIL},0\n", f"{EVIL}\n"):
        table.write_text(text, encoding="utf-8")
        done = CliRunner().invoke(app, ["plot", str(run.directory), "--reference", str(table), "-o", str(tmp_path)])
        assert done.exit_code in (0, 2), done.output
        assert harmless(done.output)


def test_the_live_display_is_harmless():
    console = rich.console.Console(file=io.StringIO(), width=200)
    display = Display(EVIL, ProgressMeter(1, Clock(StepLimit(), end=1.0, steps=None)))
    console.print(display._drawn({"waiting": EVIL}))
    text = console.file.getvalue()
    assert harmless(text)
    assert "owned" in text


def test_threads_parse_at_the_same_time():
    """Python's own `ast.parse` raises a SystemError where another thread parses while it collects garbage."""
    texts, thresholds = [" + ".join(["x * (1 - y)"] * n) for n in range(1, 30)], gc.get_threshold()

    def others_run(*_):
        time.sleep(0)

    gc.callbacks.append(others_run)
    gc.set_threshold(2)
    try:
        with ThreadPoolExecutor(4) as threads:
            trees = list(threads.map(lambda text: parsed(text, "eval"), 20 * texts))
    finally:
        gc.callbacks.remove(others_run)
        gc.set_threshold(*thresholds)
    assert [ast.unparse(tree) for tree in trees[: len(texts)]] == texts
