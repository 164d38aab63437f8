#!/usr/bin/env bash
# The workers of this host, in the foreground:  deploy/workers.sh SCHEDULER_FILE cpu|gpu COUNT
# Run it on every host that takes part. Workers wait five minutes for the scheduler, then give up.
set -euo pipefail

[[ $# -eq 3 && $2 =~ ^(cpu|gpu)$ && $3 =~ ^[1-9][0-9]*$ ]] ||
    { echo "usage: [INTERFACE=NAME] [TLS=DIR|off] ${0##*/} SCHEDULER_FILE cpu|gpu COUNT" >&2; exit 2; }
file=$1 kind=$2 count=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# The certificate is there before the scheduler's file.
for ((waited = 0; waited < 300; waited++)); do
    [[ -z ${TLS:-} && ! -e $file ]] || break
    sleep 1
done
source "$here/settings.bash"

scratch=$(ownership scratch) || exit 2 # workers import from there, too: nobody else may write there
common=(--scheduler-file "$file" --protocol "$protocol" --memory-limit 0 --death-timeout 300 "${quiet[@]}"
    --local-directory "$scratch" ${INTERFACE:+--interface "$INTERFACE"})
trap 'rm -rf "$scratch"' EXIT
trap 'kill "$pid" 2>/dev/null' INT TERM

case $kind in
    cpu)
        # One thread for Dask; the threads of a block are the case's machine.threads.
        dask worker "${common[@]}" --nworkers "$count" --nthreads 1 & ;;
    gpu)
        # One process per visible GPU, its own GPU first, the others after it: that is what peer access needs.
        export CUDA_DEVICE_ORDER=PCI_BUS_ID
        export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-$(seq -s, 0 $((count - 1)))}
        [[ $(tr ',' '\n' <<<"$CUDA_VISIBLE_DEVICES" | wc -l) -eq $count ]] ||
            { echo "CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES does not name $count GPUs" >&2; exit 2; }
        dask cuda worker "${common[@]}" --device-memory-limit 0 & ;;
esac
pid=$!
wait "$pid" || { code=$?; wait "$pid" 2>/dev/null || true; exit "$code"; }
