"""Answers questions about a project, sentence by sentence, with handles for the memories they cite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from lerim.assistant import Answer, Citation, Question, Sentence
from lerim.lsp.protocol import ANSWER, AskParams, to_wire
from lerim.lsp.window import HandleTarget, Sidecar
from lerim.memory import file_handle

if TYPE_CHECKING:
    from lerim.lsp.window import Repo

MAX_QUESTION = 4000


class AnswerParams(msgspec.Struct, frozen=True):
    """One sentence of the answer to the question of this `token`, as soon as it is complete."""

    token: str
    sentence: Sentence


async def ask_question(sidecar: Sidecar, params: AskParams) -> Answer:
    """Answers a question. Each complete sentence is sent as a notification first. Cancelling stops the model."""
    repo = await sidecar.find_trusted_repo(params.root, "Ask")

    def send_sentence(sentence: Sentence) -> None:
        cited = _with_known_handles(sidecar, repo, sentence)
        sidecar.server.protocol.notify(ANSWER, to_wire(AnswerParams(params.token, cited)))

    question = Question(params.question[:MAX_QUESTION], "auto", params.all)
    answer = await sidecar.jobs.ask(repo.project.root, question, send_sentence)
    return msgspec.structs.replace(
        answer,
        sentences=[_with_known_handles(sidecar, repo, item) for item in answer.sentences],
        passages=[
            msgspec.structs.replace(item, citation=_with_known_handle(sidecar, repo, item.citation))
            for item in answer.passages
        ],
    )


def _with_known_handles(sidecar: Sidecar, repo: Repo, sentence: Sentence) -> Sentence:
    return msgspec.structs.replace(
        sentence, citations=tuple(_with_known_handle(sidecar, repo, item) for item in sentence.citations)
    )


def _with_known_handle(sidecar: Sidecar, repo: Repo, citation: Citation) -> Citation:
    """Replaces the job's handle of a cited memory by one of this process. The job's handle only shows whether the
    memory is the project's or personal."""
    if citation.kind != "memory":
        return citation
    name = citation.ref.removeprefix("m:")
    path = repo.store.path_of(name)
    is_project_memory = path is not None and file_handle(path) == citation.handle
    root = repo.project.root if is_project_memory else sidecar.home.root
    return msgspec.structs.replace(citation, handle=sidecar.handles.remember(HandleTarget(root, name)))
