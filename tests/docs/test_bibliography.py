"""The pages cite papers that the bibliography has, by first author and year."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "bibliography.md"
OMITTED = {"notes", "gallery"}  # lab books, and what is built
PAGES = sorted(page for page in ROOT.glob("docs/**/*.md") if page != PAGE and not OMITTED & {*page.parts})
NAME = r"((?:[Vv]an |[Vv]on |[Dd]e )*[A-Z][\w'-]+(?:-[A-Z]\w+)?)"
YEAR = r"((?:18|19|20)\d\d)"
CITED = (  # what has any of these forms is a citation
    rf"{NAME} et al\. \(?{YEAR}",
    rf"{NAME} and (?:[a-z]+ )?[A-Z][\w'-]+ \(?{YEAR}",
    rf"(?<!and ){NAME} \({YEAR}\)",
    rf"[(;,] ?(?:after )?{NAME} {YEAR}[);,]",
)


def plain(text: str) -> str:
    """Return prose without code and links, on one line."""
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", " ", text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", text)


def key(name: str, year: str) -> tuple[str, str]:
    """Return the last word of a surname, and the year: de Vahl Davis is cited as Davis, van Albada as Albada."""
    return name.split()[-1], year


def cited(text: str) -> set[tuple[str, str]]:
    return {key(*found) for form in CITED for found in re.findall(form, plain(text))}


def listed() -> set[tuple[str, str]]:
    """Return the first authors and years of the entries."""
    entries = re.findall(r"^- ([^(]+?) \((\d{4})\)\. \*", re.sub(r"\n  ", " ", PAGE.read_text()), re.MULTILINE)
    assert len(entries) > 80
    return {key(authors.split(",")[0], year) for authors, year in entries}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_a_page_cites_papers_of_the_bibliography(page):
    assert cited(page.read_text()) <= listed()


def test_all_forms_are_seen():
    text = "As Roe (1981) and van Leer et al. (1979) do (after Godunov 1959; Harten and\nOsher 1987). On `A (1999)`."
    assert cited(text) == {("Roe", "1981"), ("Leer", "1979"), ("Godunov", "1959"), ("Harten", "1987")}
    assert not cited("2 cores of AMD EPYC, 2026-11-26, OpenFOAM 1912 (Debian), in May 2026, 1489 steps")


def test_entries_are_in_order_and_link_their_doi():
    text = re.sub(r"\n  ", " ", PAGE.read_text())
    names = [authors.split(",")[0].split()[-1] for authors in re.findall(r"^- ([^(]+?) \(\d{4}\)", text, re.MULTILINE)]
    assert names == sorted(names, key=str.lower)
    for shown, link in re.findall(r"\[doi:([^\]]+)\]\(https://doi\.org/([^)]+)\)", text):
        assert unquote(link) == shown
