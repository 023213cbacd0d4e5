"""Finds secrets that are passed on: arguments of calls, options of commands, headers with any scheme."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from lerim.redaction.places.positional import is_odd_value, is_token
from lerim.redaction.values import (
    PLACEHOLDER,
    SAMPLE,
    NameGroup,
    Span,
    find_places,
    is_punctuated_key,
    is_scrambled,
    is_uuid,
    looks_like_password,
    select_found_names,
)

SECRET_CALLS = (
    "login log_in signin sign_in auth authenticate basicauth httpbasicauth plainauth connect getconnection "
    "mysqli_connect mysqli pdo credential credentials basicawscredentials awsbasiccredentials pscredential client "
    "twilio "
    "algoliasearch jwt.sign jwt.encode jwt.verify jwt.decode cookieparser fernet totp hotp createhmac hmac.new hmac "
    "create_user createuser create_superuser createcipheriv bcrypt.hash bcrypt.hashsync hashpw password_hash "
    "setpassword set_password withpassword "
    "settoken set_token withtoken auth_token authtoken access_token accesstoken setapikey set_api_key withapikey "
    "api_key apikey "
    "secretstring configure initialize init usernamepasswordcredentials token secret password config setsecret "
    "getbytes "
    "hmacshakeyfor pbkdf2 scrypt aes.new new_hmac hs256 sethashkey setbasicauth basic_auth basicauthcredentials "
    "plain_auth "
    "auth= require('twilio') credentials: basicauth:"
)
_WEAK = frozenset(("client(", "config(", "initialize(", "configure(", "getbytes("))
_CALLS = frozenset(name if name[-1] in "=):" else f"{name}(" for name in SECRET_CALLS.split()) - _WEAK
_LITERAL = re.compile(r"[(,\[]\s{0,4}[bfru@]?(?P<quote>[\"'`])(?P<value>[^\"'`\\\n]{8,200})(?P=quote)")
_LETTERS = re.compile(r"[a-z]{16}\Z|[a-z]{4}(?:[ -][a-z]{4}){3}\Z")

SECRET_OPTIONS: dict[str, str] = {
    "codecov": "-t -Z",
    "vercel": "-t",
    "netlify": "-a --auth",
    "doctl": "-t",
    "fly": "-t",
    "nuget": "-k -ApiKey",
    "oathtool": "-b --totp",
    "openssl": "-k -K -hmac",
    "zip": "-P",
    "7z": "-p",
    "rar": "-p -hp",
    "ssh-keygen": "-N -P",
    "sqlcmd": "-P",
    "bcp": "-P",
    "snowsql": "-p",
    "mongo": "-p",
    "ldap": "-w",
    "useradd": "-p",
    "usermod": "-p",
    "ipmitool": "-P",
    "security": "-w -p",
    "gh secret": "-b --body",
    "put-parameter": "--value",
    "secretsmanager": "--secret-string",
    "consul": "-encrypt -token",
    "kubeadm": "--token",
    "k3s": "--token -t",
    "nomad": "-token",
    "snmp": "-A -X -c",
    "pscp": "-pw",
    "plink": "-pw",
    "psexec": "-p",
    "http": "--auth -a",
    "jarsigner": "-storepass -keypass",
    "signtool": "/p",
    "freerdp": "/p:",
    "rdesktop": "-p",
    "convertto-securestring": "-String",
    "docker": "-p",
    "helm": "-p",
    "buildkite": "-t",
    "expo": "-t",
    "sentry": "-t",
    "railway": "-t",
    "pulumi": "-t",
    "influx": "-t",
    "argocd": "-p",
    "oc login": "-p -t",
    "cf login": "-p",
    "ngrok": "-t",
    "gitlab": "-t -r",
    "glab": "-t",
    "tea": "-t",
    "twine": "-p",
    "cargo": "-t",
    "vault": "-t",
    "wget": "-p",
    "scp": "-p",
    "sonar": "-t",
    "snyk": "-t",
    "coveralls": "-t",
    "heroku": "-p",
    "az ": "-p",
    "mysql": "-p",
    "psql": "-W",
    "isql": "-P",
    "rabbitmq": "-p",
}
"""Programs, and their options that take a secret although the option's name does not say so."""
_OPTION = re.compile(
    r"(?P<name>[/-](?<=[ \t(].)(?:(?<=/)p:|(?<=-)(?:p(?=[^\s-]{8})|[A-Za-z]{1,2}|-?(?:auth|body|totp|value"
    r"|secret-string|token|encrypt|hmac|ApiKey|storepass|keypass|String))))"
    r"(?:[ \t=]{1,3}|(?<=p)|(?<=:))(?:-b[ \t])?[\"']?(?P<value>[^\s\"'`|;<>$({-][^\s\"'`|;<>]{7,400})"
)
_LAST = r"(?<=\s)[\"']?(?P<value>[^\s\"'|;<>-][^\s\"'|;<>]{7,400})"
_WORDS = {
    program: re.compile(options.replace("VALUE", r"(?P<value>[^\s\"'|;<>]{6,400})") if options else _LAST)
    for program, options in {
        "cargo login": "",
        "snyk auth": "",
        "wandb login": "",
        "vault login": "",
        "net use": "",
        "rabbitmqctl": "",
        "rclone obscure": "",
        "api-key store": "",
        "htpasswd": "",
        "snmp-server community": "",
        "wpa_passphrase ": "",
        "add-authtoken": "",
        "smb": r"-U\s{0,2}[\"']?[\w.\\]{1,40}%VALUE",
        "rpcclient": r"-U\s{0,2}[\w.\\]{1,40}%VALUE",
        "lftp": r"-u\s{0,2}[\w.]{1,40},VALUE",
        "enable secret": r"enable secret(?: \d)? VALUE",
        "requirepass": r"requirepass[ =]VALUE",
        "masterauth": r"masterauth VALUE",
        "sonar.": r"sonar\.(?:login|token)=VALUE",
        "curl": r"(?:-u|--user)[ =]{0,2}[\"']?[^\s:\"']{1,80}:VALUE",
        "poetry config": r"(?:pypi-token\.\w{1,40}|http-basic\.\w{1,40} \S{1,60}) [\"']?VALUE",
        "password-command": r"echo VALUE",
        "impdp": r"\w{1,30}/VALUE",
        "expdp": r"\w{1,30}/VALUE",
        "sqlldr": r"\w{1,30}/VALUE",
        "beeline": r" -p VALUE",
        "mc alias": r"(?:set|add) \S{1,40} \S{1,100} \S{1,60} VALUE",
        "push --key": r"push --key[ =]VALUE",
        "<<<": r"(?i:pass|token|secret|key|pwd|pw)\w{0,20}\s{0,2}<<<\s?[\"']?VALUE",
        "steamcmd": r"\+login\s\w{1,40} VALUE",
        "sqlplus": r"\w{1,30}/(?P<value>[^\s@/]{4,60})@",
        "chpasswd": r"(?<![\w.-])[\w.-]{1,40}:VALUE",
        "passwd": r"<<<\s?[\"']?VALUE",
        "az devops": r"echo VALUE",
        "password-stdin": r"(?:echo|'%s') {1,2}[\"']?VALUE",
        "identified": r"(?:by|BY|By)\s[\"']?VALUE",
        "assword:": r"send\s{1,3}\\?[\"'](?P<value>[^\s\"'\\]{6,80})",
        "auth ": r"^AUTH\s(?:\w{1,30}\s)?VALUE\s{0,2}$",
        "role_id": r"secret_id[=:]\s?[\"']?VALUE",
        "unseal key": r"\d{0,2}:\s{1,3}VALUE",
        "securestring": r"(?i:securestring)\s{1,3}[\"']VALUE",
        "masked": r"masked=VALUE",
        "secret access key": r"\[[^\]\n]{0,30}\]:\s{1,3}VALUE",
    }.items()
}
_CLEAR = frozenset(("requirepass", "identified"))
_TRIMMED = ".,:)`\\]"
_AFTER = re.compile(r"[^\n]{0,300}")
_TOTP = re.compile(r"[A-Z2-7]{16,64}=*\Z")

_SCHEME = re.compile(
    r"\\{0,3}[\"']?\]?\s{0,2}[:=,]\s{0,3}[bfr]?\\{0,3}[\"'`]?(?:[A-Za-z][\w-]{1,20}\s{1,2})?(?:(?:token|key"
    r"|api_?key)=)?[\"']?"
    r"(?P<value>[A-Za-z0-9._~+/%=:-]{16,2000})"
)
_HEADERS = NameGroup(
    (
        "authorization",
        "x-auth-token",
        "x-access-token",
        "x-api-key",
        "x-apikey",
        "api-key",
        "x-honeycomb-team",
        "x-jfrog-art-api",
        "ocp-apim-subscription-key",
        "x-auth-key",
        "x-vault-token",
        "private-token",
        "job-token",
        "deploy-token",
        "x-csrf-token",
        "x-consul-token",
        "x-token",
        "x-secret",
        "xi-api-key",
        "x-functions-key",
        "?appid",
        "&appid",
    )
)
_ALL_CALLS = NameGroup((*_CALLS, *_WEAK))
_PROGRAMS = NameGroup(_WORDS)
SEARCHED_NAMES = (*_HEADERS, *_WORDS, *_ALL_CALLS)


def find_spans(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    """Yields every secret in a call, an option or a header; `low` is the text in lower case, of the same length."""
    called = select_found_names(_ALL_CALLS, found_parts)
    if called:
        yield from _arguments(text, lowered, frozenset(called))
    yield from _options(text, lowered, found_parts)
    for name in select_found_names(_HEADERS, found_parts):
        for at in find_places(lowered, name):
            match = _SCHEME.match(text, at + len(name))
            if match is None:
                continue
            value = match["value"].rstrip(".,:")
            if not PLACEHOLDER.search(value[:80]) and (
                is_uuid(value) or is_scrambled(value) or (not name.endswith("appid") and is_token(value))
            ):
                yield Span(match.start("value"), match.start("value") + len(value), "authorization")


def _arguments(text: str, lowered: str, called: frozenset[str]) -> Iterator[Span]:
    """Yields literals that look random, if the call before them takes a secret."""
    sure_ones, weak_ones = called & _CALLS, called & _WEAK
    for literal in _LITERAL.finditer(text):
        value = literal["value"]
        letters = bool(_LETTERS.match(value))
        if is_uuid(value) or not (
            letters or _TOTP.match(value) or looks_like_password(value) or is_punctuated_key(value)
        ):
            continue
        before = lowered[max(0, literal.start() - 200) : literal.start() + 1]
        before = before[max(before.rfind("\n"), before.rfind("; "), before.rfind("})")) + 1 :]
        if "otp(" in before and _TOTP.match(value):
            yield Span(*literal.span("value"), "totp-key")
        sure = any(name in before for name in (("login(", "plainauth(") if letters else sure_ones))
        if sure or (len(value) >= 20 and is_scrambled(value) and any(name in before for name in weak_ones)):
            yield Span(*literal.span("value"), "password")


def _options(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    for option in _OPTION.finditer(text):
        value = option["value"].rstrip(_TRIMMED)
        if not _good(value):
            continue
        line = lowered[max(0, option.start() - 201) : option.start()]
        line = line[line.rfind("\n") + 1 :]
        for program, names in SECRET_OPTIONS.items():
            if option["name"] == "--token" or (option["name"] in names and program in line):
                yield Span(option.start("value"), option.start("value") + len(value), "password")
                break
    for program, pattern in [(name, _WORDS[name]) for name in select_found_names(_PROGRAMS, found_parts)]:
        done = 0
        for at in find_places(lowered, program):
            if at < done:
                continue
            start = max(text.rfind("\n", max(0, at - 200), at) + 1, at - 200)
            line_end = _AFTER.match(text, at)
            done = line_end.end() if line_end else at + 1
            for match in pattern.finditer(text, start, done):
                value = match["value"].rstrip(_TRIMMED)
                if _good(value) or (program in _CLEAR and len(value) >= 8 and is_odd_value(value, False)):
                    kind = "authorization" if program == "curl" else "password"
                    yield Span(match.start("value"), match.start("value") + len(value), kind)


def _good(value: str) -> bool:
    if PLACEHOLDER.search(value[:80]) or SAMPLE.search(value):
        return False
    return looks_like_password(value) or is_uuid(value) or bool(_TOTP.match(value))
