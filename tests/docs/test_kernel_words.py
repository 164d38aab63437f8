"""The page on kernel texts lists every word of the headers that kernel texts use, and no others."""

import re

import pytest

from docs import kernel_reference
from taskflow.flow.kernels import KERNELS

DEFINED = re.compile(
    r"(?m)^\s*#\s*define\s+(\w+)"
    r"|^(?:template[^\n]*\n)?(?:FN|INLINE)\s+[\w:<>,&*\s]+?\b(\w+)\("
    r"|^(?:template[^\n]*\n)?(?:struct|using|typedef|constexpr\s+\w+)\s+(?:[^;=({]*\s)?(\w+)\b\s*[;={:]"
)


def texts(folder, but="^$"):
    """The texts of a folder, but those whose names have these parts."""
    paths = [path for path in folder.rglob("*") if path.suffix in (".cu", ".h") and not re.search(but, path.name)]
    return [re.sub(r"//.*", "", path.read_text()) for path in paths]


def defined():
    """The words of the headers; what a GPU has for itself is not for texts."""
    found = [name for text in texts(kernel_reference.HEADERS, "cuda|march") for name in DEFINED.findall(text)]
    return {name for names in found for name in names if len(name) > 1 or name == "FN"}


def test_the_page_is_up_to_date():
    assert kernel_reference.PAGE.read_text() == kernel_reference.page(), "run docs/kernel_reference.py"


def test_every_word_that_kernel_texts_use_is_explained():
    used = {word for text in texts(KERNELS) for word in re.findall(r"[A-Za-z_]\w*", text)}
    own = {name for text in texts(KERNELS) for found in DEFINED.findall(text) for name in found}  # they define
    assert (used & defined()) - own - kernel_reference.names() == set()


@pytest.mark.parametrize("name", sorted(kernel_reference.names()))
def test_every_word_is_in_the_headers(name):
    assert any(re.search(rf"\b{name}\b", text) for text in texts(kernel_reference.HEADERS))
