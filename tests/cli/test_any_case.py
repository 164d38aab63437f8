"""Whatever is in a case file: it is checked or refused, with a line for each problem, and nothing is written."""

import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from tests.cases import FOLDER
from tests.cli.mutants import mutants

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(("seed", "files"), [
    (0, 10), *(pytest.param(seed, 200, marks=[pytest.mark.slow, pytest.mark.timeout(1200)]) for seed in range(1, 11)),
])  # fmt: skip
def test_a_mutated_case_is_checked_or_refused(seed, files, give, here, refused):
    (here / "cavity.toml").unlink()
    case = here / "case.toml"
    for text in islice(mutants(seed, FOLDER, EXAMPLES), files):
        case.write_text(text, encoding="utf-8")
        checked = give("check", "case.toml")
        if checked.exit_code:
            refused(checked.exit_code, checked.stderr)
            ran = give("run", "case.toml")
            refused(ran.exit_code, ran.stderr)
        assert [path.name for path in here.iterdir()] == ["case.toml"]
        assert case.read_text(encoding="utf-8") == text


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "cases"), [(20, 5), pytest.param(21, 200, marks=pytest.mark.timeout(1800))])
def test_a_mutated_case_takes_neither_long_nor_much_memory(seed, cases, tmp_path):
    """Each in a process of its own, with files of every kind beside it: forked from one that has computed nothing, as
    threads of OpenMP do not survive that. `tests/cli/campaign.py` goes on for longer.
    """
    words = [sys.executable, "-m", "tests.cli.campaign", str(seed), str(cases), str(tmp_path / "wrong.jsonl")]
    subprocess.run(words, cwd=EXAMPLES.parent, check=True, timeout=1700)
    assert (tmp_path / "wrong.jsonl").read_text() == ""
