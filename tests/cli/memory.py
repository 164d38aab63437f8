"""Give commands one by one, each in a fork of this process; prints exit code, peak of memory in bytes, and messages.

Reads lists of words, as lines of JSON. What the commands need is loaded before, so that each takes a moment.
"""

import io
import json
import os
import sys
import traceback

import h5netcdf  # noqa: F401
import h5py  # noqa: F401
import rasterio  # noqa: F401
import trimesh  # noqa: F401
import xarray  # noqa: F401

from taskflow.cli.app import app
from taskflow.common import files
from taskflow.runs.estimate import estimate  # noqa: F401, with all that a check needs


def give(words: list[str]) -> int:
    files.only_check()
    try:
        app(words, prog_name="taskflow")
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        return 99
    return 0


for line in sys.stdin:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        os.dup2(write, 1)
        os.dup2(write, 2)
        sys.stdout = sys.stderr = io.TextIOWrapper(os.fdopen(1, "wb", buffering=0), write_through=True)
        os._exit(give(json.loads(line)))
    os.close(write)
    with os.fdopen(read, "rb") as said:
        text = said.read().decode(errors="replace")
    _, status, usage = os.wait4(child, 0)
    print(json.dumps([os.waitstatus_to_exitcode(status), usage.ru_maxrss << 10, text]), flush=True)
