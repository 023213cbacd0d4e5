"""Finds secrets that people write in sentences, in many languages: a keyword, some words, a sign or a verb, the
value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from lerim.redaction.places.positional import is_odd_value
from lerim.redaction.values import (
    PLACEHOLDER,
    SAMPLE,
    NameGroup,
    Span,
    find_places,
    is_scrambled,
    is_unlike_words,
    is_uuid,
    looks_chosen,
    looks_like_password,
    select_found_names,
)

PASSWORDS = (
    "pass",
    "kennwort",
    "contrasena",
    "senha",
    "haslo",
    "wachtwoord",
    "losenord",
    "kodeord",
    "adgangskode",
    "heslo",
    "parola",
    "salasana",
    "mdp",
    "kata sandi",
    "sifre",
    "pwd",
    "pw ",
    "pw:",
    "pin:",
    "pin ",
    "cred",
    "zugangsdaten",
    "identifiants",
    "2fa",
    "totp",
    "recovery code",
    "login",
    "log in",
    "sign in",
    "clave",
    "wifi key",
    "wlan key",
    "wpa key",
    "network key",
    "recovery key",
    "wlan-schluessel",
    "user/pass",
)
PASSWORDS_ELSEWHERE = (
    "contraseña",
    "hasł",
    "lösenord",
    "jelszó",
    "jelszav",
    "şifre",
    "пароль",
    "пароля",
    "паролем",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
    "암호",
    "סיסמ",
    "κωδικ",
    "mật khẩu",
    "كلمة",
    "पासवर्ड",
    "รหัสผ่าน",
    "geslo",
    "лозинка",
    "парола",
    "パスフレーズ",
    "暗証番号",
    "認証情報",
    "密語",
)
KEYS = (
    "key",
    "keystring",
    "token",
    "secret",
    "clave",
    "chiave",
    "klucz",
    "sleutel",
    "chave",
    "llave",
    "jeton",
    "geheimnis",
    "nyckel",
    "avain",
    "kulcs",
    "anahtar",
    "authorization code",
    "schluessel",
    "gettone",
    "kunci",
)
KEYS_ELSEWHERE = (
    "schlüssel",
    "clé",
    "секрет",
    "токен",
    "ключ",
    "密钥",
    "密鑰",
    "金鑰",
    "令牌",
    "トークン",
    "シークレット",
    "キー",
    "토큰",
    "비밀키",
    "키",
    "秘钥",
    "鍵",
    "مفتاح",
    "מפתח",
    "कुंजी",
    "khóa",
    "κλειδί",
)
_ALL_PASSWORDS = NameGroup((*PASSWORDS, *PASSWORDS_ELSEWHERE))
_ALL_KEYS = NameGroup((*KEYS, *KEYS_ELSEWHERE))
_LOGINS = NameGroup(("log in", "login", "sign in", "creds", "credential"))
SEARCHED_NAMES = (*_ALL_PASSWORDS, *_ALL_KEYS, *_LOGINS)
WORDS = 4
"""The most longer words between the keyword and the secret."""
_SIGN = (
    r"(?:[:：=＝→]|[—–-]{1,2}(?=\s)|(?:is|was|are|to|as|ist|war|lautet|sind|est|c'est|es|son|é|è|er|är|on|je|jest|to"
    r"|van|adalah|là|היא|هي|है|"
    r"είναι|это|equals|with|mit|avec|con|com|met)(?=[\s:\"'`「])|は|是|为|為|는|은|이|가)"
)
_TELL = re.compile(
    r"(?P<between>[^\W\d_]{0,9}['’]?s?(?:[ \t/(-]{1,2}(?:[a-z]['’])?[^\W_][\w'’.@]{0,18}){0,6}?)[\"'”’»`*_)\]]{0,4}"
    r"[ \t]{0,2}"
    rf"(?:{_SIGN}[ \t]{{0,2}}:?|(?<=\s))[ \t]{{0,3}}[\"'“„‘’«»‹「『`*_<(]{{0,4}}"
    rf"(?:(?![A-Z2-7]{{16,64}}\b)[\w.@-]{{2,40}}[ \t]{{0,2}}[/:"
    rf"|,][ \t]{{0,2}}(?:\w{{2,12}}[:=]?[ \t])?[\"'“„‘«`]{{0,2}})?(?P<value>[!-~]{{6,400}})"
)
_PAIR = re.compile(r"(?:use|with|as|try|via|creds|login)[ \t:]{1,3}[\w.@-]{2,40}[ \t]?[/:][ \t]?(?P<value>[!-~]{8,80})")
_LOGGED = re.compile(
    r"[^\n]{0,12}[ \t](?:as|with|user)[ \t][\w.@-]{2,60}[ \t](?:with|and|/|using"
    r"|pass(?:word)?)[ \t][\"'`]?(?P<value>[!-~]{8,80})"
)
_USED = re.compile(r"[\w.@-]{2,40}/(?P<value>[!-~]{8,60})[ \t](?:to|for)[ \t](?:log|sign)")
_NOT_IT = re.compile(
    r"\b(?:ids?|hash\w*|fingerprints?|digests?|sha\w*|md5|checksums?|caches?|commits?|public|publishable|expir\w*"
    r"|uses?|used|usage|count|at|"
    r"length|version|named|called|name|url|file|path|type|under|from|until|after|since|before|input|search|not"
    r"|identifier|checked|signature)\b",
    re.IGNORECASE,
)
_WHICH = re.compile(r"[A-Za-z'][ -]\Z")
_NOT_BEFORE = re.compile(
    r"(?:cache|recv|data|rsa|dsa|ed25519|gpgsig|pinned|subject|host|ssh|gpg|pgp|hot|of|which|idempotency|signed"
    r"|signing|primary|public|foreign|restore|input|lookup|idempotency|object|s3|redis|partition|sort|publishable"
    r"|host|site)[ _-]$"
)
_PHRASE = re.compile(r"[a-z]{3,9}(?:-[a-z]{3,9}){2,7}(?:-\d{1,4})?\Z")
_PLAIN = re.compile(r"[A-Za-z0-9+/_=.~%:-]+\Z")
_CODE = re.compile(r"[(){}\[\]<>\\;]|\?\.|=.|/.*/|\"")
_TRIMMED = ".,!?:;)*_\"'`”’»」』>]}"
_APPS = re.compile(r"2fa|mfa|otp|authenticator|two-factor", re.IGNORECASE)
_BASE32 = re.compile(r"[A-Z2-7]{16,64}\Z")


def find_spans(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    """Yields every secret that a sentence states; `low` is the text in lower case, of the same length."""
    for word in select_found_names(_ALL_PASSWORDS, found_parts):
        for at in find_places(lowered, word):
            yield from _told(text, at, at + len(word.rstrip(" :")), key=False)
    for word in select_found_names(_ALL_KEYS, found_parts):
        for at in find_places(lowered, word):
            yield from _told(text, at, at + len(word), key=True)
    for word in select_found_names(_LOGINS, found_parts):
        for at in find_places(lowered, word):
            yield from _one(_LOGGED.match(text, at + len(word) - 1))
            start = max(text.rfind("\n", max(0, at - 80), at) + 1, at - 80)
            for pair in list(re.finditer(r"\b(?:use|with|creds)\b", lowered[start : at + 6]))[:3]:
                yield from _one(_PAIR.match(text, start + pair.start()))


def _one(match: re.Match[str] | None) -> Iterator[Span]:
    if match is not None:
        value = _trimmed(match["value"])
        if looks_like_password(value):
            yield Span(match.start("value"), match.start("value") + len(value), "password")


def _trimmed(value: str) -> str:
    short = value.rstrip(_TRIMMED)
    return short + "!" if value[len(short) :].startswith("!") else short


def _told(text: str, at: int, end: int, *, key: bool) -> Iterator[Span]:
    after = text[end : end + 1]
    if after in ("(", "[", ".", "_", ",", ";") or (at and text[at - 1] in "_.$/" and text[at - 1] != " "):
        return
    if key and after.isalpha() and after != "s" and text.startswith(("token", "secret", "key"), at):
        return
    plain = text[at:end].lower() == "key"
    if plain and not _WHICH.search(text, max(0, at - 14), at):
        return
    match = _TELL.match(text, end)
    for _ in range(WORDS):
        word = re.sub(r"['-]", "", match["value"]) if match is not None else ""
        if match is None or not word.isalpha() or is_unlike_words(word):
            break
        match = _TELL.match(text, match.end())  # that was a word of the sentence: the value comes later
    if (
        match is None
        or _NOT_IT.search(text, end, match.start("value"))
        or _NOT_BEFORE.search(text, max(0, at - 14), at)
    ):
        return
    value = _trimmed(match["value"])
    if PLACEHOLDER.search(value[:80]) or SAMPLE.search(value):
        return
    if text[end : end + 6].lower() == "phrase" and _PHRASE.match(value):
        yield Span(match.start("value"), match.start("value") + len(value), "password")
        return
    if _CODE.search(value) or (key and not _PLAIN.match(value)):
        return
    if key:
        told = len(value) >= 16 and (is_scrambled(value) or (is_uuid(value) and "id" not in match["between"]))
        told |= bool(_BASE32.match(value) and _APPS.search(text, max(0, at - 40), match.start("value")))
    else:
        told = (
            looks_like_password(value)
            or bool(_BASE32.match(value))
            or (
                text[match.start("value") - 1] != "/" and _set(text[match.end("between") : match.start("value")], value)
            )
        )
    if told:
        yield Span(match.start("value"), match.start("value") + len(value), "token" if key else "password")


def _set(sign: str, value: str) -> bool:
    """Returns whether a stated value may be a password; after a verb, it needs more digits to differ from a name."""
    digits = 2 if any(mark in sign for mark in ":：=＝") else 4
    return looks_chosen(value, digits) and is_odd_value(value, False)
