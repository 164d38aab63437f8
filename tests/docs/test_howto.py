"""What the pages on how to do things say works, block by block."""

import pytest

from tests.docs.pages import HOWTO, read


@pytest.mark.timeout(150)
@pytest.mark.parametrize("page", HOWTO)
def test_page_works(page, tmp_path):
    read(page, tmp_path, 130)
