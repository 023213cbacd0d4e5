"""Finds secrets that are passed as arguments of calls, as options of commands, or in headers with any scheme."""

from __future__ import annotations

from collections.abc import Iterator, Set

from lerim.patterns import compile_later
from lerim.redaction.places.positional import is_odd_value
from lerim.redaction.values import (
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
    "twilio algoliasearch jwt.sign jwt.encode jwt.verify jwt.decode cookieparser fernet totp hotp createhmac hmac.new "
    "hmac create_user createuser create_superuser createcipheriv bcrypt.hash bcrypt.hashsync hashpw password_hash "
    "setpassword set_password withpassword settoken set_token withtoken auth_token authtoken access_token accesstoken "
    "setapikey set_api_key withapikey api_key apikey secretstring configure initialize init "
    "usernamepasswordcredentials token secret password config setsecret getbytes hmacshakeyfor pbkdf2 scrypt aes.new "
    "new_hmac hs256 sethashkey setbasicauth basic_auth basicauthcredentials plain_auth auth= require('twilio') "
    "credentials: basicauth:"
)
_AMBIGUOUS_CALLS = frozenset(("client(", "config(", "initialize(", "configure(", "getbytes("))
_CERTAIN_CALLS = (
    frozenset(name if name[-1] in "=):" else f"{name}(" for name in SECRET_CALLS.split()) - _AMBIGUOUS_CALLS
)
_LITERAL = compile_later(r"[(,\[]\s{0,4}[bfru@]?(?P<quote>[\"'`])(?P<value>[^\"'`\\\n]{8,200})(?P=quote)")
_APP_PASSWORD = compile_later(r"[a-z]{16}\Z|[a-z]{4}(?:[ -][a-z]{4}){3}\Z")

_PROGRAMS_BY_OPTION = {
    option: tuple(programs.split(","))
    for option, programs in {
        "-t": "codecov,vercel,doctl, fly ,k3s,buildkite,expo,sentry,railway,pulumi,influx,ngrok,gitlab,glab, tea ,"
        "vault,sonar,snyk,coveralls",
        "-Z": "codecov",
        "-a": "netlify,http",
        "--auth": "netlify,http",
        "-k": "nuget,openssl",
        "-b": "oathtool,gh secret",
        "-K": "openssl",
        "-hmac": "openssl",
        "-P": "zip,ssh-keygen,sqlcmd,bcp,ipmitool,isql",
        "-p": "7z,rar,snowsql,useradd,usermod,security,psexec,rdesktop,helm,argocd,twine,heroku, az ,mysql,rabbitmq",
        "-hp": "rar",
        "-N": "ssh-keygen",
        "-w": "ldap,security",
        "--body": "gh secret",
        "--value": "put-parameter",
        "-encrypt": "consul",
        "-A": "snmp",
        "-X": "snmp",
        "-c": "snmp",
        "/p:": "freerdp",
        "-String": "convertto-securestring",
        "-r": "gitlab",
        "-W": "psql",
    }.items()
}
"""Options that take a secret although their name does not say so, and the programs that have them."""
_OPTION_WITH_VALUE = compile_later(
    r"(?P<name>[/-](?<=[ \t(].)(?:(?<=/)p:|(?<=-)(?:p(?=[^\s-]{8})|[A-Za-z]{1,2}|-?(?:auth|body|value|encrypt|hmac"
    r"|String))))(?:[ \t=]{1,3}|(?<=p)|(?<=:))(?:-b[ \t])?[\"']?(?P<value>[^\s\"'`|;<>$({-][^\s\"'`|;<>]{7,400})"
)
_LAST_ARGUMENT = r"(?<=\s)[\"']?(?P<value>[^\s\"'|;<>-][^\s\"'|;<>]{7,400})"
_COMMAND_PATTERNS = {
    program: compile_later(options.replace("VALUE", r"(?P<value>[^\s\"'|;<>]{6,400})") if options else _LAST_ARGUMENT)
    for program, options in {
        "snyk auth": "",
        "vault login": "",
        "net use": "",
        "rabbitmqctl": "",
        "rclone obscure": "",
        "api-key store": "",
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
        "curl": r"(?:(?<=\s)-[A-Za-z]{0,8}u|--user)[ =]{0,2}[\"']?[^\s:\"']{1,80}:VALUE",
        "poetry config": r"(?:pypi-token\.\w{1,40}|http-basic\.\w{1,40} \S{1,60}) [\"']?VALUE",
        "password-command": r"echo VALUE",
        "impdp": r"\w{1,30}/VALUE",
        "expdp": r"\w{1,30}/VALUE",
        "sqlldr": r"\w{1,30}/VALUE",
        "beeline": r" -p VALUE",
        "mc alias": r"(?:set|add) \S{1,40} \S{1,100} \S{1,60} VALUE",
        "push --key": r"push --key[ =]VALUE",
        "<<<": r"(?i:pass|token|secret|key|pwd|pw)\w{0,20}\s{0,2}<<<\s?[\"']?VALUE",
        "chpasswd": r"(?<![\w.-])[\w.-]{1,40}:VALUE",
        "sudo -s": r"<<<\s?[\"']?VALUE",
        "passwd": r"<<<\s?[\"']?VALUE",
        "az devops": r"echo VALUE",
        "password-stdin": r"(?:echo|'%s') {1,2}[\"']?VALUE",
        "identified": r"(?:by|BY|By)\s[\"']?VALUE",
        "assword:": r"send\s{1,3}\\?[\"'](?P<value>[^\s\"'\\]{6,80})",
        "auth ": r"(?m)^(?:[\w.:-]{0,60}> ?)?AUTH\s(?:\w{1,30}\s)?VALUE\s{0,2}$",
        "role_id": r"secret_id[=:]\s?[\"']?VALUE",
        "unseal key": r"\d{0,2}:\s{1,3}VALUE",
        "securestring": r"(?i:securestring)\s{1,3}[\"']VALUE",
        "masked": r"masked=VALUE",
        "secret access key": r"\[[^\]\n]{0,30}\]:\s{1,3}VALUE",
    }.items()
}
_CERTAIN_COMMANDS = frozenset(("requirepass", "identified"))
_TRAILING_MARKS = ".,:)`\\]"
_REST_OF_LINE = compile_later(r"[^\n]{0,300}")
_TOTP_KEY = compile_later(r"[A-Z2-7]{16,64}=*\Z")

_HEADER_VALUE = compile_later(
    r"\\{0,3}[\"']?\]?\s{0,2}[:=,]\s{0,3}[bfr]?\\{0,3}[\"'`]?(?:[A-Za-z][\w-]{1,20}\s{1,2})?(?:(?:token|key"
    r"|api_?key)=)?[\"']?(?P<value>[A-Za-z0-9._~+/%=:-]{16,2000})"
)
_HEADER_NAME_LIST = """
    authorization x-auth-token x-access-token x-api-key x-apikey api-key x-honeycomb-team x-jfrog-art-api
    ocp-apim-subscription-key x-auth-key x-vault-token private-token job-token deploy-token x-csrf-token
    x-consul-token x-token x-secret xi-api-key x-functions-key ?appid &appid
"""
_HEADER_NAMES = NameGroup(_HEADER_NAME_LIST.split())
_CALL_NAMES = NameGroup((*_CERTAIN_CALLS, *_AMBIGUOUS_CALLS))
_COMMAND_NAMES = NameGroup(_COMMAND_PATTERNS)
SEARCHED_NAMES = (*_HEADER_NAMES, *_COMMAND_PATTERNS, *_CALL_NAMES)


def find_spans(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    """Yields every secret in a call, an option or a header."""
    called_names = select_found_names(_CALL_NAMES, found_parts)
    if called_names:
        yield from _find_arguments(text, lowered, frozenset(called_names))
    yield from _find_options(text, lowered, found_parts)
    for name in select_found_names(_HEADER_NAMES, found_parts):
        for at in find_places(lowered, name):
            match = _HEADER_VALUE.match(text, at + len(name))
            if match is None:
                continue
            value = match["value"].rstrip(".,:")
            if is_uuid(value) or is_scrambled(value):
                yield Span(match.start("value"), match.start("value") + len(value), "authorization")


def _find_arguments(text: str, lowered: str, called_names: frozenset[str]) -> Iterator[Span]:
    """Yields literals that look random, if the call before them takes a secret."""
    certain_names, ambiguous_names = called_names & _CERTAIN_CALLS, called_names & _AMBIGUOUS_CALLS
    for literal in _LITERAL.finditer(text):
        value = literal["value"]
        is_app_password = bool(_APP_PASSWORD.match(value))
        if is_uuid(value) or not (
            is_app_password or _TOTP_KEY.match(value) or looks_like_password(value) or is_punctuated_key(value)
        ):
            continue
        before = lowered[max(0, literal.start() - 200) : literal.start() + 1]
        before = before[max(before.rfind("\n"), before.rfind("; "), before.rfind("})")) + 1 :]
        is_certain = any(name in before for name in (("login(", "plainauth(") if is_app_password else certain_names))
        if is_certain or (len(value) >= 20 and is_scrambled(value) and any(name in before for name in ambiguous_names)):
            yield Span(*literal.span("value"), "password")


def _find_options(text: str, lowered: str, found_parts: Set[str]) -> Iterator[Span]:
    """Yields values of options and arguments of commands that take a secret."""
    for option in _OPTION_WITH_VALUE.finditer(text):
        programs, value = _PROGRAMS_BY_OPTION.get(option["name"], ()), option["value"].rstrip(_TRAILING_MARKS)
        if not programs or not _is_secret(value):
            continue
        line = lowered[max(0, option.start() - 201) : option.start()]
        line = " " + line[line.rfind("\n") + 1 :]
        if any(program in line for program in programs):
            yield Span(option.start("value"), option.start("value") + len(value), "password")
    for program, pattern in [
        (name, _COMMAND_PATTERNS[name]) for name in select_found_names(_COMMAND_NAMES, found_parts)
    ]:
        searched_to = 0
        for at in find_places(lowered, program):
            if at < searched_to:
                continue
            start = max(text.rfind("\n", max(0, at - 200), at) + 1, at - 200)
            rest = _REST_OF_LINE.match(text, at)
            searched_to = rest.end() if rest else at + 1
            for match in pattern.finditer(text, start, searched_to):
                value = match["value"].rstrip(_TRAILING_MARKS)
                if _is_secret(value) or (
                    program in _CERTAIN_COMMANDS and len(value) >= 8 and is_odd_value(value, False)
                ):
                    kind = "authorization" if program == "curl" else "password"
                    yield Span(match.start("value"), match.start("value") + len(value), kind)


def _is_secret(value: str) -> bool:
    return looks_like_password(value) or is_uuid(value) or bool(_TOTP_KEY.match(value))
