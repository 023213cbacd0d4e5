"""What the person remarked, or said on refusing a step, where the agent conceded it, said it in full and did so."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from lerim.facts import wording
from lerim.facts.artifacts import artifacts
from lerim.facts.directives import directive
from lerim.facts.draft import Basis, Draft, Found, Quote, Scene
from lerim.facts.sentences import clip, spoken
from lerim.facts.where import changed, named, where
from lerim.sessions.model import ToolCall, Turn

LATER = 2  # replies after the remark in which the agent concedes it
_CONCEDES = re.compile(
    r"^\W{0,4}(?:(?:ah|oh|yes|ok|hmm)[,.!\s]{1,3})?(?:(?:i apologi[sz]e|sorry)[^.!]{0,80}[.!]\s)?(?:you(?:['’]re| are) "
    r"(?:absolutely |totally |completely |quite |100% )?(?:right|correct)|good (?:catch|point)|great (?:catch|point)|"
    r"that['’]s a (?:good|fair|great|better) (?:point|idea|approach)|fair (?:point|enough)|agreed|got it|understood)\b"
    r"[^\w`]{0,6}",
    re.IGNORECASE,
)
_USE = re.compile(
    r"^(?:i(?:['’]ll| can| should(?: have)?| will|['’]m going to)|we (?:can|should|['’]ll)|let['’]s|let me) "
    r"(?:just |simply |instead |directly )?(?P<verb>use|keep|reuse|rely on|store|put|return|call|pass|used|kept|"
    r"reused) "
    r"(?P<x>(?:[^.;]|\.(?=\w)){3,100})$",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"^(?:so |instead,? |and )*you want (?P<x>an? [^,.;]{3,60}?) (?:that|which) (?P<verb>[a-z]{3,12}?)s "
    r"(?P<o>(?:[^.;]|\.(?=\w)){4,120}?)"
    r"(?: (?:to match|so that|because) [^.;]{3,120})?$",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:should(?:n['’]t| not)?|must(?:n['’]t| not)?|no longer|never|always|only|belongs? (?:in|to|with)|cannot|"
    r"can['’]t|"
    r"does(?:n['’]t| not) need|the (?:correct|right|proper|actual) [^,;]{3,50} (?:is|are) |(?:is|are) "
    r"[^,;]{3,60}, not)\b",
    re.IGNORECASE,
)
_ACCORDING = re.compile(r"^according to (?:the )?[^,;]{3,60}, ", re.IGNORECASE)
_DECIDES = re.compile(
    r"^(?:use|keep|reuse|rely|store|put|return|call|pass)\b|\b(?:should|must|never|always|belong)", re.IGNORECASE
)
_DOING = re.compile(
    r"\b(?:let me|i['’]ll|i['’]m|was|were|did|i (?:will|need|should|made|missed|forgot|have)|now|look(?:ing)?|check\w*|"
    r"first|next|step \d)\b",
    re.IGNORECASE,
)
_ADDS = re.compile(
    r"^\s{0,12}(?:export |pub |static |async )*(?:var|const|let|func|fn|def|class|type|struct)\s(?P<n>\w{4,40})",
    re.MULTILINE,
)


def remarks(scene: Scene) -> Iterator[Found]:
    """The remark of the exchange, and what was said on refusing its calls: one decision each, where one was made."""
    prompt = scene.now.said
    replies = [turn for turn in scene.now.replies if not turn.sidechain]
    if prompt is not None and scene.before.replies:
        found = _conceded(scene, prompt, prompt.text, replies[:LATER], None)
        if found is not None:
            yield found
    for at, turn in enumerate(replies):
        for call in turn.tool_calls:
            if call.status == "denied" and call.feedback:
                found = _conceded(scene, turn, call.feedback, replies[at + 1 : at + 1 + LATER], call)
                if found is not None:
                    yield found


def _conceded(scene: Scene, turn: Turn, said: str, replies: list[Turn], denied: ToolCall | None) -> Draft | None:
    """What the agent says in full right after it has conceded the person's words, if it then changed files."""
    own = spoken(said)
    if not own or any(directive(item.text) is not None for item in own):
        return None
    answer = next((reply for reply in replies if reply.text), None)
    match = _CONCEDES.match(answer.text[:400]) if answer is not None else None
    if answer is None or match is None or not _acted(scene, denied):
        return None
    text = re.sub(r"```[^`]{0,4000}(?:```|$)", "\n", clip(answer.text[match.end() :]))
    pieces = [piece.strip(" -*") for piece in re.split(r"(?<=[.!:])\s|\n", text[:1_500])][:5]
    for piece in pieces:
        title = _title(piece)
        if title and not wording.title_fault(title) and not wording.hedged(title) and artifacts(title, scene.known):
            quotes = (
                Quote(max(own, key=lambda item: len(item.text)).text, turn.id, "user"),
                Quote(piece, answer.id, "assistant"),
            )
            return _draft(scene, turn, title, piece, [item for item in pieces if item != piece], quotes, denied)
    return None


def _acted(scene: Scene, denied: ToolCall | None) -> bool:
    """Whether the agent did something in the exchange, and nothing was refused besides what was remarked on."""
    kinds = ("edit", "write", "shell")
    calls = [call for turn in scene.now.replies for call in turn.tool_calls if call.kind in kinds]
    edits = [call for call in calls if call.kind != "shell"]
    refused = [call for call in edits if call.status == "denied" and (denied is None or call.id != denied.id)]
    return not refused and any(call.status == "ok" for call in calls)


def _title(piece: str) -> str:
    flat = wording.squeeze(re.sub(r"\*\*|__", "", piece)).rstrip(" .!:")
    flat = _ACCORDING.sub("", flat)
    if not 12 <= len(flat) <= 240 or flat.endswith("?"):
        return ""
    if match := _WANTS.match(flat):
        both = f"{wording.capital(match['verb'])} {match['o']} in {match['x']}"
        return both if len(both) <= wording.TITLE else both.removesuffix(f" in {match['x']}")
    if match := _USE.match(flat):
        verb = re.sub(r"(?<=reuse|.used)d$", "", match["verb"].lower())
        return wording.fit(
            f"{wording.capital({'used': 'use', 'kept': 'keep'}.get(verb, verb))} {wording.clean(match['x'])}"
        )
    if not _RULE.search(flat) or _DOING.search(flat):
        return ""
    title = wording.fit(
        wording.capital(wording.clean(re.sub(r"^(?:that|but|and|so|the point is)\s", "", flat, flags=re.IGNORECASE)))
    )
    return title if _RULE.search(title) else ""


def _draft(
    scene: Scene,
    turn: Turn,
    title: str,
    piece: str,
    others: list[str],
    quotes: tuple[Quote, ...],
    denied: ToolCall | None,
) -> Draft:
    refused = tuple(scene.locate(path, turn.cwd) for path in denied.paths[:1]) if denied is not None else ()
    refs = named(scene, title) or changed(scene, scene.now) or tuple(path for path in refused if path)
    why = next((other for other in others if re.search(r"\b(?:so|because|since)\b", other) and _plain(other)), "")
    basis: Basis = "denied" if denied is not None else "conceded"
    parts = [
        wording.sentence(title),
        wording.sentence(wording.clean(why)) if why else "",
        _refused(denied),
        where(refs),
    ]
    decides = denied is not None or bool(_DECIDES.search(title))
    return Draft(
        signal="remark",
        basis=basis,
        primitive="decision" if decides else "learning",
        kind=None if decides else "insight",
        title=title,
        body=" ".join(part for part in parts if part),
        turn=turn,
        quotes=quotes,
        artifacts=artifacts(f"{title} {piece}", scene.known),
        references=refs,
    )


def _plain(text: str) -> bool:
    return 20 <= len(text) <= 240 and not wording.personal(text) and not _DOING.search(re.sub(r"\bwas\b", "", text))


def _refused(denied: ToolCall | None) -> str:
    """What the person turned down."""
    if denied is None:
        return "The person remarked on it, and the agent changed the code accordingly."
    if denied.command:
        return f"The person refused to let `{wording.shorten(wording.squeeze(denied.command), 80)}` run."
    if denied.kind == "plan":
        return "The person rejected the agent's plan."
    new = "\n".join(edit.new for edit in denied.edits)
    old = "\n".join(edit.old for edit in denied.edits)
    added = [match["n"] for match in _ADDS.finditer(new) if match["n"] not in old][:2]
    file = posixpath.basename(denied.paths[0].replace("\\", "/")) if denied.paths else ""
    what = f" that added {wording.listing([wording.code(name) for name in added])}" if added else ""
    return f"The person refused an edit{f' of `{file}`' if file else ''}{what}."
