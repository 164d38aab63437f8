"""Each recipe of the cookbook works alone. `test_project.py` checks cases, commands and scripts of all pages."""

import re

import pytest

from tests.docs.pages import read
from tests.docs.reader import ROOT

PAGE = ROOT / "docs" / "cookbook.md"
RECIPES = re.findall(r"^## (How do I .+?\?)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)
LINES = 12  # of a block at most


def test_there_are_25_short_recipes():
    assert len(RECIPES) >= 25
    blocks = [block for _, text in RECIPES for block in re.findall(r"^```\w+\n(.*?)^```", text, re.M | re.S)]
    assert [block for block in blocks if len(block.splitlines()) > LINES] == []


@pytest.mark.slow
@pytest.mark.parametrize(("question", "text"), RECIPES, ids=[question for question, _ in RECIPES])
def test_recipe_works(question, text, tmp_path):
    (tmp_path / "page.md").write_text(f"# {question}\n{text}")
    read(str(tmp_path / "page.md"), tmp_path)
