"""The payment provider's webhook."""

import hashlib
import hmac


def verify_signature(secret: bytes, body: bytes, header: str) -> bool:
    """Whether `X-Signature` belongs to this body."""
    expected = hmac.new(secret, body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, header.strip().lower())
