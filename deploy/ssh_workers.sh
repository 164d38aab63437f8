#!/usr/bin/env bash
# For ssh.sh: runs a command on every host, here in the foreground:  ssh_workers.sh HOST,HOST,... COMMAND...
# A worker whose connection breaks ends when its scheduler does.
set -euo pipefail

[[ $# -ge 2 ]] || { echo "usage: ${0##*/} HOST,HOST,... COMMAND..." >&2; exit 2; }
hosts=$1
shift
settings=(PATH="$PATH" ${INTERFACE:+INTERFACE="$INTERFACE"} ${TLS:+TLS="$TLS"} ${DASK_CONFIG:+DASK_CONFIG="$DASK_CONFIG"})
command="cd $(printf %q "$PWD") && exec env $(printf '%q ' "${settings[@]}" "$@")"

trap 'kill ${pids[@]} 2>/dev/null || true' INT TERM
for host in ${hosts//,/ }; do
    ${SSH:-ssh -o BatchMode=yes} "$host" "$command" </dev/null &
    pids+=($!)
done
wait
