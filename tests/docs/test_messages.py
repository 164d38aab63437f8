"""The messages that pages explain are those of the package."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def messages(page):
    """Return the first cells of the tables of messages, cut at what varies."""
    text = (ROOT / "docs" / page).read_text()
    tables = re.findall(r"^\| message \|.*\n\|---.*\n((?:\|.*\n)+)", text, re.M)
    cells = [re.match(r"\| `([^`]+)`[^|]* \|", row)[1] for table in tables for row in table.splitlines()]
    return [part.strip(" '") for cell in cells for part in cell.split("...") if len(part) > 4]


def package():
    """Return the text of the package, with its strings joined across lines."""
    paths = [*(ROOT / "taskflow").rglob("*.py"), ROOT / "Makefile"]
    text = "\n".join(path.read_text() for path in paths)
    return re.sub(r"[\"']\n\s*f?[\"']", "", text).replace('\\"', '"')


@pytest.mark.parametrize("page", ["install.md", "faq.md"])
def test_messages_are_those_of_the_package(page):
    found, text = messages(page), package()
    assert len(found) > 8
    assert [message for message in found if message not in text] == []
