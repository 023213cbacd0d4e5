"""What secrets look like: literal beginnings with the shape that follows them, and the words a value is assigned to.

Written from the token formats their issuers publish. Every pattern is matched at a known place (after its literal),
with bounded repetition, so that the cost is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A literal beginning and the pattern that must match from its first character on; `random`: must look random."""

    kind: str
    literal: str
    pattern: re.Pattern[str]
    random: bool = False


def _rule(kind: str, literal: str, rest: str, random: bool = False) -> Rule:
    return Rule(kind, literal, re.compile(re.escape(literal) + rest), random)


RULES: tuple[Rule, ...] = (
    *(_rule("aws-access-key", head, r"[A-Z0-9]{16}(?![A-Za-z0-9])") for head in ("AKIA", "ASIA", "ABIA", "ACCA")),
    *(_rule("github-token", head, r"[A-Za-z0-9]{20,255}") for head in ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    _rule("github-token", "github_pat_", r"[A-Za-z0-9_]{20,255}"),
    *(
        _rule("gitlab-token", head, r"[A-Za-z0-9_.-]{18,300}")
        for head in ("glpat-", "glrt-", "gldt-", "glptt-", "glcbt-", "glsoat-")
    ),
    *(_rule("slack-token", f"xox{kind}-", r"[A-Za-z0-9-]{10,250}") for kind in "abeoprs"),
    _rule("slack-token", "xapp-", r"\d-[A-Z0-9]{5,20}-\d{5,20}-[a-z0-9]{20,100}"),
    _rule("slack-webhook", "hooks.slack.com/", r"(?:services|workflows)/[A-Za-z0-9+/_-]{20,120}"),
    _rule("google-api-key", "AIza", r"[A-Za-z0-9_-]{30,60}", True),
    _rule("google-token", "ya29.", r"[A-Za-z0-9_-]{20,400}"),
    _rule("google-token", "GOCSPX-", r"[A-Za-z0-9_-]{20,60}"),
    _rule("anthropic-key", "sk-ant-", r"[A-Za-z0-9_-]{16,250}", True),
    _rule("openrouter-key", "sk-or-", r"[A-Za-z0-9-]{20,120}", True),
    _rule("openai-key", "sk-", r"(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{16,250}", True),
    *(_rule("stripe-key", head, r"[A-Za-z0-9]{10,250}") for head in ("sk_live_", "sk_test_", "rk_live_", "rk_test_")),
    _rule("webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{16,120}"),
    _rule("npm-token", "npm_", r"[A-Za-z0-9]{30,60}(?![A-Za-z0-9_])", True),
    _rule("pypi-token", "pypi-", r"[A-Za-z0-9_-]{40,400}", True),
    _rule("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,80}", True),
    _rule("huggingface-token", "hf_", r"[A-Za-z0-9]{30,60}(?![A-Za-z0-9_])", True),
    _rule("digitalocean-token", "dop_v1_", r"[0-9a-f]{40,80}"),
    *(_rule("shopify-token", head, r"[0-9a-fA-F]{32}") for head in ("shpat_", "shpca_", "shppa_", "shpss_")),
    _rule("groq-key", "gsk_", r"[A-Za-z0-9]{30,80}", True),
    _rule("xai-key", "xai-", r"[A-Za-z0-9]{40,120}", True),
    _rule("docker-token", "dckr_pat_", r"[A-Za-z0-9_-]{20,60}"),
    _rule("linear-key", "lin_api_", r"[A-Za-z0-9]{30,60}"),
    _rule("atlassian-token", "ATATT3", r"[A-Za-z0-9_=-]{30,300}"),
    _rule("databricks-token", "dapi", r"[0-9a-f]{32}(?![0-9a-f])"),
    _rule("replicate-token", "r8_", r"[A-Za-z0-9]{30,50}", True),
    _rule("supabase-key", "sbp_", r"[0-9a-f]{40}"),
    _rule("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{40,80}"),
    _rule("vault-token", "hvs.", r"[A-Za-z0-9_-]{20,200}", True),
    _rule("jwt", "eyJ", r"[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{4,8000}(?:\.[A-Za-z0-9_-]{4,2000})?"),
    _rule("storage-key", "AccountKey=", r"[A-Za-z0-9+/=]{20,200}"),
    _rule("storage-key", "SharedAccessKey=", r"[A-Za-z0-9+/=]{20,200}"),
)

# lower case; (word, whether the value must look random: a password may be a word with a digit, a token is not)
WORDS: tuple[tuple[str, str, bool], ...] = (
    ("password", "password", False),
    ("passwd", "password", False),
    ("passphrase", "password", False),
    ("pwd", "password", False),
    ("pgpassword", "password", False),
    ("secret", "secret", True),
    ("token", "token", True),
    ("api_key", "api-key", True),
    ("apikey", "api-key", True),
    ("api-key", "api-key", True),
    ("access_key", "secret", True),
    ("accesskey", "secret", True),
    ("private_key", "secret", True),
    ("privatekey", "secret", True),
    ("credential", "secret", True),
    ("auth_key", "secret", True),
    ("encryption_key", "secret", True),
    ("signing_key", "secret", True),
)

ASSIGNED = re.compile(
    r"(?P<suffix>[A-Za-z0-9_-]{0,24})[\"'`]?\s{0,4}(?:=>|:=|==?|:)\s{0,4}"
    r"(?:\"(?P<double>[^\"\n]{1,400})\"|'(?P<single>[^'\n]{1,400})'|`(?P<tick>[^`\n]{1,400})`|(?P<bare>[^\s\"'`,;(){}<>\\]{4,400}))"
)
SPOKEN = re.compile(r"\s{1,2}(?:is|was)\s{1,2}[\"'`]?(?P<bare>[^\s\"'`,;]{6,200})")
OPTION = re.compile(r"(?P<suffix>)\s{1,3}[\"']?(?P<bare>[^\s\"'-][^\s\"']{5,200})")
BEARER = re.compile(r"(?i:bearer|basic|token)\s{1,2}(?P<value>[A-Za-z0-9._~+/-]{12,2000}={0,2})")
CREDENTIALS = re.compile(r"://(?P<user>[^\s:@/\"'<>`]{0,120}):(?P<value>[^\s@/\"'<>`]{1,200})@")
PEM_HEAD = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=:,\- \t\r\n]|\\[nr]){0,20000}")
PEM_TAIL = "PRIVATE KEY"
PLACEHOLDER = re.compile(
    r"^(?:\$|<|\{|%|\[|\.\.\.|\*{2,}|x{3,}|your|my[-_]|example|dummy|placeholder|change[-_]?me|redacted|none$|null$|"
    r"undefined$|true$|false$|"
    r"todo|test$|fake|secrets?\.|env\.|process\.|os\.|config\.|settings\.|self\.|this\.|req\.|request\.|ctx\.|"
    r"vars?\.|\||&|!|=)"
    r"|redacted|\$\{|\{\{|<[a-z]|\*{4,}|x{8,}|your[-_]|[-_]here$|example\.com",
    re.IGNORECASE,
)
NAME = re.compile(r"^[A-Za-z_][A-Za-z_]{0,60}(?:[.\[:-]{1,2}[A-Za-z_][\w\]]{0,60}){0,8}$")
