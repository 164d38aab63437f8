"""What the README, the tutorial and the reference say works, block by block, and with time or a GPU what all pages say;
and a page can fail.
"""

from pathlib import Path

import pytest

from tests.docs.fences import fences
from tests.docs.pages import EXAMPLES, HOWTO, ON_GPUS, OTHERS, read

LONG = ["README", "tutorial", "tutorial_body_fitted", "index"]


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.slow if Path(page).stem in LONG else ()) for page in OTHERS]
)
def test_page_works(page, tmp_path):
    read(page, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", HOWTO + OTHERS + EXAMPLES)
def test_page_works_in_full(page, tmp_path):
    """With cases as large as they are there, and what it says that they print."""
    read(page, tmp_path, "--in-full")


@pytest.mark.gpu
@pytest.mark.parametrize("page", ON_GPUS)
def test_page_works_on_a_gpu(page, tmp_path):
    read(page, tmp_path, "--gpu")


WRONG_KERNEL = """
```python
import taskflow as tf


@tf.task(kernel="TASK nothing(Range range, Out a) { no }")
def nothing(a: tf.Write): ...
```
"""


@pytest.mark.parametrize(
    ("block", "wrong"),
    [
        ("```python\n1 / 0\n```\n", "division by zero"),
        ("```sh\ntrue\nfalse\ntrue\n```\n", "end with code 1"),
        ("<!-- test: exit 3 -->\n```sh\ntrue\n```\n", "code 0, not 3"),
        ("<!-- test: prints 2 -->\n```python\nprint(1)\n```\n", "does not print 2"),
        ("<!-- test: prnts 1 -->\n```python\nprint(1)\n```\n", "one of file"),
        ("<!-- test: skip -->\n```sh\nfalse\n```\n", "one of file"),
        ("<!-- test: gpu -->\n\n```sh\nfalse\n```\n", "directly before a block"),
        (WRONG_KERNEL, "does not compile"),
    ],
)  # fmt: skip
def test_page_that_fails(block, wrong, tmp_path):
    """Each way in which a page can be wrong is one in which its test fails."""
    (tmp_path / "page.md").write_text(f"# Page\n\n```sh\necho read\n```\n\n{block}")
    with pytest.raises(AssertionError, match=wrong):
        read(str(tmp_path / "page.md"), tmp_path)


def test_nothing_is_left_out_without_a_word(tmp_path):
    """A block in a list is one, too; what a reader would type is there without what indents it."""
    (tmp_path / "page.md").write_text("- A list\n\n  <!-- test: file a.txt -->\n  ```text\n  a\n    b\n  ```\n")
    (block,) = fences(tmp_path / "page.md")
    assert (block.text, block.told, block.line) == ("a\n  b\n", (("file", "a.txt"),), 4)
