import hashlib
import hmac

from tally.webhook import verify_signature


def test_only_the_right_signature_is_accepted():
    good = hmac.new(b"key", b"{}", hashlib.sha256).hexdigest()
    assert verify_signature(b"key", b"{}", good)
    assert not verify_signature(b"key", b"{ }", good)
