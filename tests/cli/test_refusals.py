"""Bad input on the command line: one clear message, exit code 2, no traceback, nothing written or replaced."""

import os
import sys
from pathlib import Path

import pytest

PERIODIC = 'boundaries={x="periodic", y="periodic", z_min="periodic", z_max="wall"}'


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("words", "told"), [
    (["--set", "fluid.viscosty=1"], ["fluid.viscosty = 1", "did you mean fluid.viscosity?"]),
    (["--set", "grid.cells=[64,2.5,64]"], ["grid.cells = [64, 2.5, 64]", "three integers"]),
    (["--set", "grid.lengths=[1,0,1]"], ["grid.lengths = [1, 0, 1]", "> 0"]),
    (["--set", "grid.cells=[0,1,1]", "--set", "time.steps=no"], ["grid.cells = [0, 1, 1]", 'time.steps = "no"']),
    (["--set", PERIODIC], ["boundaries.z_min", 'give z = "periodic"']),
    (["--set", "machine.blocks=[1,1,17]"], ["machine.blocks = [1, 1, 17]", "17 blocks in z, but 16 planes"]),
    (["--set", 'initial.velocity=["import os", 0, 0]'], ["initial.velocity", "'import os' is not an expression"]),
    (["--set", "nonsense"], ["'nonsense'", "table.key=VALUE"]),
    (["--resume", "--force"], ["--resume --force: use one of them"]),
    (["--resume", "-o", "other"], ["other exists and is not a run directory", "it is kept"]),
    (["--resume", "-o", "cavity.toml"], ["cavity.toml exists and is not a run directory"]),
    (["--resume", "-o", "old"], ["old: it has no checkpoint to restart from", "begin again (--force"]),
    (["-o", "old"], ["old exists", "-o", "--force"]),
    (["-o", "old/case.toml/new"], ["old/case.toml is not a directory"]),
    (["-o", "x" * 300], ["File name too long"]),
    (["-o", "other", "--force"], ["other exists and is not a run directory", "it is kept"]),
    (["-o", "door", "--force"], ["door exists and is not a run directory", "it is kept"]),  # with a lock of its own
    (["-o", "cavity.toml", "--force"], ["cavity.toml exists and is not a run directory"]),
    (["--scheduler-file", "nowhere.json"], ["nowhere.json", "file not found", "dask scheduler"]),
    (["--scheduler-file", "cavity.toml"], ["no Dask scheduler wrote this file"]),
])
def test_before_anything_starts(give, refused, here, words, told):
    for name in ("old/case.toml", "other/mine.txt", "door/lock", "door/key"):
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text("precious")
    before = contents(here)
    result = give("run", "cavity.toml", *words)
    refused(result.exit_code, result.stderr, *told)
    assert result.stdout == ""
    assert contents(here) == before


@pytest.mark.parametrize(("name", "told"), [
    ("missing.toml", "file not found; `taskflow new missing.toml`"),
    ("folder", "cannot be read (Is a directory)"),
    ("bytes.toml", "not a text file in UTF-8"),
    ("words.toml", "not TOML"),
])
@pytest.mark.parametrize("command", ["run", "check", "graph"])
def test_unreadable_files(give, refused, tmp_path, monkeypatch, command, name, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "words.toml").write_text("what a lovely flow")
    result = give(command, name)
    refused(result.exit_code, result.stderr, name, told)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_without_permission(give, refused, here):
    (here / "closed").mkdir(mode=0o500)
    result = give("run", "cavity.toml", "-o", "closed/run")
    refused(result.exit_code, result.stderr, "closed/run", "Permission denied")


@pytest.mark.parametrize(("words", "told"), [
    (["--set", "machine.device=gpu"], ['machine.device = "gpu"', "no GPU is visible", 'machine.device = "cpu"']),
    (["--set", "grid.cells=[4000,4000,4000]"], ["grid.cells = [4000, 4000, 4000]", "TB", "are free"]),
    (["--set", 'initial.velocity=["1/x", 0, 0]'], ["initial.velocity", "not finite at x = 0"]),
    (["-o", "/proc/nowhere/run"], ["/proc/nowhere/run", "cannot be written"]),
])
def test_once_the_machine_is_known(give, refused, here, monkeypatch, words, told):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    (here / "cavity").mkdir()
    (here / "cavity" / "case.toml").write_text("precious")
    result = give("run", "cavity.toml", *(words if "-o" in words else [*words, "--force"]))
    refused(result.exit_code, result.stderr, *told)
    assert (here / "cavity" / "case.toml").read_text() == "precious"
    assert sorted(path.name for path in here.iterdir()) == ["cavity", "cavity.toml"]


@pytest.mark.parametrize("command", [pytest.param("run", marks=pytest.mark.slow), "check"])
def test_without_a_compiler(shell, refused, here, command):
    path = here / "bin"  # holds Python, nothing else
    path.mkdir()
    (path / "python").symlink_to(sys.executable)
    environment = {**os.environ, "PATH": str(path), "CXX": ""}
    code, out, err = shell(command, "cavity.toml", "--set", "machine.device=cpu", env=environment)
    refused(code, err, "there is no C++ compiler", "install g++, or set CXX")
    assert out == ""
    assert not (here / "cavity").exists()


@pytest.mark.parametrize(("words", "told"), [
    (["info", "nowhere"], "nowhere: not a run directory"),
    (["info", "cavity.toml"], "cavity.toml"),
    (["plot", "nowhere"], "nowhere"),
    (["bench", "step", "-o", "nowhere/a.json"], "nowhere"),
    (["bench", "step", "--device", "gpu"], '--device "gpu": no usable GPU'),
])
def test_other_commands(give, refused, here, monkeypatch, words, told):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    result = give(*words)
    refused(result.exit_code, result.stderr, told)
