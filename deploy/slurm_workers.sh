#!/usr/bin/env bash
# For slurm.sh: the workers of every node of the job, here in the foreground:  slurm_workers.sh WORKERS.SH SCHEDULER_FILE cpu|gpu COUNT
set -euo pipefail

[[ $# -eq 4 && -n ${SLURM_JOB_ID:-} ]] ||
    { echo "usage, within a SLURM job: ${0##*/} WORKERS.SH SCHEDULER_FILE cpu|gpu COUNT" >&2; exit 2; }
file=$2

# SLURM signals every process of a step at once, so that none could tidy up after another: let Dask end them. Nannies end
# their workers, and the scheduler goes last: workers complain of one that has gone, and of a nanny, too.
stop() {
    python -P - "$file" <<'PYTHON' || scancel --signal=TERM "$SLURM_JOB_ID"
import asyncio
import sys
import time

from distributed import Client

PATIENCE = 30  # seconds


async def end(dask_worker):
    async def close():
        await asyncio.sleep(0.1)  # until this call is answered
        await dask_worker.close()

    dask_worker.ending = asyncio.ensure_future(close())


client = Client(scheduler_file=sys.argv[1], timeout=10)
client.run(end, nanny=True, on_error="ignore")
deadline = time.monotonic() + PATIENCE
while client.scheduler_info(n_workers=-1)["workers"] and time.monotonic() < deadline:
    time.sleep(0.1)
client.shutdown()
PYTHON
}
trap stop INT TERM
# A task per node, which may use all that the job has there.
srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --cpu-bind=none "$@" &
steps=$!
while kill -0 "$steps" 2>/dev/null; do wait "$steps" || true; done
