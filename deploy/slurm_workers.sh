#!/usr/bin/env bash
# For slurm.sh: the workers of every node of the job, here in the foreground:  slurm_workers.sh WORKERS.SH SCHEDULER_FILE cpu|gpu COUNT
set -euo pipefail

[[ $# -eq 4 && -n ${SLURM_JOB_ID:-} ]] ||
    { echo "usage, within a SLURM job: ${0##*/} WORKERS.SH SCHEDULER_FILE cpu|gpu COUNT" >&2; exit 2; }
file=$2

# SLURM signals every process of a step at once, so that none could tidy up after another: let Dask end them.
stop() {
    python -P - "$file" <<'PYTHON' || scancel --signal=TERM "$SLURM_JOB_ID"
import sys

from distributed import Client

Client(scheduler_file=sys.argv[1], timeout=10).shutdown()
PYTHON
}
trap stop INT TERM
# A task per node, which may use all that the job has there.
srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --cpu-bind=none "$@" &
steps=$!
while kill -0 "$steps" 2>/dev/null; do wait "$steps" || true; done
