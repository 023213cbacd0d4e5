"""What tokens look like: the literal beginnings their issuers publish, and the shape that follows them.

Every pattern is matched at a known place (its literal), with bounded repetition, so that the cost is linear in the
text; it is compiled when its literal is first met, so that loading this costs nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Span:
    """`text[start:end]` is a secret of this kind."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A literal beginning and the shape of what follows it; `random`: what follows must look made by chance."""

    kind: str
    literal: str
    rest: str
    random: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """Matches from the literal's first character on."""
        return _compiled(self)


@cache
def _compiled(rule: Rule) -> re.Pattern[str]:
    return re.compile(re.escape(rule.literal) + rule.rest)


def _rules(kind: str, heads: str, rest: str, random: bool = False) -> tuple[Rule, ...]:
    return tuple(Rule(kind, head, rest, random) for head in heads.split())


RULES: tuple[Rule, ...] = (
    *_rules("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    *_rules("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,255}"),
    *_rules("github-token", "github_pat_", r"[A-Za-z0-9_]{20,255}"),
    *_rules("gitlab-token", "glpat- glrt- gldt- glptt- glcbt- glsoat-", r"[A-Za-z0-9_.-]{18,300}"),
    *_rules("slack-token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-", r"[A-Za-z0-9-]{10,250}"),
    *_rules("slack-token", "xapp-", r"\d-[A-Z0-9]{5,20}-\d{5,20}-[a-z0-9]{20,100}"),
    *_rules("slack-webhook", "hooks.slack.com/", r"(?:services|workflows)/[A-Za-z0-9+/_-]{20,120}"),
    *_rules("google-api-key", "AIza", r"[A-Za-z0-9_-]{30,60}", True),
    *_rules("google-token", "ya29.", r"[A-Za-z0-9_-]{20,400}"),
    *_rules("google-token", "GOCSPX-", r"[A-Za-z0-9_-]{20,60}"),
    *_rules("anthropic-key", "sk-ant-", r"[A-Za-z0-9_-]{16,250}", True),
    *_rules("openrouter-key", "sk-or-", r"[A-Za-z0-9-]{20,120}", True),
    *_rules("openai-key", "sk-", r"(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{16,250}", True),
    *_rules("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{10,250}"),
    *_rules("webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{16,120}"),
    *_rules("npm-token", "npm_", r"[A-Za-z0-9]{30,60}(?![A-Za-z0-9_])", True),
    *_rules("pypi-token", "pypi-", r"[A-Za-z0-9_-]{40,400}", True),
    *_rules("sendgrid-key", "SG.", r"[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,80}"),
    *_rules("huggingface-token", "hf_", r"[A-Za-z0-9]{30,60}(?![A-Za-z0-9_])"),
    *_rules("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,80}"),
    *_rules("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}"),
    *_rules("groq-key", "gsk_", r"[A-Za-z0-9]{30,80}", True),
    *_rules("xai-key", "xai-", r"[A-Za-z0-9]{40,120}", True),
    *_rules("docker-token", "dckr_pat_", r"[A-Za-z0-9_-]{20,60}"),
    *_rules("linear-key", "lin_api_", r"[A-Za-z0-9]{30,60}"),
    *_rules("atlassian-token", "ATATT3", r"[A-Za-z0-9_=-]{30,300}"),
    *_rules("databricks-token", "dapi", r"[0-9a-f]{32}(?![0-9a-f])"),
    *_rules("replicate-token", "r8_", r"[A-Za-z0-9]{30,50}", True),
    *_rules("supabase-key", "sbp_", r"[0-9a-f]{40}"),
    *_rules("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{40,80}"),
    *_rules("vault-token", "hvs.", r"[A-Za-z0-9_-]{20,200}", True),
    *_rules("mailgun-key", "key-", r"[0-9a-f]{32}(?![0-9A-Za-z-])"),
    *_rules("figma-token", "figd_", r"[A-Za-z0-9_-]{30,80}"),
    *_rules("notion-token", "secret_", r"[A-Za-z0-9]{40,60}(?![A-Za-z0-9_])"),
    *_rules("notion-token", "ntn_", r"[A-Za-z0-9]{40,60}(?![A-Za-z0-9_])"),
    *_rules("twilio-key", "SK", r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    *_rules("discord-webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", r"\d{10,25}/[\w-]{30,100}"),
    *_rules("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    *_rules("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{40,400}"),
    *_rules("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    *_rules("newrelic-key", "NRAK-", r"[A-Z0-9]{27}"),
    *_rules("tailscale-key", "tskey-", r"[a-z]{2,10}-[A-Za-z0-9-]{15,80}"),
    *_rules(
        "doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"
    ),
    *_rules("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_=.-]{32,64}"),
    *_rules("rubygems-key", "rubygems_", r"[0-9a-f]{48}"),
    *_rules("brevo-key", "xkeysib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    *_rules("jwt", "eyJ", r"[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{4,8000}(?:\.[A-Za-z0-9_-]{4,2000})?"),
    *_rules("storage-key", "AccountKey= SharedAccessKey=", r"[A-Za-z0-9+/=]{20,200}"),
)

# two whose beginning is no fixed text: found by their middle, then looked at backwards
TELEGRAM = re.compile(r":[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])")
TELEGRAM_HEAD = re.compile(r"(?<![A-Za-z0-9])\d{8,10}$")
DISCORD = re.compile(r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])")
DISCORD_HEAD = re.compile(r"(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{22,28}$")

PEM_HEAD = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=:,\- \t\r\n]|\\{1,3}[nr]){0,20000}")
PLACEHOLDER = re.compile(
    r"^(?:\$|<|\{|%|\[|\.\.\.|\*{2,}|x{3,}|your|my[-_]|example|dummy|placeholder|change[-_]?(?:me|it)|redacted|none$|"
    r"null$|undefined$|true$|false$|"
    r"todo|test$|fake|secrets?\.|env\.|process\.|import\.meta|os\.|config\.|settings\.|self\.|this\.|req\.|request\.|"
    r"ctx\.|vars?\.|\||&|!|=)"
    r"|redacted|\$\{|\{\{|<[a-z]|\*{4,}|x{8,}|your[-_]|[-_]here$|example\.com",
    re.IGNORECASE,
)
