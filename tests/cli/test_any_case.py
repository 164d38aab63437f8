"""Whatever is in a case file: it is checked or refused, with a line for each problem, and nothing is written."""

import json
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

import pytest

from tests.cli.mutants import mutants
from tests.data.cases import FOLDER

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


@pytest.mark.parametrize("what", ["cases", "files"])
@pytest.mark.parametrize("number", [40, pytest.param(200, marks=[pytest.mark.slow, pytest.mark.timeout(3600)])])
def test_what_is_damaged_takes_neither_long_nor_much_memory(what, number, tmp_path):
    """Cases with files of every kind beside them, and files that cases name: PLOT3D, CGNS, STL, NetCDF, GeoTIFF, Zarr,
    csv, neutral maps. Each is checked by a process of its own: forked from one that has computed nothing, as threads of
    OpenMP do not survive that. Seeds of the slow ones are new in each run; `tests/cli/campaign.py` goes on for longer.
    """
    seed = 20 if number == 40 else time.time_ns() % 10**6
    log = tmp_path / "wrong.jsonl"
    words = [sys.executable, "-m", "tests.cli.campaign", what, str(seed), str(number), str(log)]
    subprocess.run(words, cwd=EXAMPLES.parent, check=True)
    wrong = [json.loads(line) for line in log.read_text().splitlines()]
    assert not wrong, f"seed {seed}: " + "".join(f"\n{item['wrong']}: {item['text']}\n{item['said']}" for item in wrong)
