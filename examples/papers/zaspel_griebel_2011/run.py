"""Run figures and tables of the paper: `run.py NAME...`, `run.py --list`, `run.py all`, `run.py NAME --small`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from examples.papers.items import run

run(Path(__file__).resolve().parent)
