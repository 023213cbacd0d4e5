"""Recognizes values that are public by their name or form, and therefore not secret in any place."""

from __future__ import annotations

import re

from lerim.patterns import compile_later
from lerim.redaction.values.appearance import is_scrambled
from lerim.redaction.values.rule_types import Span

_NAME_BEFORE = compile_later(
    r"(?P<name>[A-Za-z_][\w.-]{0,60})\\{0,3}[\"'`\]]{0,3}(?:\s?:\s?&?[\w:<>' ]{1,24})?"
    r"\s{0,8}(?:=>|:=|={1,2}|:)\s{0,8}[bfr@]?\\{0,3}[\"'`]?\Z"
)
_ASSIGNMENT_SIGN = compile_later(r"[=:]")
_LONGEST_ASSIGNMENT = 24
"""How many characters before a value its assignment sign may be."""
_NAME_OF_PAIR = compile_later(
    r"[\"'=:\s](?P<name>[A-Za-z_][\w.-]{0,60})\\{0,3}[\"']?\s{0,4}[,;]?\s{0,40}(?:-\s)?\\{0,3}[\"']?(?i:(?:parameter)?value)"
    r"\\{0,3}[\"']?\s{0,3}[:=]\s{0,3}\\{0,3}[\"']?\Z"
)
"""The name in a pair of two fields, as in `{"name": "API_KEY", "value": "…"}`."""
_PUBLIC_NAME = compile_later(
    r"(?:public|publishable|site_?-?key|measurement|applicationserverkey|vapid|client_?id|fingerprint|checksum|digest"
    r"|integrity|hash(?:ers|es)?\Z|_hint\Z|_address\Z|[_-]files?\Z|secret_?name\Z|_algorithm\Z|signing-key\Z"
    r"|account_?sid|application_credentials\Z|tokenizer\Z|(?:error|exception|timeout|length|expiry|_?url|_?arn|_name"
    r"|_ref|attempts|retries|(?:page|next|continuation|sync|cursor)_?token|max_age|_days|_seconds|_minutes)\Z)"
    r"|(?:Count|Name|Ref|Path)\Z",
    re.IGNORECASE,
)
_PRIVATE_KEY_NAME = compile_later(r"private|secret_?key", re.IGNORECASE)
_ID_NAME = compile_later(r"(?<!secret)(?:_id|Id|-id|_ID|(?<=[a-z])ID)\Z")
_PUBLIC_FORM = compile_later(
    r"#[0-9a-fA-F]{3,8}\Z|(?:pbkdf2|bcrypt|argon2|scrypt)[\w-]{0,20}\Z|pk_(?:live|test)_|pk\.eyJ|phc_|sb_publishable_|6L[\w-]{38}\Z|0x[0-9a-fA-F]{40}\Z|(?:sha"
    r"|SHA)-?\d{1,3}[:=-]|md5:|arn:|"
    r"secretsmanager:|@Microsoft\.KeyVault\(|projects/[\w-]{1,60}/secrets/|secretKeyRef|h1:[A-Za-z0-9+/]{43}="
    r"|v?\d{1,5}(?:\.\d{1,20}){2,4}(?:\.?(?:post|dev|rc|alpha|beta|a|b)\.?\d{1,12})?(?:[+-][\w.+-]{1,60})?\Z|(?:AC|SM|PN|MM)[0-9a-f]{32}\Z|(?:we|acct|cus|whk|ak|prod"
    r"|price|plan|sub|evt|team|prj)_[A-Za-z0-9]{8,40}\Z|"
    r"(?:pub|app)[0-9a-f]{32}\Z|G-[A-Z0-9]{10}\Z|GTM-|UA-\d|MII[A-Za-z0-9+/]{2}jANBg|op://|vault:|ssm:|[gs]3://"
)
_NAME = r"[a-z_]{1,30}(?:[A-Z][a-z_]{1,30}){0,8}"
_NO_VALUE = compile_later(
    r"[\w@./\\()\[\]-]{1,200}\.(?:py|[cm]?[jt]sx?|go|rs|java|kts?|c|cc|cpp|h|hpp|cs|rb|php|swift|scala|exs?|lua|sh|sql|vue"
    r"|svelte|md|json|ya?ml|toml|css|html):\d{1,6}(?:[-:]\d{1,6}){0,2}\Z"
    r"|\d{1,6}:\d{1,6}\Z|(?i:pbkdf2|argon2(?:id?|d)?|bcrypt|scrypt|hmac|md5|sha-?\d{1,3}|aes-?\d{3})\Z"
    r"|(?:[A-Z]{1,20}(?:\d{1,3}[A-Z]{0,20})?_){1,9}(?:TOKEN|KEY|SECRET|PASSWORD)\Z"
    rf"|{_NAME}(?:\?\.{_NAME}(?:\.{_NAME}){{0,4}}){{1,4}}[,;)]?\Z|\*[a-z]{{2,30}}\.[A-Za-z]{{2,60}}[,;)]?\Z"
)
"""A line of a file (`src/auth.py:36-40`), an algorithm, the name of a variable that holds a secret, a field
(`body?.password`) or a type (`*config.Options`)."""
_CITED_TURN_ID = compile_later(r"[0-9a-f]{12}\]")
"""A turn id, as Lerim's summaries cite it."""
_NAME_WITH_DIGEST = compile_later(
    r"(?:[\w.-]{1,40}/){0,6}[A-Za-z][\w.]{0,40}(?:-[\w.=]{1,40}){0,8}-(?:[0-9a-f]{32,128}|[A-Za-z0-9+/]{43}=)\Z"
)
"""A name that ends with a digest, as in build caches."""
_FILE_NAME = compile_later(
    r"[\w./@-]{0,300}\.(?:png|jpe?g|webp|gif|svg|pdf|json|gz|zip|txt|csv|parquet|md|ya?ml|toml|py|ts|js|log|pem|key"
    r"|crt|db|sqlite|mp4|tar|enc|html?|css)\Z"
)
_PATH = compile_later(
    r"(?P<path>~?/(?:[\w.-]{1,60}/){1,12}[\w.-]{1,60}|(?:[a-z][a-z0-9]{0,20}/){1,6}[a-z0-9]+(?:-[a-z0-9]{1,12}){1,8})\Z"
)
_VERSION = r"\d{1,5}(?:\.(?:\d{1,20}|[x*])){2,3}(?:-[a-z]{1,12}(?:\.\d{1,12}){0,3})?"
_PACKAGE_VERSION = compile_later(
    rf"(?:(?:workspace:)?(?:[\^~]|[<>]=?|={{1,2}})?v?{_VERSION}|workspace:[*^~])\Z"
    rf"|(?P<path>(?:npm:)?(?:@[a-z0-9-]{{1,60}}/)?[a-z][a-z0-9]{{0,40}}(?:[._-][a-z0-9]{{1,40}}){{0,8}})"
    rf"(?:@|:|={{2}})[\^~]?v?{_VERSION}\Z"
)
"""A version, a range of versions, or a package with a version, as lock files have them next to names such as
`token-types`."""
_LOCAL_PACKAGE = compile_later(r"(?:link|file|portal):(?:\.{1,2}/){1,9}(?P<path>[\w.@/-]{1,300})\Z")
_SCOPED_PACKAGE = compile_later(r"@[a-z][a-z0-9-]{0,38}/[a-z][a-z0-9]{0,30}(?:[._-][a-z0-9]{1,20}){0,6}\Z")
_SOURCE_FILE = compile_later(
    r"(?P<path>(?:[\w.@-]{1,80}/){1,20}[\w.@-]{1,120})\.(?:go|rs|java|kt|rb|php|cs|cpp|hpp|cc|c|h|swift|scala|tsx|jsx|mjs"
    r"|cjs|vue|ini|cfg|lock|sh|sum|tgz|whl|jar)(?::\d{1,6}){0,2}\Z"
)
_ENVIRONMENT_NAME = compile_later(r"(?<![A-Za-z0-9_-])[A-Z][A-Z0-9_]{2,60}[\"']?\s{0,4}[:=]\s{0,4}[\"']?\Z")
"""The name of an environment variable before its value. Lock files have no such names."""
_KEY_OF_SECRET = compile_later(
    r"(?:\b|_)(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|(?:api|access|secret|private)[_ -]?key)"
    r"[\"'`\]]{0,2}(?:\s{0,4}[:=]|\s{1,4}is\b)\s{0,4}[\"'`]?\Z",
    re.IGNORECASE,
)
"""A name of a secret before its value. A package's name may contain such a word, but is seldom one itself."""
_NEXT_VARIABLE = compile_later(
    r"(?:\d{1,6}→)?(?:[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8}|"
    r"[a-z]{2,20}\d?(?:[A-Z_-][a-z]{1,20}\d?){0,4}(?:\.[a-z]{2,20}\d?(?:[A-Z_-][a-z]{1,20}\d?){0,4}){1,8})="
    r"|[\w./-]{1,200}\.[A-Za-z]\w{0,7}[:-]\d{1,6}[:-](?![^\s:]{1,100}:\S)|\d{1,6}[:-](?=[ \t])"
)
"""Matches the next line of an environment or properties file, found after an empty variable, or the next line of
grep's output. Matches no random token and no `host:port:user:password`."""
_LINE_START = compile_later(r"\n[ \t]{0,20}\Z")
_CHECKSUM_OF_FILE = compile_later(r"(?:MD5|SHA-?\d{1,3}|BLAKE2\w?) ?\([^()\n]{1,80}\) ?= ?\Z", re.IGNORECASE)
_SIGNING_KEY_ID = compile_later(r"(?:RSA|DSA|EDDSA|ECDSA|gpg|pgp)[^\n]{0,20}\Z", re.IGNORECASE)
_DIGEST_NAME = compile_later(
    r"(?:sha-?\d{1,3}|md5|blake\d?\w?|crc32|integrity|checksum|digest|etag|\bh1)[\"']?\s{0,2}[:= -]\s{0,2}[\"']?\Z",
    re.IGNORECASE,
)
_LONGEST_DIGEST_NAME = 16
_REFERENCE_TO_SECRET = compile_later(
    r"arn:[\w:/*-]{0,120}\Z|(?:get|describe|delete|edit|patch|create|rollout) secrets?(?: generic)?[ /]\Z"
)
_BARE_DIGEST = compile_later(
    r"(?:[0-9a-f]{7,8}|[0-9a-f]{12}|[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})\Z|"
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z",
    re.IGNORECASE,
)
"""The form of digests, commits and ids, which are secret only if the name they are assigned to says so."""
_SECRET_NAME = compile_later(
    r"token|secret|pass|pwd|pw\Z|sess(?:ion)?_?id\Z|sid\Z|aspxauth|pin\Z|login\Z|auth|cred|salt|seed|psk|totp|encrypt"
    r"|sign|(?:api|app|application|access|license|master|account|service|write|read|"
    r"ingest|admin|client|user|private|subscription|integration|routing|session|nonce|logged)[ _.-]?keys?|[a-z]_?key\Z",
    re.IGNORECASE,
)
_PUBLIC_ID_NAME = compile_later(
    r"(?:request|trace|span|correlation|cache|cached|commit|branch|restore|primary|foreign|object|s3|idempotency|from"
    r"|for|hit|sort|partition|host|row|lookup|unique|dedupe|event|group|message)[ _-]?(?:ids?|keys?|hash)?\Z",
    re.IGNORECASE,
)
_BARE_KEY_NAME = compile_later(r"(?:\A| )(?:ids?|keys?)\Z", re.IGNORECASE)
_WORD_BEFORE = compile_later(
    r"(?P<name>(?:[A-Za-z-]{1,20} )?[A-Za-z_][\w.-]{0,60})\\{0,3}[\"'`\]]{0,3}"
    r"(?:\s?:\s?&?(?:'\w{1,12} )?\w{1,12}\s?(?==))?\s{0,3}[:=]{0,2}>?\s{0,8}[\"'`(]{0,2}\Z"
)
_SECRET_STEM = compile_later(r"token|secret|passw|auth|cred", re.IGNORECASE)
_SECRET_NAME_END = compile_later(
    r"(?:tokens?|secrets?|passw\w{0,6}|auth|credentials?|creds?|keys?|\d)\Z", re.IGNORECASE
)
_NAME_OF_NUMBER = compile_later(
    r"(?:pass(?:word|wd|code|phrase)?|pwd|pw|pin|code|mdp|kennwort|passwort)\W{0,2}\Z", re.IGNORECASE
)
_IN_COOKIE_HEADER = compile_later(r"cookie[\"'\]]{0,2}\s{0,2}[:=][^\n]{0,400}\Z", re.IGNORECASE)
_KUBECTL_OUTPUT = compile_later(r"[\"']?\s{1,3}(?:deleted|created|configured|unchanged|patched|not found)\b")
_NEVER_PUBLIC = frozenset({"named-secret", "private", "url-key", "private-key", "url-password", "authorization"})
_SECRET_IN_SENTENCE = compile_later(
    r"(?:token|secret|password|key) (?:(?:for|of) [\w.-]{1,40}\W{0,4}|[^\n]{1,60}:[ \t]{0,4}\n\s{0,8})\Z", re.IGNORECASE
)
"""A secret named in the words before it, "the token for twilio: …", or on the line above."""


def is_public(text: str, span: Span) -> bool:
    """Returns whether a value that was found by its place is public by its form or its name."""
    value = text[span.start : min(span.end, span.start + 500)]
    if _NO_VALUE.match(value):
        return True
    if span.kind in _NEVER_PUBLIC:
        return False
    before = text[max(0, span.start - 80) : span.start]
    if (
        _PUBLIC_FORM.match(value)
        or _NAME_WITH_DIGEST.match(value)
        or _FILE_NAME.match(value)
        or _CHECKSUM_OF_FILE.search(before)
    ):
        return True
    if re.fullmatch(r"[0-9A-F]{16}|[0-9A-F]{40}", value) and _SIGNING_KEY_ID.search(before):
        return True
    if _is_path_or_package(value, before) or _KUBECTL_OUTPUT.match(text, span.end):
        return True
    if value[0] == "?" and before.endswith(":") and "${" in before:
        return True  # a shell's message about an unset variable
    if before.rstrip().endswith("|") and before.rfind("{{") > before.rfind("}}"):
        return True  # a template filter
    is_cited = before.endswith("[") and _CITED_TURN_ID.match(text, span.start)
    if is_cited or _introduces_public(before) or (value[0] == before[-1:] == ":"):
        return True
    name_match = _match_name_of_pair(before) or _match_assigned_name(before)
    is_cookie = span.kind == "cookie" and _IN_COOKIE_HEADER.search(text, max(0, span.start - 500), span.start)
    if _BARE_DIGEST.match(value) and not is_cookie and _is_named_as_public(before):
        return True
    if value.isdigit() and name_match is not None and not _NAME_OF_NUMBER.search(name_match["name"]):
        return True
    if name_match is None or _PRIVATE_KEY_NAME.search(name_match["name"]):
        return False
    return bool(_PUBLIC_NAME.search(name_match["name"])) or (
        span.kind != "cookie" and bool(_ID_NAME.search(name_match["name"]))
    )


def _is_path_or_package(value: str, before: str) -> bool:
    """Returns whether a value is a path, the version or location of a package, a package with a scope, or a source
    file. No part of it may look random. Some packages and source files may be passwords and do not count: those after
    the name of an environment variable, those with a digit in their name (unless with a scope), and a named package
    after the name of a secret, unless it says that it is one (`npm:token@1.2.0`)."""
    if path := _PATH.match(value):
        return not _has_scrambled_part(path["path"])
    if _ENVIRONMENT_NAME.search(before):
        return False
    if _SCOPED_PACKAGE.match(value):
        return not _KEY_OF_SECRET.search(before) and not _has_scrambled_part(value)
    package = _PACKAGE_VERSION.match(value)
    if package and package["path"] and not value.startswith("npm:") and _KEY_OF_SECRET.search(before):
        return False
    found = package or _LOCAL_PACKAGE.match(value) or _SOURCE_FILE.match(value)
    if found is None:
        return False
    name = found["path"] or ""
    return not any(map(str.isdigit, name)) and not _has_scrambled_part(name)


def _has_scrambled_part(path: str) -> bool:
    return any(len(part) >= 10 and is_scrambled(part) for part in re.split(r"[/:@]", path))


def is_next_variable(text: str, span: Span) -> bool:
    """Returns whether what was taken for the value of a variable is in fact the line of the next variable, with its
    name."""
    return bool(
        _NEXT_VARIABLE.match(text, span.start) and _LINE_START.search(text, max(0, span.start - 24), span.start)
    )


def _introduces_public(before: str) -> bool:
    """Returns whether the text before a value calls it a digest or refers to a secret elsewhere."""
    if _DIGEST_NAME.search(before, max(0, len(before) - _LONGEST_DIGEST_NAME)):
        return True
    return ("arn:" in before or "secret" in before) and bool(_REFERENCE_TO_SECRET.search(before))


def _match_assigned_name(before: str) -> re.Match[str] | None:
    has_sign = _ASSIGNMENT_SIGN.search(before, max(0, len(before) - _LONGEST_ASSIGNMENT))
    return _NAME_BEFORE.search(before) if has_sign else None


def _match_name_of_pair(before: str) -> re.Match[str] | None:
    return _NAME_OF_PAIR.search(before) if "value" in before.lower() else None


def _is_named_as_public(before: str) -> bool:
    """Returns whether the words before a digest or an id show that it is not a secret."""
    name_match = _match_name_of_pair(before) or _WORD_BEFORE.search(before)
    if name_match is None or _SECRET_IN_SENTENCE.search(before):
        return False
    name = name_match["name"]
    if _PUBLIC_ID_NAME.search(name) or (_BARE_KEY_NAME.search(name) and not _SECRET_NAME.search(name)):
        return True
    last = name.rsplit(" ", 1)[-1]
    is_assigned = any(sign in before[name_match.end("name") :] for sign in ":=")
    if is_assigned:
        return not _SECRET_NAME.search(name)
    return bool(_SECRET_STEM.search(last)) and not last.startswith("-") and not _SECRET_NAME_END.search(last)
