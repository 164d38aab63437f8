"""The API page has every public name."""

import re
from pathlib import Path

import pytest

import taskflow
import taskflow.extend

PAGE = (Path(taskflow.__file__).parents[1] / "docs/reference/api.md").read_text()
PLACES = re.compile(r"^\.\. (?:currentmodule:: ([\w.]+)|(?:data|auto\w+):: (\w+))", re.MULTILINE)


def described() -> dict[str, set[str]]:
    names: dict[str, set[str]] = {}
    module = ""
    for place in PLACES.finditer(PAGE):
        module = place[1] or module
        names.setdefault(module, set()).update(filter(None, [place[2]]))
    return names


@pytest.mark.parametrize(("module", "names"), [
    ("taskflow", taskflow.__all__), ("taskflow.extend", taskflow.extend.__all__),
    ("taskflow.accessor.flow", ["FlowAccessor"]), ("taskflow.accessor.charts", ["ChartsAccessor"]),
])  # fmt: skip
def test_every_public_name_is_described(module, names):
    on_page = described()
    assert {*names} <= on_page[module] | on_page["taskflow"]
    assert on_page[module] <= {*names}
