"""Who sent a webhook. Expected values are those of the protocols' own documentation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from hubd.http.rate import Rate
from hubd.http.signatures import SignatureError, new_secret, sign, verify

# The example of the Standard Webhooks specification's reference libraries.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
IDENTITY = "msg_p5jXN8AQM9LWM0D4loKWxJek"
STAMP = 1614265330
BODY = b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def signed(**changes):
    headers = {
        "webhook-id": IDENTITY,
        "webhook-timestamp": str(STAMP),
        "webhook-signature": SIGNATURE,
    }
    return CIMultiDict(headers | changes)


def test_the_signature_is_that_of_the_specification():
    assert sign(SECRET, IDENTITY, STAMP, BODY) == SIGNATURE
    sender = verify(SECRET, signed(), BODY, STAMP + 299)
    assert (sender.scheme, sender.key) == ("standard", IDENTITY)


def test_one_right_signature_among_others_is_enough():
    several = f"v1,AAAA v2,xyz {SIGNATURE}"
    assert verify(SECRET, signed(**{"webhook-signature": several}), BODY, STAMP).key == IDENTITY


@pytest.mark.parametrize(
    ("headers", "body", "now", "words"),
    [
        (signed(), BODY + b" ", STAMP, "not that of this body"),
        (signed(**{"webhook-id": "msg_other"}), BODY, STAMP, "not that of this body"),
        (signed(), BODY, STAMP + 301, "more than 300 seconds"),
        (signed(), BODY, STAMP - 301, "more than 300 seconds"),
        (signed(**{"webhook-timestamp": "now"}), BODY, STAMP, "must come with"),
        (signed(**{"webhook-timestamp": "9" * 40}), BODY, STAMP, "more than 300 seconds"),
        (signed(**{"webhook-timestamp": "²"}), BODY, STAMP, "must come with"),
        (signed(**{"webhook-id": ""}), BODY, STAMP, "must come with"),
        (CIMultiDict(), BODY, STAMP, "Bearer"),
        (CIMultiDict(Authorization="Basic abc"), BODY, STAMP, "Bearer"),
        (CIMultiDict(Authorization="Bearer nope"), BODY, STAMP, "not this webhook's"),
        (CIMultiDict({"X-Hub-Signature-256": "sha256=00"}), BODY, STAMP, "not that of"),
    ],
)
def test_what_proves_nothing_is_refused(headers, body, now, words):
    with pytest.raises(SignatureError, match=words) as caught:
        verify(SECRET, headers, body, now)
    assert SECRET not in str(caught.value)


def test_github_signs_as_in_its_documentation():
    secret, body = "It's a Secret to Everybody", b"Hello, World!"
    right = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    headers = CIMultiDict({"X-Hub-Signature-256": right, "X-GitHub-Delivery": "guid"})
    sender = verify(secret, headers, body, 0)
    assert (sender.scheme, sender.key) == ("github", "guid")
    del headers["X-GitHub-Delivery"]
    assert verify(secret, headers, body, 0).key, "without a name it must not be replayed either"


def test_a_bearer_token():
    secret = new_secret()
    headers = CIMultiDict({"authorization": f"bearer {secret}", "idempotency-key": "k"})
    assert verify(secret, headers, b"", 0).key == "k"
    assert secret != new_secret()


@given(st.binary(max_size=50), st.text(max_size=20), st.text(max_size=20))
def test_no_header_breaks_the_check(body, signature, stamp):
    headers = CIMultiDict(
        {"webhook-signature": signature, "webhook-timestamp": stamp, "webhook-id": "x"}
    )
    with pytest.raises(SignatureError):
        verify(SECRET, headers, body, STAMP)


def test_calls_are_counted_by_name():
    now = 0.0
    rate = Rate(per_minute=60, burst=2, clock=lambda: now)
    assert [rate.wait_s("a") for _ in range(3)] == [0, 0, pytest.approx(1)]
    assert rate.wait_s("b") == 0
    now = 1.0
    assert rate.wait_s("a") == 0
    assert rate.wait_s("a") > 0
