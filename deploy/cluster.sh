#!/usr/bin/env bash
# A cluster for the time of one command:  deploy/cluster.sh SCHEDULER_FILE cpu|gpu COUNT COMMAND...
# Starts a scheduler and COUNT workers on this host, waits for them, runs COMMAND, stops everything; exits as COMMAND did.
# More hosts: start deploy/workers.sh on them with the same file, and say how many workers there are in all: WORKERS=8 deploy/cluster.sh ...
set -euo pipefail

[[ $# -ge 4 && $2 =~ ^(cpu|gpu)$ && $3 =~ ^[1-9][0-9]*$ ]] ||
    { echo "usage: [WORKERS=TOTAL] [INTERFACE=NAME] ${0##*/} SCHEDULER_FILE cpu|gpu COUNT COMMAND..." >&2; exit 2; }
file=$1 kind=$2 count=$3
shift 3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export DASK_CONFIG=${DASK_CONFIG:-$here/dask.yaml}

[[ ! -e $file ]] || { echo "$file exists: a cluster is running there, or one died; remove the file and try again" >&2; exit 2; }

# Workers first: they say goodbye to a scheduler that still answers.
stop() {
    for pid in ${workers:-} ${scheduler:-}; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -f "$file"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# setsid: Ctrl-C is for the command, which may still need its cluster to end tidily. Port 0: two clusters can share a host.
setsid dask scheduler --scheduler-file "$file" --protocol tcp --port 0 --no-dashboard ${INTERFACE:+--interface "$INTERFACE"} &
scheduler=$!
setsid "$here/workers.sh" "$file" "$kind" "$count" &
workers=$!

python - "$file" "${WORKERS:-$count}" <<'PYTHON'
import sys
import time
from pathlib import Path

from distributed import Client

file, workers = Path(sys.argv[1]), int(sys.argv[2])
deadline = time.monotonic() + 120
while not file.exists():
    if time.monotonic() > deadline:
        sys.exit(f"no scheduler wrote {file} within 120 s")
    time.sleep(0.1)
with Client(scheduler_file=str(file)) as client:
    client.wait_for_workers(workers, timeout=120)
PYTHON

# In the background, so that a signal to this script is passed on at once; a terminal's Ctrl-C reaches the command by itself.
env --default-signal=INT "$@" <&0 &
command=$!
trap : INT
trap 'kill -TERM "$command"' TERM
while kill -0 "$command" 2>/dev/null; do wait "$command" || true; done
wait "$command"
