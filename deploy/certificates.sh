#!/usr/bin/env bash
# Certificates for Dask's connections on a network that others share:  deploy/certificates.sh DIR [DAYS]
# One certificate, its own authority, for scheduler, workers and client: who has its key belongs to the cluster.
set -euo pipefail

[[ $# -ge 1 && $# -le 2 && ${2:-365} =~ ^[1-9][0-9]*$ ]] || { echo "usage: ${0##*/} DIR [DAYS]" >&2; exit 2; }
folder=$1 days=${2:-365}
[[ ! -e $folder/key.pem ]] || { echo "$folder/key.pem exists; remove the folder to begin again" >&2; exit 2; }

umask 077
mkdir -p "$folder"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days "$days" -subj /CN=taskflow \
    -keyout "$folder/key.pem" -out "$folder/cert.pem" 2>/dev/null
cp "$folder/cert.pem" "$folder/ca.pem"
echo "$folder: for $days days; use it with TLS=$folder"
