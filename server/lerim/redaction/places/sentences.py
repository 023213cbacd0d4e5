"""Finds secrets that people write in sentences, in many languages: a keyword, a few words, a sign or a verb, and the
value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from lerim.patterns import compile_later
from lerim.redaction.places.positional import is_odd_value
from lerim.redaction.values import (
    NameGroup,
    Span,
    find_places,
    is_placeholder,
    is_sample,
    is_scrambled,
    is_unlike_words,
    is_uuid,
    looks_chosen,
    looks_like_password,
    select_found_names,
)

_PASSWORD_NAME_LIST = (
    "pass|kennwort|contrasena|senha|haslo|wachtwoord|losenord|kodeord|adgangskode|heslo|parola|salasana|mdp|"
    "kata sandi|sifre|pwd|pw |pw:|pin:|pin |cred|zugangsdaten|identifiants|2fa|totp|recovery code|login|log in|"
    "sign in|clave|wifi key|wlan key|wpa key|network key|recovery key|wlan-schluessel|user/pass|"
    "contraseña|hasł|lösenord|jelszó|jelszav|şifre|пароль|пароля|паролем|密码|密碼|口令|パスワード|비밀번호|암호|סיסמ|κωδικ|"
    "mật khẩu|كلمة|पासवर्ड|รหัสผ่าน|geslo|лозинка|парола|パスフレーズ|暗証番号|認証情報|密語"
)
_KEY_NAME_LIST = (
    "key|keystring|token|secret|clave|chiave|klucz|sleutel|chave|llave|jeton|geheimnis|nyckel|avain|kulcs|anahtar"
    "|authorization code|schluessel|gettone|kunci|schlüssel|clé|секрет|токен|ключ|密钥|密鑰|金鑰|令牌|トークン"
    "|シークレット|キー|토큰|비밀키|키|秘钥|鍵|مفتاح|מפתח|कुंजी|khóa|κλειδί"
)
_PASSWORD_NAMES = NameGroup(_PASSWORD_NAME_LIST.split("|"))
_KEY_NAMES = NameGroup(_KEY_NAME_LIST.split("|"))
_LOGIN_NAMES = NameGroup(("log in", "login", "sign in", "creds", "credential"))
SEARCHED_NAMES = (*_PASSWORD_NAMES, *_KEY_NAMES, *_LOGIN_NAMES)
_MOST_SKIPPED_WORDS = 4
"""The maximum number of longer words between the keyword and the secret."""
_SIGN = (
    r"(?:[:：=＝→]|[—–-]{1,2}(?=\s)|(?:is|was|are|to|as|ist|war|lautet|sind|est|c'est|es|son|é|è|er|är|on|je|jest|to|van"
    r"|adalah|là|היא|هي|है|είναι|это|equals|with|mit|avec|con|com|met)(?=[\s:\"'`「])|は|是|为|為|는|은|이|가)"
)
_STATED_VALUE = compile_later(
    r"(?P<between>[^\W\d_]{0,9}['’]?s?(?:[ \t/(-]{1,2}(?:[a-z]['’])?[^\W_][\w'’.@]{0,18}){0,6}?)[\"'”’»`*_)\]]{0,4}"
    r"[ \t]{0,2}"
    rf"(?:{_SIGN}[ \t]{{0,2}}:?|(?<=\s))[ \t]{{0,3}}[\"'“„‘’«»‹「『`*_<(]{{0,4}}"
    rf"(?:(?![A-Z2-7]{{16,64}}\b)[\w.@-]{{2,40}}[ \t]{{0,2}}[/:"
    rf"|,][ \t]{{0,2}}(?:\w{{2,12}}[:=]?[ \t])?[\"'“„‘«`]{{0,2}})?(?P<value>[!-~]{{6,400}})"
)
_NAME_AND_PASSWORD = compile_later(
    r"(?:use|with|as|try|via|creds|login)[ \t:]{1,3}[\w.@-]{2,40}[ \t]?[/:][ \t]?(?P<value>[!-~]{8,80})"
)
_LOGIN_WITH_PASSWORD = compile_later(
    r"[^\n]{0,12}[ \t](?:as|with|user)[ \t][\w.@-]{2,60}[ \t](?:with|and|/|using"
    r"|pass(?:word)?)[ \t][\"'`]?(?P<value>[!-~]{8,80})"
)
_OTHER_SUBJECT = compile_later(
    r"\b(?:ids?|hash\w*|fingerprints?|digests?|sha\w*|md5|checksums?|caches?|commits?|public|publishable|expir\w*"
    r"|uses?|used|usage|count|at|length|version|named|called|name|url|file|path|type|under|from|until|after|since"
    r"|before|input|search|not|identifier|checked|signature)\b",
    re.IGNORECASE,
)
_WORD_BEFORE_KEY = compile_later(r"[A-Za-z'][ -]\Z")
_OTHER_KEY_BEFORE = compile_later(
    r"(?:cache|recv|data|rsa|dsa|ed25519|gpgsig|pinned|subject|host|ssh|gpg|pgp|hot|of|which|idempotency|signed"
    r"|signing|primary|public|foreign|restore|input|lookup|idempotency|object|s3|redis|partition|sort|publishable"
    r"|host|site)[ _-]$"
)
_PASSING = compile_later(r"pass(?:é|e[drz]\b|ing\b|ive|lib\b|port\b|thr)", re.IGNORECASE)
"""Matches forms of the verbs “to pass” and “passer” and other words that begin like them, such as the package
`passlib`. They do not introduce a password."""
_PASSPHRASE = compile_later(r"[a-z]{3,9}(?:-[a-z]{3,9}){2,7}(?:-\d{1,4})?\Z")
_KEY_CHARACTERS = compile_later(r"[A-Za-z0-9+/_=.~%:-]+\Z")
_CODE = compile_later(r"[(){}\[\]<>\\;]|\?\.|=.|/.*/|\"")
_TRAILING_MARKS = ".,!?:;)*_\"'`”’»」』>]}"
_TWO_FACTOR_WORDS = compile_later(r"2fa|mfa|otp|authenticator|two-factor", re.IGNORECASE)
_TOTP_KEY = compile_later(r"[A-Z2-7]{16,64}\Z")


def find_spans(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    """Yields every secret that a sentence states."""
    for word in select_found_names(_PASSWORD_NAMES, found_parts):
        for at in find_places(lowered, word):
            yield from _find_stated_value(text, at, at + len(word.rstrip(" :")), is_key=False)
    for word in select_found_names(_KEY_NAMES, found_parts):
        for at in find_places(lowered, word):
            yield from _find_stated_value(text, at, at + len(word), is_key=True)
    for word in select_found_names(_LOGIN_NAMES, found_parts):
        for at in find_places(lowered, word):
            yield from _check_match(_LOGIN_WITH_PASSWORD.match(text, at + len(word) - 1))
            start = max(text.rfind("\n", max(0, at - 80), at) + 1, at - 80)
            for pair in list(re.finditer(r"\b(?:use|with|creds)\b", lowered[start : at + 6]))[:3]:
                yield from _check_match(_NAME_AND_PASSWORD.match(text, start + pair.start()))


def _check_match(match: re.Match[str] | None) -> Iterator[Span]:
    if match is not None:
        value = _trim(match["value"])
        if looks_like_password(value):
            yield Span(match.start("value"), match.start("value") + len(value), "password")


def _trim(value: str) -> str:
    trimmed = value.rstrip(_TRAILING_MARKS)
    return trimmed + "!" if value[len(trimmed) :].startswith("!") else trimmed


def _find_stated_value(text: str, at: int, end: int, *, is_key: bool) -> Iterator[Span]:
    """Yields the value stated after the keyword at `text[at:end]`; `is_key`: it names a key, not a password."""
    after = text[end : end + 1]
    if (
        _PASSING.match(text, at)
        or after in ("(", "[", ".", "_", ",", ";")
        or (at and text[at - 1] in "_.$/" and text[at - 1] != " ")
    ):
        return
    if is_key and after.isalpha() and after != "s" and text.startswith(("token", "secret", "key"), at):
        return
    is_bare_key = text[at:end].lower() == "key"
    if is_bare_key and not _WORD_BEFORE_KEY.search(text, max(0, at - 14), at):
        return
    match = _STATED_VALUE.match(text, end)
    for _ in range(_MOST_SKIPPED_WORDS):
        word = re.sub(r"['-]", "", match["value"]) if match is not None else ""
        if match is None or not word.isalpha() or is_unlike_words(word):
            break
        match = _STATED_VALUE.match(text, match.end())  # that was a word of the sentence: the value comes later
    if (
        match is None
        or _OTHER_SUBJECT.search(text, end, match.start("value"))
        or _OTHER_KEY_BEFORE.search(text, max(0, at - 14), at)
    ):
        return
    value = _trim(match["value"])
    if is_placeholder(value) or is_sample(value):
        return
    if text[end : end + 6].lower() == "phrase" and _PASSPHRASE.match(value):
        yield Span(match.start("value"), match.start("value") + len(value), "password")
        return
    if _CODE.search(value) or (is_key and not _KEY_CHARACTERS.match(value)):
        return
    if is_key:
        is_secret = len(value) >= 16 and (is_scrambled(value) or (is_uuid(value) and "id" not in match["between"]))
        is_secret |= bool(
            _TOTP_KEY.match(value) and _TWO_FACTOR_WORDS.search(text, max(0, at - 40), match.start("value"))
        )
    else:
        is_secret = (
            looks_like_password(value)
            or bool(_TOTP_KEY.match(value))
            or (
                text[match.start("value") - 1] != "/"
                and _may_be_password(text[match.end("between") : match.start("value")], value)
            )
        )
    if is_secret:
        yield Span(match.start("value"), match.start("value") + len(value), "token" if is_key else "password")


def _may_be_password(sign: str, value: str) -> bool:
    """Returns whether a stated value may be a password. After a verb, which has no colon or equals
    sign, it needs more digits, because it could be a name."""
    digits = 2 if any(mark in sign for mark in ":：=＝") else 4
    return looks_chosen(value, digits) and is_odd_value(value, False)
