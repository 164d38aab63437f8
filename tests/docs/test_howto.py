"""What the pages on how to do things say works, block by block."""

from pathlib import Path

import pytest

from tests.docs.pages import HOWTO, read

LONG = [  # many runs
    "statistics", "resume", "two_phase", "output", "own_model", "own_boundary", "analyse", "watch", "bodies", "export",
    "profile", "cluster", "python", "couple", "forcing", "charts", "grids", "particles", "steps", "own_solver",
    "openings",
]  # fmt: skip


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.slow if Path(page).stem in LONG else ()) for page in HOWTO]
)
def test_page_works(page, tmp_path):
    read(page, tmp_path)
