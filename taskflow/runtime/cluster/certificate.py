"""The certificate of a cluster's connections: only holders of its key can connect.

It is self-signed, and common to scheduler, workers and client: three files in a folder that only its user can read.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from taskflow.common.ownership import make_private, weakness

if TYPE_CHECKING:
    from distributed import Security

AUTHORITY, CERTIFICATE, KEY = FILES = ("ca.pem", "cert.pem", "key.pem")
DAYS = 365
SKEW = timedelta(days=1)  # so that it is valid on a host whose clock is behind


def certified(folder: Path) -> Security:
    """Return connections by a new certificate, kept in an existing folder."""
    make(folder, DAYS)
    return security(folder)


def security(folder: Path) -> Security:
    """Return encrypted connections by the certificate in a folder. Others are rejected."""
    from distributed import Security

    authority, certificate, key = (str(folder / name) for name in FILES)
    options = {"tls_ca_file": authority}
    for role in ("scheduler", "worker", "client"):
        options |= {f"tls_{role}_cert": certificate, f"tls_{role}_key": key}
    return Security(require_encryption=True, **options)


def make(folder: Path, days: int) -> None:
    """Write a new certificate, valid for `days` days, to a folder that has none."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    secret = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "taskflow")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=secret.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(secret, hashes.SHA256())
    )
    encoding, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    public = certificate.public_bytes(encoding)
    private = secret.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain)
    for name_of_file, content in ((AUTHORITY, public), (CERTIFICATE, public), (KEY, private)):
        file = folder / name_of_file
        file.touch(mode=0o600, exist_ok=False)
        file.write_bytes(content)


def main(folder: str, days: str) -> str | None:
    """Make a folder with a new certificate, for scripts that start clusters, and return the problem or None."""
    path = Path(folder)
    try:
        make_private(path)
        if path.stat().st_uid != os.getuid():
            return f"{folder} belongs to another user; choose another folder"
        path.chmod(0o700)
        if unsafe := weakness(path):
            return f"{folder}: {unsafe}, and could exchange the certificate; choose another folder"
        make(path, int(days))
    except FileExistsError as error:
        return f"{error.filename} exists; remove the folder to begin again"
    except OSError as error:
        return f"{folder}: {error.strerror}; choose another folder"
    return None
