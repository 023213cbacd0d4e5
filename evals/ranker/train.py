"""Trains the ranker from `features.csv.gz`, and measures it by cross-validation over projects: `make train`.

No sessions are needed, since the rows have the features. The same file, lock and kind of machine give the same bytes.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import warnings
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from lerim.extraction.ranking.ranker import select_above_cut

FOLDER = Path(__file__).parent

RANKER_FILE = FOLDER.parents[1] / "server/lerim/extraction/ranking/ranker.json"
FOLDS = 10
ROUNDS = 300
FIRST_PER_SESSION, FURTHER_PER_SESSION = 0.6, 4.0
"""How many passages per session should reach the first threshold, and how many the second. The second applies to
further passages of a session in which one reaches the first."""
LABEL_WORTH = {"must": 0.55, "maybe": 0.3, "alone yes": 0.4, "alone maybe": 0.15}
"""The probability that a passage with this label is worth proposing, estimated from verdicts; 0 for other labels."""
VERDICT_WORTH = {"right": 1.0, "nearly": 0.4, "worthless": 0.0, "wrong": 0.0}
"""The same by verdict. Verdicts weigh `VERDICT_WEIGHT` times as much, for they are on what the ranker would propose."""
VERDICT_WEIGHT = 6.0
TREE_PARAMETERS = {
    "objective": "cross_entropy",
    "num_leaves": 15,
    "learning_rate": 0.04,
    "min_data_in_leaf": 30,
    "feature_fraction": 0.2,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 10,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "verbose": -1,
    "seed": 7,
}
Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelledPassages:
    """The passages of all labelled sessions, row by row, in the order of the file."""

    names: list[str]
    project: list[str]
    session: list[str]
    prompts: list[int]
    outright: list[bool]
    label: list[str]
    verdict: list[str]
    states: list[frozenset[int]]
    type: list[str]
    features: Numbers

    @property
    def worth(self) -> Numbers:
        both = zip(self.label, self.verdict, strict=True)
        return np.array([VERDICT_WORTH[verdict] if verdict else LABEL_WORTH.get(label, 0.0) for label, verdict in both])

    @property
    def weight(self) -> Numbers:
        return np.array([VERDICT_WEIGHT if verdict else 1.0 for verdict in self.verdict])


def load_passages() -> LabelledPassages:
    """Reads `features.csv.gz`."""
    with gzip.open(FOLDER / "features.csv.gz", "rt", encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    project, session, prompts, outright, label, verdict, states, kind = map(
        list, zip(*(row[:8] for row in rows), strict=True)
    )
    return LabelledPassages(
        head[8:],
        project,
        session,
        [int(one) for one in prompts],
        [one == "1" for one in outright],
        label,
        verdict,
        [frozenset(map(int, one.split())) for one in states],
        kind,
        np.array([[float(value) for value in row[8:]] for row in rows]),
    )


def train_trees(labels: LabelledPassages, rows: NDArray[np.bool_]) -> Any:
    """Trains a model on these rows."""
    data = lightgbm.Dataset(labels.features[rows], labels.worth[rows], weight=labels.weight[rows])
    return lightgbm.train(TREE_PARAMETERS, data, ROUNDS)


def cross_validate(labels: LabelledPassages) -> Numbers:
    """The score of each passage by a model that was trained without its project."""
    sizes = {name: labels.project.count(name) for name in set(labels.project)}
    fold = {name: at % FOLDS for at, name in enumerate(sorted(sizes, key=lambda one: (-sizes[one], one)))}
    folds, out = np.array([fold[name] for name in labels.project]), np.zeros(len(labels.label))
    for one in range(FOLDS):
        out[folds == one] = train_trees(labels, folds != one).predict(labels.features[folds == one], raw_score=True)
    return out


def find_thresholds(labels: LabelledPassages, scores: Numbers) -> tuple[float, float]:
    """The two thresholds of the cut, reached by `FIRST_PER_SESSION` and `FURTHER_PER_SESSION` passages a session."""
    sessions, ranked = len(set(labels.session)), np.sort(scores)[::-1]
    first, further = (ranked[int(per_session * sessions)] for per_session in (FIRST_PER_SESSION, FURTHER_PER_SESSION))
    return round(float(first), 3), round(float(further), 3)


def figures(labels: LabelledPassages, scores: Numbers, first: float, further: float) -> dict[str, float]:
    """The figures of the cut on all labelled sessions. A proposal is right if its label is must, maybe or alone yes."""
    must = [len(json.loads(line)["must"]) for line in (FOLDER / "sessions.jsonl").read_text("utf-8").splitlines()]
    rows: dict[str, list[int]] = defaultdict(list)
    for at, session in enumerate(labels.session):
        rows[session].append(at)
    proposed_count = right_count = found_count = empty_count = left_empty_count = 0
    ranked: list[tuple[float, bool]] = []
    for session, here in rows.items():
        prompts = 1 + max(labels.prompts[at] for at in here)
        places = select_above_cut([float(scores[at]) for at in here], prompts, first, further)
        picked = [here[place] for place in places]
        proposed_count += len(picked)
        right_count += sum(labels.label[at] in ("must", "maybe", "alone yes") for at in picked)
        ranked += [(float(scores[at]), labels.label[at] in ("must", "maybe", "alone yes")) for at in picked]
        found_count += len(frozenset().union(*(labels.states[at] for at in picked))) if picked else 0
        empty_count += must[int(session)] == 0
        left_empty_count += must[int(session)] == 0 and not picked
    top = [good for _, good in sorted(ranked, reverse=True)[: len(ranked) // 3]]
    musts = sum(must[int(session)] for session in rows)
    return {
        "sessions": len(rows),
        "proposals a session": round(proposed_count / len(rows), 2),
        "right by the labels": round(right_count / proposed_count, 3),
        "right in the top third": round(sum(top) / len(top), 3),
        "must come": musts,
        "of these found": round(found_count / musts, 3),
        "nothing must come": empty_count,
        "of these left empty": round(left_empty_count / empty_count, 3),
    }


def fit_type_weights(labels: LabelledPassages) -> dict[str, list[float]]:
    """For each type a bias and the weights of the features (not standardized)."""
    rows = np.array([bool(one) for one in labels.type])
    scaler = StandardScaler().fit(labels.features[rows])
    weight = [2.0 if label == "must" else 1.0 for label, one in zip(labels.label, rows, strict=True) if one]
    kinds = [kind for kind in labels.type if kind]
    fitted = LogisticRegression(C=0.03, max_iter=5000).fit(scaler.transform(labels.features[rows]), kinds, weight)
    out = {}
    for name, weights, bias in zip(fitted.classes_, fitted.coef_, fitted.intercept_, strict=True):
        unscaled = weights / scaler.scale_
        out[str(name)] = [_round(float(bias - unscaled @ scaler.mean_)), *(_round(float(one)) for one in unscaled)]
    return out


def export_trees(booster: Any) -> list[dict[str, list[float]]]:
    """The trees in the format that the program reads."""
    return [_export_tree(one["tree_structure"]) for one in booster.dump_model()["tree_info"]]


def _export_tree(root: dict[str, Any]) -> dict[str, list[float]]:
    out: dict[str, list[float]] = {"feature": [], "at": [], "yes": [], "no": [], "leaf": []}

    def add(node: dict[str, Any]) -> int:
        if "leaf_value" in node:
            out["leaf"].append(_round(node["leaf_value"]))
            return -len(out["leaf"])
        at = len(out["feature"])
        out["feature"].append(node["split_feature"])
        out["at"].append(_round(node["threshold"]))
        for side in ("yes", "no"):
            out[side].append(0)
        out["yes"][at] = add(node["left_child"])
        out["no"][at] = add(node["right_child"])
        return at

    if "leaf_value" in root:  # a tree with a single leaf becomes a split with that leaf on both sides
        return {"feature": [0], "at": [0.0], "yes": [-1], "no": [-1], "leaf": [_round(root["leaf_value"])]}
    add(root)
    return out


def _round(value: float) -> float:
    """Rounds to four significant digits. More make the file larger and change nothing."""
    return float(f"{value:.4g}") if math.isfinite(value) else value


def main() -> None:
    """Writes ranker.json and scores.json, and prints the figures."""
    warnings.filterwarnings("ignore")
    labels = load_passages()
    scores = cross_validate(labels)
    first, further = find_thresholds(labels, scores)
    model = {
        "names": labels.names,
        "first": first,
        "further": further,
        "trees": export_trees(train_trees(labels, np.ones(len(labels.label), dtype=bool))),
        "types": fit_type_weights(labels),
    }
    RANKER_FILE.write_text(json.dumps(model, separators=(",", ":")) + "\n", "utf-8")
    scores_with_rules = np.where(labels.outright, np.maximum(scores, first), scores)
    measured = figures(labels, scores_with_rules, first, further)
    (FOLDER / "scores.json").write_text(json.dumps(measured, indent=2) + "\n", "utf-8")
    print(f"{RANKER_FILE.name}: {RANKER_FILE.stat().st_size / 1000:.0f} kB")
    for name, value in measured.items():
        print(f"{name:24} {value}")


if __name__ == "__main__":
    main()
