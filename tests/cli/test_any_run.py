"""Whatever case is accepted: `run` comes to an end, or tells in a line why it does not."""

import random
import subprocess
import sys
import tomllib

import pytest

from tests.cli.damaged import place
from tests.cli.mutants import mutants
from tests.data.cases import FOLDER

CASES, LONGEST, ENOUGH = 30, 60.0, 15.0  # seconds: until a run that was told to stop has, and until it is told
SMALL = 20_000  # cells
ENDS = (0, 1, 2, 75)  # as docs/reference/command.md has them


def taskflow(folder, *words):
    """How a command ends that gets SIGTERM when it has run long enough, and what it says."""
    with (
        (folder / "said").open("w") as said,
        subprocess.Popen([sys.executable, "-m", "taskflow", *words], cwd=folder, stdout=said, stderr=said) as process,
    ):
        try:
            code = process.wait(ENOUGH)
        except subprocess.TimeoutExpired:
            process.terminate()
            try:
                code = process.wait(LONGEST)
            finally:
                process.kill()
    return code, (folder / "said").read_text(errors="replace")


def small(text) -> bool:
    """Whether a case is sound TOML with few cells, and not many blocks."""
    try:
        tables = tomllib.loads(text)
        x, y, z = tables["grid"]["cells"]
        a, b, c = tables.get("machine", {}).get("blocks", (1, 1, 1))
        return 0 < x * y * z <= SMALL and a * b * c <= 2
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_mutated_case_that_is_accepted_runs_or_ends_in_words(tmp_path):
    """Runs that fail say so in lines; runs that take long stop in order."""
    ran = 0
    for number, text in enumerate(filter(small, mutants(31, FOLDER))):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "case.toml").write_text(text, encoding="utf-8")
        place(folder, random.Random(number))
        if taskflow(folder, "check", "case.toml")[0]:
            continue
        code, said = taskflow(folder, "run", "case.toml", "-o", "here", "--quiet")
        assert code in ENDS, (code, text, said)
        assert not any(word in said for word in ("Traceback", "fault of taskflow")), (text, said)
        assert code == 0 or "Error: " in said or "checkpoint" in said, (text, said)
        ran += 1
        if ran == CASES:
            return
