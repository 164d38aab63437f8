# What the scripts of this folder share; sourced by them, with $here and $file set.
# TLS: a folder with ca.pem, cert.pem and key.pem. Dask's connections are encrypted with it, and nobody connects who has no
# certificate of that authority. It is $file.tls, which cluster.sh makes, unless another one is named (certificates.sh makes
# one), or "off": then everybody who reaches the cluster can run programs as you.
export DASK_CONFIG=${DASK_CONFIG:-$here/dask.yaml} TLS=${TLS:-$file.tls}
# Paths that nobody else can change. -P: nothing is imported from the current folder.
ownership() {
    python -P -c 'import sys; from taskflow.common.ownership import main; sys.exit(main(*sys.argv[1:]))' "$@"
}
protocol=tcp
if [[ $TLS != off ]]; then
    [[ -r $TLS/ca.pem && -r $TLS/cert.pem && -r $TLS/key.pem ]] ||
        { echo "TLS=$TLS has no ca.pem, cert.pem and key.pem that can be read; give the folder of the cluster's certificate," \
            "which cluster.sh or $here/certificates.sh makes, or TLS=off where the cluster has none" >&2; exit 2; }
    ownership check "$TLS" || exit 2
    protocol=tls
    export DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=true DASK_DISTRIBUTED__COMM__TLS__CA_FILE=$TLS/ca.pem
    for role in SCHEDULER WORKER CLIENT; do
        export "DASK_DISTRIBUTED__COMM__TLS__${role}__CERT=$TLS/cert.pem" "DASK_DISTRIBUTED__COMM__TLS__${role}__KEY=$TLS/key.pem"
    done
fi
# Dask's HTTP servers, to which nobody has to show a certificate, are ended before anything runs.
quiet=(--preload taskflow.runtime.cluster.dashboard --no-dashboard --dashboard-address 127.0.0.1:0)
