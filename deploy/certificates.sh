#!/usr/bin/env bash
# A certificate for Dask's connections that outlives one cluster:  deploy/certificates.sh DIR [DAYS]
# One certificate, its own authority, for scheduler, workers and client: who has its key belongs to the cluster.
set -euo pipefail

[[ $# -ge 1 && $# -le 2 && ${2:-365} =~ ^[1-9][0-9]*$ ]] || { echo "usage: ${0##*/} DIR [DAYS]" >&2; exit 2; }
folder=$1 days=${2:-365}
python -P -c 'import sys; from taskflow.runtime.cluster.certificate import main; sys.exit(main(*sys.argv[1:]))' "$folder" "$days" || exit 2
echo "$folder: for $days days; use it with TLS=$folder"
