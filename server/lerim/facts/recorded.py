"""What the agent wrote down of the person's words: notes in its own memory, lines in the project's files of rules."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lerim.facts import wording
from lerim.facts.artifacts import artifacts
from lerim.facts.draft import Draft, Found, Quote, Scene, Unclear
from lerim.facts.retold import head
from lerim.facts.sentences import spoken
from lerim.facts.where import RULES, named, where
from lerim.memory.record import LearningKind, Primitive
from lerim.sessions.model import Edit, ToolCall, Turn

ADDED = 60  # lines added to files of rules from which they are documentation, not what was just said
WHOLE = 2_000  # characters of a file written anew that is documentation, too
_NOTE = re.compile(r"(?:^|/)\.claude/(?:projects/[^/]{1,200}/)?memory/(?P<name>[\w.-]{1,80})\.md$")
_SAVES = re.compile(r"^(?:save|store|update)_?memory$", re.IGNORECASE)
"""The tools by which agents keep a fact; the call's command is the fact."""
_FIELD = re.compile(r"^\s{0,4}(?P<key>description|type):\s{0,3}(?P<value>\S[^\n]{2,400})$", re.MULTILINE)
_WHY = re.compile(r"^\*\*Why:?\*\*:?\s{0,3}(?P<why>[^\n]{10,400}(?:\n(?!\n)[^\n*]{1,200}){0,6})", re.MULTILINE)
_TOPIC = re.compile(
    r"^(?:feedback|notes?|how|why|what|where|info\w*|context|details?|preferences?|lessons?|overview|summary|status|"
    r"current|working)\b(?! (?:is|are|must|never|always)\b)",
    re.IGNORECASE,
)
_PERSON = re.compile(r"^(?:the )?(?:user|owner|developer|human) (?:strongly )?(?P<v>prefers|likes)\b ", re.IGNORECASE)
_STRONG = re.compile(
    r"\b(?:always|never|must(?! have been\b)|do not|don't|may not|only|required?|forbidden|prohibited|prefer|avoid|"
    r"instead of|rather than|(?:is|are|be) not \w{2,16}(?:ed|en)|no longer)\b",
    re.IGNORECASE,
)
_VAGUE = re.compile(
    r"^(?:the|a|an) (?:standard|rule|policy|ruling|convention|line|point|same|valve|process)\b", re.IGNORECASE
)
_MARK = re.compile(r"^\s{0,12}(?:[-*•]|\d{1,2}[.)]|>)\s{1,4}|^#{1,6}\s")
_DATED = re.compile(r"\s?\([^()]{0,60}\b20\d\d-\d\d-\d\d[^()]{0,20}\)")
_LEAD = re.compile(r"^\*\*(?P<lead>[^*]{4,160})\*\*")
_WORD = re.compile(r"[a-z][a-z-]{3,30}")
_COMMON = "that this with from have will when what your they them then than also just like make sure"
_PLAIN = frozenset(_COMMON.split())


def recorded(scene: Scene) -> Iterator[Found]:
    """Notes the agent took of what the person said, else the line in a file of rules that says it."""
    prompt = scene.now.said
    if prompt is None or not spoken(prompt.text):
        return
    heard = [prompt, *([scene.before.prompt] if scene.before.prompt is not None else [])]
    notes = [found for turn, edit in _edits(scene) if (found := _note(scene, heard, turn, edit)) is not None]
    notes += [found for turn, call in _saved(scene) if (found := _fact(scene, heard, turn, call.command)) is not None]
    yield from notes[:2]
    if not notes and (found := _line(scene, prompt)) is not None:
        yield found


def _edits(scene: Scene) -> Iterator[tuple[Turn, Edit]]:
    for turn in scene.now.replies:
        if not turn.sidechain:
            for call in turn.tool_calls:
                if call.kind in ("edit", "write") and call.status == "ok":
                    yield from ((turn, edit) for edit in call.edits)


def _saved(scene: Scene) -> Iterator[tuple[Turn, ToolCall]]:
    for turn in scene.now.replies:
        if not turn.sidechain:
            yield from ((turn, call) for call in turn.tool_calls if call.status == "ok" and _SAVES.match(call.name))


def _fact(scene: Scene, heard: list[Turn], turn: Turn, said: str) -> Found | None:
    """A fact the agent saved, as Gemini CLI and Copilot keep them: a line, of which the person had just spoken."""
    text = wording.squeeze(_PERSON.sub("Prefer ", _flat(said)))
    shared, prompt = max(((_shared(one.text, text), one) for one in heard), key=lambda pair: pair[0])
    if not 12 <= len(text) <= 300 or shared < 2 or not spoken(prompt.text) or _TOPIC.match(text):
        return None
    title = _title(text)
    strong = _STRONG.search(title)
    if not strong or not artifacts(title, scene.known):
        return None
    fault = wording.title_fault(title) or ("" if len(title.split()) > 3 else "too short to say anything")
    if fault:
        return Unclear("rule", text, turn, fault)
    parts = [title if wording.personal(text) else text]
    return _draft(scene, prompt, turn, title, parts, said.strip(), (), (), ("learning", "preference"))


def _note(scene: Scene, heard: list[Turn], turn: Turn, edit: Edit) -> Found | None:
    """A note with a header, as Claude Code's memory keeps them: what the person ruled, and what they decided."""
    match = _NOTE.search(edit.path.replace("\\", "/"))
    if match is None or edit.old or not edit.new.lstrip().startswith("---"):
        return None
    fields = {item["key"]: item["value"].strip(" \"'") for item in _FIELD.finditer(edit.new[:1_200])}
    said, kind = fields.get("description", ""), fields.get("type", "")
    shared, prompt = max(((_shared(one.text, said), one) for one in heard), key=lambda pair: pair[0])
    if kind not in ("feedback", "project") or _TOPIC.match(said) or shared < 2 or not spoken(prompt.text):
        return None
    title = _title(said)
    fault = wording.title_fault(title) or ("" if len(title.split()) > 3 else "too short to say anything")
    if fault:
        return Unclear("rule", said, turn, fault)
    told = _WHY.search(edit.new)
    why = re.split(r"(?<=[.!])\s", wording.squeeze(_flat(told["why"])))[0] if told else ""
    parts = [title if wording.personal(said) else said, why if why and not wording.personal(why) else ""]
    habit: LearningKind = "preference" if kind == "feedback" else "insight"
    return _draft(scene, prompt, turn, title, parts, said, (f"{match['name']}.md",), (), ("learning", habit))


def _line(scene: Scene, prompt: Turn) -> Found | None:
    """The line added to a file of rules that says what the person just said."""
    best: tuple[int, Draft] | None = None
    added = 0
    for turn, edit in _edits(scene):
        path = scene.locate(edit.path, turn.cwd)
        if not path or not RULES.search(path):
            continue
        blocks = _blocks(edit)
        whole = not edit.old and len(edit.new) >= WHOLE
        added += ADDED + 1 if whole else sum(block.count("\n") + 1 for block in blocks)
        for block in blocks:
            lead = _LEAD.match(block.strip())
            for raw in re.split(r"(?<=[.!])(?:\*\*)?\s|\s\|\s", block):
                found = _rule(scene, prompt, turn, path, raw, lead["lead"] if lead else "")
                if found is not None and (best is None or found[0] > best[0]):
                    best = found
    return best[1] if best is not None and added <= ADDED else None


def _rule(scene: Scene, prompt: Turn, turn: Turn, path: str, raw: str, lead: str) -> tuple[int, Draft] | None:
    text = wording.squeeze(_flat(raw)).strip(" |")
    shared = _shared(prompt.text, f"{lead} {text}")
    # what the person spoke of has to be in the line itself, or it is not understood without its heading
    if (
        not 12 <= len(text) <= 300
        or _shared(prompt.text, text) < 2
        or not _STRONG.search(text)
        or text.endswith(("?", ":"))
    ):
        return None
    title = _title(text)
    vague = _VAGUE.match(title) and not artifacts(title, scene.known)
    if wording.title_fault(title) or vague or not _STRONG.search(title) or len(title.split()) < 4:
        return None
    quote = _MARK.sub("", raw).strip(" |*")
    parts = [text if not wording.personal(text) and not wording.loose(text) else title]
    return shared, _draft(scene, prompt, turn, title, parts, quote, (), (path,), ("decision", None), lead)


def _draft(
    scene: Scene,
    prompt: Turn,
    turn: Turn,
    title: str,
    parts: list[str],
    quote: str,
    names: tuple[str, ...],
    refs: tuple[str, ...],
    what: tuple[Primitive, LearningKind | None],
    lead: str = "",
) -> Draft:
    own = max(spoken(prompt.text), key=lambda item: _shared(item.text, f"{lead} {quote}"))
    refs = tuple(dict.fromkeys((*named(scene, title), *refs)))[:3]
    told = "The agent wrote it down after the person had said so."
    end = head(title, quote)
    return Draft(
        signal="rule",
        basis="recorded",
        primitive=what[0],
        kind=what[1],
        title=title,
        body=" ".join(
            part for part in (*(wording.sentence(part) for part in parts if part), told, where(refs)) if part
        ),
        turn=prompt,
        quotes=(Quote(own.text, prompt.id, "user"), Quote(quote[:end] if end > 0 else quote, turn.id, "assistant")),
        artifacts=(*artifacts(title, scene.known), *names),
        references=refs,
    )


def _blocks(edit: Edit) -> list[str]:
    """The paragraphs, points and rows that the edit adds, without code."""
    had = {line.strip() for line in edit.old.split("\n")}
    out: list[str] = []
    fresh, fenced = True, False
    for line in edit.new.split("\n"):
        if line.lstrip().startswith("```"):
            fenced, fresh = not fenced, True
        elif fenced or not line.strip() or line.strip() in had:
            fresh = True
        elif fresh or _MARK.match(line) or line.startswith("|"):
            out.append(line)
            fresh = False
        else:
            out[-1] = f"{out[-1]}\n{line}"
    return out


def _title(said: str) -> str:
    text = _PERSON.sub("Prefer ", wording.clean(_DATED.sub("", said)))
    text = re.sub(r"(?<=\w{4}) [-–—]{1,2} .*$|(?<=\w{4}); .*$", "", text) if len(text) > 60 else text
    return wording.capital(wording.fit(text))


def _flat(text: str) -> str:
    return _DATED.sub("", re.sub(r"\*\*|__|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)", "", _MARK.sub("", text)))


def _shared(one: str, other: str) -> int:
    """How many words that carry meaning the two texts share, whatever their endings."""
    return len(_stems(one) & _stems(other))


def _stems(text: str) -> set[str]:
    words = _WORD.findall(text.lower()[:4_000])
    return {re.sub(r"(?:ing|ed|es|s)$", "", word) for word in words if word not in _PLAIN}
