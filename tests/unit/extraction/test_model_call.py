"""Asking a model with a signature: what is read of an answer, and what is asked once more."""

import json

from pydantic import BaseModel

from lerim.extraction.model.model_call import ask_signature, salvage_items
from lerim.extraction.model.signatures import MemoryCandidate
from lerim.models import dspy
from scripted_lm import Script, item

PNPM = item("Use pnpm, not npm", "Use pnpm here, not npm", 0, body="Use pnpm, because the lockfile is pnpm's.")


class Note(BaseModel):
    text: str
    turn: int = 0


class NoteSignature(dspy.Signature):
    """Say one thing."""

    transcript: str = dspy.InputField()
    note: Note = dspy.OutputField()


def test_any_signature_with_one_output_field_can_be_asked() -> None:
    answer = '[[ ## note ## ]]\n{"text": "hello"}\n\n[[ ## completed ## ]]\n'
    assert ask_signature(Script(answer).lm, NoteSignature, {"transcript": "x"}, Note, think=False).items == (
        Note(text="hello"),
    )
    broken = '[[ ## note ## ]]\n{"text": "hello", "turn": "x"}\n\n[[ ## completed ## ]]\n'
    script = Script(broken, answer)
    assert ask_signature(script.lm, NoteSignature, {"transcript": "x"}, Note, think=False).items == (
        Note(text="hello"),
    )
    assert "could not be read" in script.prompts[1]


def test_what_cannot_be_a_list_of_candidates_is_said() -> None:
    for text in ("", "[", "{", "[[ ## primitives ## ]]\n", "[1, 2]", "null", "[" * 5_000, '{"primitives": 5}'):
        assert salvage_items(text, "primitives", MemoryCandidate).parse_error, text
    assert salvage_items("[]", "primitives", MemoryCandidate).items == ()
    for text in (json.dumps({"primitives": [PNPM]}), f"Sure! Here they are:\n```json\n{json.dumps([PNPM])}\n```"):
        [found] = salvage_items(text, "primitives", MemoryCandidate).items
        assert found.title == PNPM["title"]
