#!/usr/bin/env bash
# A cluster over hosts that ssh reaches:  deploy/ssh.sh HOST,HOST,... SCHEDULER_FILE cpu|gpu COUNT COMMAND...
# Starts the scheduler and COMMAND here and COUNT workers on every host; stops everything, and exits as COMMAND did.
# All hosts need this folder, the environment and the scheduler file under the same paths. SSH is the command to use.
set -euo pipefail

[[ $# -ge 5 && $3 =~ ^(cpu|gpu)$ && $4 =~ ^[1-9][0-9]*$ ]] ||
    { echo "usage: [INTERFACE=NAME] [TLS=DIR|off] [SSH=COMMAND] ${0##*/} HOST,HOST,... SCHEDULER_FILE cpu|gpu COUNT COMMAND..." >&2; exit 2; }
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
hosts=$(tr ',' '\n' <<<"$1" | wc -l)
export WORKERS=$((hosts * $4)) LAUNCH="$here/ssh_workers.sh $1"
shift
exec "$here/cluster.sh" "$@"
