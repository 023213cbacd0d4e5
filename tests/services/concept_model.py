"""A sentence model in a few lines: two texts mean the same as far as they speak of the same concepts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

CONCEPTS = (
    {"money", "price", "prices", "amounts", "decimal"},
    {"number", "decimal", "cents"},
    {"retry", "backoff", "stampeding"},
    {"deploy", "release"},
)


@dataclass
class ConceptModel:
    """Stands for `SentenceModel`; `texts` has every text that it has read. As if a person pressed Ctrl-C, it stops
    before it has read `stop_at` of them."""

    texts: list[str] = field(default_factory=list)
    stop_at: int | None = None

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        if self.stop_at is not None and len(self.texts) + len(texts) >= self.stop_at:
            raise KeyboardInterrupt
        self.texts += texts
        words = [set(text.lower().replace("?", "").split()) for text in texts]
        return [bytes(bool(some & concept) for concept in CONCEPTS) for some in words]

    def prepare_comparison(
        self, titles: Sequence[bytes], bodies: Sequence[bytes]
    ) -> Callable[[bytes, int], list[tuple[int, float]]]:
        def find_nearest(vector: bytes, most: int) -> list[tuple[int, float]]:
            pairs = zip(titles, bodies, strict=True)
            values = [max(_nearness(vector, title), _nearness(vector, body)) for title, body in pairs]
            return sorted(enumerate(values), key=lambda pair: -pair[1])[:most]

        return find_nearest


def _nearness(one: bytes, other: bytes) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True)) / len(CONCEPTS)
