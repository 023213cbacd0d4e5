"""Makes the ranker from `features.csv.gz`, and measures it on projects it was not trained on: `make train`.

Needs no session: the rows carry their features. The same file, lock and kind of machine give the same bytes.
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
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from lerim.extraction.ranking.cutoff import select_above_cut

HERE = Path(__file__).parent

RANKER = HERE.parents[1] / "server/lerim/extraction/ranking/ranker.json"
FOLDS = 10
ROUNDS = 300
FIRST, FURTHER = 0.6, 4.0
"""So many passages a session are worth a look by themselves, and so many beside one that is."""
LABELS = {"must": 0.55, "maybe": 0.3, "alone yes": 0.4, "alone maybe": 0.15}
"""How likely a passage of each label is worth proposing, by the verdicts on those that were judged; all else is not."""
VERDICTS = {"right": 1.0, "nearly": 0.4, "worthless": 0.0, "wrong": 0.0}
"""The same of the verdicts, which count `VERDICT` times as much: they were given of what the ranker would propose."""
VERDICT = 6.0
TREES = {
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
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Labels:
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
        return np.array([VERDICTS[verdict] if verdict else LABELS.get(label, 0.0) for label, verdict in both])

    @property
    def weight(self) -> Numbers:
        return np.array([VERDICT if verdict else 1.0 for verdict in self.verdict])


def read() -> Labels:
    """The labels of the repository."""
    with gzip.open(HERE / "features.csv.gz", "rt", encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    project, session, prompts, outright, label, verdict, states, kind = map(
        list, zip(*(row[:8] for row in rows), strict=True)
    )
    return Labels(
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


def trees(labels: Labels, rows: NDArray[np.bool_]) -> Any:
    """A model of these rows."""
    data = lightgbm.Dataset(labels.features[rows], labels.worth[rows], weight=labels.weight[rows])
    return lightgbm.train(TREES, data, ROUNDS)


def unseen(labels: Labels) -> Numbers:
    """The score of each passage by a model that saw no session of its project."""
    sizes = {name: labels.project.count(name) for name in set(labels.project)}
    fold = {name: at % FOLDS for at, name in enumerate(sorted(sizes, key=lambda one: (-sizes[one], one)))}
    folds, out = np.array([fold[name] for name in labels.project]), np.zeros(len(labels.label))
    for one in range(FOLDS):
        out[folds == one] = trees(labels, folds != one).predict(labels.features[folds == one], raw_score=True)
    return out


def thresholds(labels: Labels, scores: Numbers) -> tuple[float, float]:
    """The two figures of the cut: as many passages a session as `FIRST` and `FURTHER` say reach them."""
    sessions, ranked = len(set(labels.session)), np.sort(scores)[::-1]
    return round(float(ranked[int(FIRST * sessions)]), 3), round(float(ranked[int(FURTHER * sessions)]), 3)


def figures(labels: Labels, scores: Numbers, first: float, further: float) -> dict[str, float]:
    """What comes of the cut on all labelled sessions. A proposal is right where its label says must or may."""
    must = [len(json.loads(line)["must"]) for line in (HERE / "sessions.jsonl").read_text("utf-8").splitlines()]
    rows: dict[str, list[int]] = defaultdict(list)
    for at, session in enumerate(labels.session):
        rows[session].append(at)
    came = right = found = empty = left_empty = 0
    ranked: list[tuple[float, bool]] = []
    for session, here in rows.items():
        prompts = 1 + max(labels.prompts[at] for at in here)
        places = select_above_cut([float(scores[at]) for at in here], prompts, first, further)
        picked = [here[place] for place in places]
        came += len(picked)
        right += sum(labels.label[at] in ("must", "maybe", "alone yes") for at in picked)
        ranked += [(float(scores[at]), labels.label[at] in ("must", "maybe", "alone yes")) for at in picked]
        found += len(frozenset().union(*(labels.states[at] for at in picked))) if picked else 0
        empty += must[int(session)] == 0
        left_empty += must[int(session)] == 0 and not picked
    top = [good for _, good in sorted(ranked, reverse=True)[: len(ranked) // 3]]
    musts = sum(must[int(session)] for session in rows)
    return {
        "sessions": len(rows),
        "proposals a session": round(came / len(rows), 2),
        "right by the labels": round(right / came, 3),
        "right in the top third": round(sum(top) / len(top), 3),
        "must come": musts,
        "of these found": round(found / musts, 3),
        "nothing must come": empty,
        "of these left empty": round(left_empty / empty, 3),
    }


def types(labels: Labels) -> dict[str, list[float]]:
    """For each type a bias and the weights of the features, as they stand (not standardized)."""
    rows = np.array([bool(one) for one in labels.type])
    scaler = StandardScaler().fit(labels.features[rows])
    weight = [2.0 if label == "must" else 1.0 for label, one in zip(labels.label, rows, strict=True) if one]
    kinds = [kind for kind in labels.type if kind]
    fitted = LogisticRegression(C=0.03, max_iter=5000).fit(scaler.transform(labels.features[rows]), kinds, weight)
    out = {}
    for name, weights, bias in zip(fitted.classes_, fitted.coef_, fitted.intercept_, strict=True):
        plain = weights / scaler.scale_
        out[str(name)] = [_short(float(bias - plain @ scaler.mean_)), *(_short(float(one)) for one in plain)]
    return out


def exported(booster: Any) -> list[dict[str, list[float]]]:
    """The trees as the program reads them."""
    return [_tree(one["tree_structure"]) for one in booster.dump_model()["tree_info"]]


def _tree(root: dict[str, Any]) -> dict[str, list[float]]:
    out: dict[str, list[float]] = {"feature": [], "at": [], "yes": [], "no": [], "leaf": []}

    def add(node: dict[str, Any]) -> int:
        if "leaf_value" in node:
            out["leaf"].append(_short(node["leaf_value"]))
            return -len(out["leaf"])
        at = len(out["feature"])
        out["feature"].append(node["split_feature"])
        out["at"].append(_short(node["threshold"]))
        for side in ("yes", "no"):
            out[side].append(0)
        out["yes"][at] = add(node["left_child"])
        out["no"][at] = add(node["right_child"])
        return at

    if "leaf_value" in root:  # a tree of one leaf: a question both answers of which lead there
        return {"feature": [0], "at": [0.0], "yes": [-1], "no": [-1], "leaf": [_short(root["leaf_value"])]}
    add(root)
    return out


def _short(value: float) -> float:
    """Four digits: more make the file larger and change nothing."""
    return float(f"{value:.4g}") if math.isfinite(value) else value


def main() -> None:
    """Writes ranker.json and scores.json, and prints the figures."""
    warnings.filterwarnings("ignore")
    labels = read()
    scores = unseen(labels)
    first, further = thresholds(labels, scores)
    model = {
        "names": labels.names,
        "first": first,
        "further": further,
        "trees": exported(trees(labels, np.ones(len(labels.label), dtype=bool))),
        "types": types(labels),
    }
    RANKER.write_text(json.dumps(model, separators=(",", ":")) + "\n", "utf-8")
    raised = np.where(labels.outright, np.maximum(scores, first), scores)
    told = figures(labels, raised, first, further)
    (HERE / "scores.json").write_text(json.dumps(told, indent=2) + "\n", "utf-8")
    print(f"{RANKER.name}: {RANKER.stat().st_size / 1000:.0f} kB")
    for name, value in told.items():
        print(f"{name:24} {value}")


if __name__ == "__main__":
    main()
