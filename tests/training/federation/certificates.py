"""Certificates and keys for a federation on loopback, as a clinic's administrators would make them."""

import datetime
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)


def authority(folder: Path, name: str) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """NAME.pem, and what signs by it."""
    key = ec.generate_private_key(ec.SECP384R1())
    builder = _builder(name, name, key).add_extension(
        x509.BasicConstraints(ca=True, path_length=None), critical=True
    )
    made = builder.sign(key, SHA256())
    (folder / f"{name}.pem").write_bytes(made.public_bytes(Encoding.PEM))
    return made, key


def server(folder: Path, ca: tuple[x509.Certificate, ec.EllipticCurvePrivateKey]) -> None:
    """server.pem and server.key, for 127.0.0.1 and localhost."""
    key = ec.generate_private_key(ec.SECP384R1())
    names = x509.SubjectAlternativeName(
        [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    )
    issuer = ca[0].subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)[0].value
    made = (
        _builder("localhost", str(issuer), key)
        .add_extension(names, critical=False)
        .sign(ca[1], SHA256())
    )
    (folder / "server.pem").write_bytes(made.public_bytes(Encoding.PEM))
    (folder / "server.key").write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )


def _builder(name: str, issuer: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    subject, by = (
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, one)]) for one in (name, issuer)
    )
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
    )
    return builder.not_valid_before(now - datetime.timedelta(hours=1)).not_valid_after(
        now + datetime.timedelta(days=1)
    )


def node(folder: Path, name: str) -> None:
    """NAME and NAME.pub, as `ssh-keygen -t ecdsa -b 384` makes them."""
    key = ec.generate_private_key(ec.SECP384R1())
    (folder / name).write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    )
    (folder / f"{name}.pub").write_bytes(
        key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    )
