"""`python -m taskflow.runs.drawing DIR`: draws the pictures of a run during the run, with its bodies as given."""

import sys
from pathlib import Path

from taskflow.plots.in_situ import main
from taskflow.systems.bodies.given import given_bodies

if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), given_bodies))
