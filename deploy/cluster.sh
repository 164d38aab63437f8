#!/usr/bin/env bash
# A cluster for the time of one command:  deploy/cluster.sh SCHEDULER_FILE cpu|gpu COUNT COMMAND...
# Starts a scheduler and COUNT workers on this host, waits for them, runs COMMAND, stops everything; exits as COMMAND did.
# More hosts: LAUNCH is the command that starts workers.sh on them (ssh.sh and slurm.sh use it), or start it yourself;
# WORKERS is how many workers there are then in all, INTERFACE the network interface that all hosts share.
# A certificate that lives as long is in SCHEDULER_FILE.tls; TLS=off does without, TLS=DIR uses another one.
set -euo pipefail

[[ $# -ge 4 && $2 =~ ^(cpu|gpu)$ && $3 =~ ^[1-9][0-9]*$ ]] ||
    { echo "usage: [WORKERS=TOTAL] [INTERFACE=NAME] [TLS=DIR|off] ${0##*/} SCHEDULER_FILE cpu|gpu COUNT COMMAND..." >&2; exit 2; }
file=$1 kind=$2 count=$3
shift 3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

[[ ! -e $file ]] || { echo "$file exists: a cluster is running there, or one died; remove the file and try again" >&2; exit 2; }
# Two that begin with one file would take each other's certificate away. Some file systems know no locks.
exec {lock}>"$file.lock"
flock -n "$lock" || [[ $? -ne 1 ]] || { echo "$file: another cluster begins there; choose another file" >&2; exit 2; }

# Workers first: they say goodbye to a scheduler that still answers.
stop() {
    for pid in ${workers:-} ${scheduler:-}; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$file" "$file.lock" ${made:+"$made"} ${scratch:+"$scratch"}
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

[[ ${TLS:-} = "$file.tls" ]] || rm -rf "$file.tls" # of a cluster that was killed
if [[ -z ${TLS:-} ]]; then
    made=$file.tls
    "$here/certificates.sh" "$made" >/dev/null
fi
source "$here/settings.bash"

# Alone on this host it listens to nobody else.
[[ -n ${WORKERS:-} ]] || export INTERFACE=${INTERFACE:-lo}

# TASKFLOW_DASHBOARD=PORT asks for Dask's pages of the scheduler, for this host alone.
[[ -z ${TASKFLOW_DASHBOARD:-} ]] || quiet=(--preload taskflow.runtime.cluster.dashboard --dashboard-address "127.0.0.1:$TASKFLOW_DASHBOARD")
# setsid: Ctrl-C is for the command, which may still need its cluster to end tidily. Port 0: two clusters can share a host.
scratch=$(ownership scratch) || exit 2 # the scheduler imports from there, too
DASK_TEMPORARY_DIRECTORY=$scratch setsid dask scheduler --scheduler-file "$file" --protocol "$protocol" --port 0 "${quiet[@]}" ${INTERFACE:+--interface "$INTERFACE"} {lock}>&- &
scheduler=$!
setsid ${LAUNCH:-} "$here/workers.sh" "$file" "$kind" "$count" {lock}>&- &
workers=$!

python -P - "$file" "${WORKERS:-$count}" <<'PYTHON'
import sys
import time
from pathlib import Path

from distributed import Client

PATIENCE = 300  # seconds; Python begins slowly on many hosts that share a file system

file, workers = Path(sys.argv[1]), int(sys.argv[2])
deadline = time.monotonic() + PATIENCE
while not file.exists():
    if time.monotonic() > deadline:
        sys.exit(f"no scheduler wrote {file} within {PATIENCE} s")
    time.sleep(0.1)
with Client(scheduler_file=str(file)) as client:
    try:
        client.wait_for_workers(workers, timeout=PATIENCE)
    except TimeoutError:
        sys.exit(f"{len(client.scheduler_info(n_workers=-1)['workers'])} of {workers} workers came within {PATIENCE} s")
PYTHON

# In the background, so that a signal to this script is passed on at once; a terminal's Ctrl-C reaches the command by itself.
env --default-signal=INT "$@" <&0 &
command=$!
trap : INT
trap 'kill -TERM "$command"' TERM HUP
while kill -0 "$command" 2>/dev/null; do wait "$command" || true; done
wait "$command"
