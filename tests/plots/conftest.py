"""What the tests of pictures share with those of the analysis: folders of runs."""

from tests.analysis.conftest import growing, run  # noqa: F401
