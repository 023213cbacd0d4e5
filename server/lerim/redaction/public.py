"""What is public by its name or by its form: it is no secret, whatever stands around it."""

from __future__ import annotations

import re

from lerim.redaction.rules import Span

_NAMED = re.compile(
    r"(?P<name>[A-Za-z_][\w.-]{0,60})\\{0,3}[\"'`\]]{0,3}\s{0,8}(?:=>|:=|={1,2}|:)\s{0,8}[bfr@]?\\{0,3}[\"'`]?\Z"
)
_PUBLIC_NAME = re.compile(
    r"(?:public|publishable|site_?-?key|measurement|applicationserverkey|vapid|client_?id|fingerprint|checksum|digest|"
    r"integrity|hash(?:ers|es)?\Z|_hint\Z|_address\Z|[_-]files?\Z|secret_?name\Z|_algorithm\Z|signing-key\Z|account_?sid|"
    r"application_credentials\Z)",
    re.IGNORECASE,
)
_PRIVATE_NAME = re.compile(r"private|secret_?key", re.IGNORECASE)
_ID_NAME = re.compile(r"(?<!secret)(?:_id|Id|-id|_ID)\Z")
_FORM = re.compile(
    r"pk_(?:live|test)_|pk\.eyJ|phc_|sb_publishable_|6L[\w-]{38}\Z|0x[0-9a-fA-F]{40}\Z|(?:sha|SHA)-?\d{1,3}[:=-]|md5:|arn:|"
    r"secretsmanager:|(?:AC|SM|PN|MM)[0-9a-f]{32}\Z|(?:we|acct|cus|whk|ak|prod|price|plan|sub|evt|team|prj)_[A-Za-z0-9]{8,40}\Z|"
    r"(?:pub|app)[0-9a-f]{32}\Z|G-[A-Z0-9]{10}\Z|GTM-|UA-\d|MII[A-Za-z0-9+/]{2}jANBg|op://|vault:|ssm:|[gs]3://"
)
_CACHED = re.compile(r"[A-Za-z][\w.]{0,40}(?:-[\w.=]{1,40}){0,8}-(?:[0-9a-f]{32,128}|[A-Za-z0-9+/]{43}=)\Z")
"""A name with a digest at its end, as caches of builds have."""
_FILE = re.compile(
    r"[\w./@-]{0,300}\.(?:png|jpe?g|webp|gif|svg|pdf|json|gz|zip|txt|csv|parquet|md|ya?ml|toml|py|ts|js|log|pem|key|crt|db|"
    r"sqlite|mp4|tar|enc|html?|css)\Z"
)
_PATH = re.compile(
    r"~?/(?:[\w.-]{1,60}/){1,12}[\w.-]{1,60}\Z|(?:[a-z][a-z0-9]{0,20}/){1,6}[a-z0-9]+(?:-[a-z0-9]{1,12}){1,8}\Z"
)
_SUMMED = re.compile(r"(?:MD5|SHA-?\d{1,3}|BLAKE2\w?) ?\([^()\n]{1,80}\) ?= ?\Z", re.IGNORECASE)
_SIGNER = re.compile(r"(?:RSA|DSA|EDDSA|ECDSA|gpg|pgp)[^\n]{0,20}\Z", re.IGNORECASE)
_FOLLOWED = re.compile(r"[\"']?\s{1,3}(?:deleted|created|configured|unchanged|patched|not found)\b")
_KEPT = frozenset({"private", "private-key", "url-password", "authorization"})


def is_public(text: str, span: Span) -> bool:
    """Whether what was found at a place of secrets is public by its own form or by its name."""
    if span.kind in _KEPT:
        return False
    value = text[span.start : min(span.end, span.start + 500)]
    before = text[max(0, span.start - 80) : span.start]
    if _FORM.match(value) or _CACHED.match(value) or _FILE.match(value) or _SUMMED.search(before):
        return True
    if re.fullmatch(r"[0-9A-F]{16}|[0-9A-F]{40}", value) and _SIGNER.search(before):
        return True
    if _PATH.match(value) or _FOLLOWED.match(text, span.end):
        return True
    named = _NAMED.search(before)
    if named is None or _PRIVATE_NAME.search(named["name"]):
        return False
    return bool(_PUBLIC_NAME.search(named["name"])) or (span.kind != "cookie" and bool(_ID_NAME.search(named["name"])))
