#!/usr/bin/env bash
# A run in one SLURM allocation:  sbatch [OPTIONS OF sbatch] deploy/slurm.sh CASE.toml [OPTIONS OF taskflow run]
#   sbatch --nodes=4 --gpus-per-node=4 deploy/slurm.sh case.toml -o /scratch/case       a worker per GPU
#   sbatch --nodes=2 --ntasks-per-node=8 deploy/slurm.sh case.toml -o /scratch/case     on CPUs: a worker per task
# Before the time is over the run writes a checkpoint and ends with exit code 75; the job is queued again, and goes on. So it
# does after a node has failed. To end it early:  scancel --batch --signal=USR1 JOB  (with a checkpoint, not queued again).
#SBATCH --job-name=taskflow
#SBATCH --output=%x-%j.log
#SBATCH --open-mode=append
#SBATCH --time=24:00:00
#SBATCH --signal=B:TERM@300
#SBATCH --requeue
set -euo pipefail

[[ $# -ge 1 && -n ${SLURM_JOB_ID:-} ]] ||
    { echo "usage: sbatch [OPTIONS OF sbatch] ${0##*/} CASE.toml [OPTIONS OF taskflow run]" >&2; exit 2; }
# SLURM runs a copy; the other scripts are where this one was submitted from.
here=$(scontrol show job "$SLURM_JOB_ID" | sed -n 's|^ *Command=\(.*\)/slurm\.sh.*|\1|p')
# Of this job alone, and readable for its user alone: where the scheduler is, and the certificate without which nobody connects.
# Where others can exchange what is in the folder of the job, both are in the home folder.
safe=$(python -P -c 'import sys; from taskflow.common.ownership import main; sys.exit(main("first", *sys.argv[1:]))' "$SLURM_SUBMIT_DIR" "$HOME") || exit 2
secrets=$safe/.taskflow-$SLURM_JOB_ID
rm -rf "$secrets" # of the last attempt, whose node failed
trap 'rm -rf "$secrets"' EXIT
file=$secrets/scheduler.json
mkdir -p -m 700 "$secrets"

if [[ ${SLURM_GPUS_ON_NODE:-0} -gt 0 ]]; then
    kind=gpu count=$SLURM_GPUS_ON_NODE
else
    kind=cpu count=${SLURM_NTASKS_PER_NODE:-1}
fi
export WORKERS=$((SLURM_JOB_NUM_NODES * count)) LAUNCH=$here/slurm_workers.sh
echo "$(date +%FT%T) job $SLURM_JOB_ID, attempt $((${SLURM_RESTART_COUNT:-0} + 1)): $WORKERS workers ($kind) on $SLURM_JOB_NODELIST"

"$here/cluster.sh" "$file" "$kind" "$count" taskflow run "$@" --scheduler-file "$file" --resume &
cluster=$!
again=yes
trap 'kill -TERM "$cluster"' TERM
trap 'again=no; kill -TERM "$cluster"' USR1
while kill -0 "$cluster" 2>/dev/null; do wait "$cluster" || true; done
code=0
wait "$cluster" || code=$?
echo "$(date +%FT%T) ended with exit code $code"
[[ $code -ne 75 || $again = no ]] || scontrol requeue "$SLURM_JOB_ID" || echo "not queued again; submit it again to go on"
exit "$code"
