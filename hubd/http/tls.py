"""TLS by the certificate and key files of the configuration."""

import ssl

from hubd.errors import HubError
from hubd.settings import Http


def context(settings: Http) -> ssl.SSLContext | None:
    """What the sockets for browsers speak; ``None``: plain HTTP.

    Raises:
        HubError: a file cannot be used.
    """
    if not settings.certificate:
        return None
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        made.load_cert_chain(settings.certificate, settings.private_key, password=_no_password)
    except (OSError, ValueError) as error:
        files = f"{settings.certificate} and {settings.private_key}"
        raise HubError(
            f"TLS cannot be used: {files}: {error}",
            "Both must be PEM files that hubd can read, the key without a password.",
        ) from error
    return made


def _no_password() -> str:
    """Called for a key that is encrypted: nobody is there to type."""
    return ""
