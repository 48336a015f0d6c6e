"""Who sends a webhook: a bearer token, Standard Webhooks' HMAC, or GitHub's. Pure.

One secret serves all three. It is compared in constant time, and signatures are taken over the raw
bytes of the body. https://github.com/standard-webhooks/standard-webhooks, and GitHub's docs on
"validating webhook deliveries".
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Mapping

import msgspec

PREFIX = "whsec_"
SECRET_BYTES = 32
WINDOW_S = 300
"""How far a signed time may be from now, either way."""
MAXIMUM_KEY = 200


class SignatureError(Exception):
    """The sender is not known; the message says what is missing, and no secret."""


class Sender(msgspec.Struct, frozen=True, kw_only=True):
    """What was proved about a request."""

    scheme: str
    """``bearer``, ``standard``, ``github``, or ``token``: a device's own."""
    key: str = ""
    """The sender's name for this delivery; the same again is the same delivery."""


def new_secret() -> str:
    """``whsec_`` and 32 random bytes: what Standard Webhooks' senders expect, and a fine token."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(secret: str, identity: str, timestamp: int, body: bytes) -> str:
    """Standard Webhooks' signature of a message."""
    content = f"{identity}.{timestamp}.".encode() + body
    digest = hmac.new(_key(secret), content, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> Sender:
    """Who sent the body; ``now`` in Unix seconds.

    Raises:
        SignatureError: nothing proves that the sender knows the secret.
    """
    if "webhook-signature" in headers:
        return _standard(secret, headers, body, now)
    if "X-Hub-Signature-256" in headers:
        return _github(secret, headers, body)
    scheme, _, given = headers.get("Authorization", "").partition(" ")
    if scheme.casefold() != "bearer":
        raise SignatureError("send the header Authorization: Bearer …, or sign the body")
    if not hmac.compare_digest(given.strip().encode(), secret.encode()):
        raise SignatureError("the bearer token is not this webhook's")
    return Sender(scheme="bearer", key=idempotency_key(headers))


def idempotency_key(headers: Mapping[str, str]) -> str:
    """The sender's name for this delivery; empty where it gives none."""
    return headers.get("Idempotency-Key", "")[:MAXIMUM_KEY]


def _standard(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> Sender:
    identity = headers.get("webhook-id", "")
    stamp = headers.get("webhook-timestamp", "")
    if not identity or len(identity) > MAXIMUM_KEY or not stamp.isascii() or not stamp.isdigit():
        raise SignatureError("webhook-id and webhook-timestamp must come with the signature")
    if len(stamp) > 12 or abs(now - int(stamp)) > WINDOW_S:
        raise SignatureError(
            f"webhook-timestamp is more than {WINDOW_S} seconds from now: are both clocks right?"
        )
    right = sign(secret, identity, int(stamp), body).encode()
    given = headers["webhook-signature"].encode().split()[:8]
    # Each is compared, so that the time does not tell which one was right.
    if not sum(hmac.compare_digest(one, right) for one in given):
        raise SignatureError("webhook-signature is not that of this body and this secret")
    return Sender(scheme="standard", key=identity)


def _github(secret: str, headers: Mapping[str, str], body: bytes) -> Sender:
    right = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(headers["X-Hub-Signature-256"].encode(), right.encode()):
        raise SignatureError("X-Hub-Signature-256 is not that of this body and this secret")
    # It signs no time: without a delivery's name, its body is its name, or it could be replayed.
    delivery = headers.get("X-GitHub-Delivery", "")[:MAXIMUM_KEY]
    return Sender(scheme="github", key=delivery or hashlib.sha256(body).hexdigest())


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        return secret.encode()
