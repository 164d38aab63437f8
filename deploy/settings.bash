# What the scripts of this folder share; sourced by them, with $here set.
# TLS: a folder with ca.pem, cert.pem and key.pem (certificates.sh makes one); with it Dask's connections are encrypted, and
# nobody connects who has no certificate of that authority.
export DASK_CONFIG=${DASK_CONFIG:-$here/dask.yaml}
protocol=tcp
if [[ -n ${TLS:-} ]]; then
    [[ -r $TLS/ca.pem && -r $TLS/cert.pem && -r $TLS/key.pem ]] ||
        { echo "TLS=$TLS has no ca.pem, cert.pem and key.pem that can be read; make them with $here/certificates.sh $TLS" >&2; exit 2; }
    protocol=tls
    export DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=true DASK_DISTRIBUTED__COMM__TLS__CA_FILE=$TLS/ca.pem
    for role in SCHEDULER WORKER CLIENT; do
        export "DASK_DISTRIBUTED__COMM__TLS__${role}__CERT=$TLS/cert.pem" "DASK_DISTRIBUTED__COMM__TLS__${role}__KEY=$TLS/key.pem"
    done
fi
