"""Predictions for a plan from scratch: clone, fit and predict, one fit and question at a time.

The plan is read from its JSON form only, with lists and sets. No code is shared with any engine,
nor with what a Plan provides for engines.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import clone

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.data.data import Data
from truerisk.models.stated.degrees_of_freedom import bring_to_minimum, degrees_of_freedom
from truerisk.models.stated.linear_rule import linear_rule
from truerisk.plan.extras.linear_rules import LinearRules
from truerisk.plan.plan import Plan


@frozen
class Decoded:
    """A plan in plain lists: rows in ascending order, repeated as often as they occur."""

    train: list[list[int]]
    labels: list[dict[int, int]]
    questions: list[tuple[int, list[int]]]  # fit and distinct rows of every question
    free: set[int]  # fits whose degrees of freedom are requested, at the minimum


def decoded(plan: Plan) -> Decoded:
    """Return the content of the plan's JSON."""
    content = plan.to_dict()
    offsets, rows = content["blocks.offsets"], content["blocks.rows"]
    counts = content.get("blocks.counts", [1] * len(rows))
    blocks = [Counter(dict(zip(rows[a:b], counts[a:b], strict=True))) for a, b in pairwise(offsets)]
    train = [_set(content, "train", s, blocks) for s in range(len(content["train.base"]))]
    test = [_set(content, "test", s, blocks) for s in range(len(content["test.base"]))]
    labels: list[dict[int, int]] = [{} for _ in train]
    flips = [content.get(f"flips.{name}", []) for name in ("fit", "row", "code")]
    for fit, row, code in zip(*flips, strict=True):
        labels[fit][row] = code
    return Decoded(
        [sorted(seen.elements()) for seen in train],
        labels,
        [(fit, sorted(requested)) for fit, requested in zip(content["fit"], test, strict=True)],
        {content["fit"][question] for question in content.get("freedom", [])},
    )


def _set(content: dict[str, Any], name: str, s: int, blocks: list[Counter[int]]) -> Counter[int]:
    """Return the base of row set `s`, all rows or a block, without the rows of removed blocks."""
    base = content[f"{name}.base"][s]
    start, end = content[f"{name}.offsets"][s : s + 2]
    rows = Counter(range(content["n_rows"])) if base == -1 else Counter(blocks[base])
    for block in content[f"{name}.minus"][start:end]:
        for row in blocks[block]:
            rows.pop(row, None)
    return rows


def brute_force(
    family: Family, data: Data, plan: Plan, request: Request, seed: int = 0
) -> list[list[np.ndarray | None]]:
    """Return the predictions `[candidate][question]`, or None if the fit or prediction raised."""
    read = decoded(plan)
    table: list[list[np.ndarray | None]] = []
    for candidate in range(len(family)):
        models = [
            _fitted(family, candidate, data, read, fit, seed) for fit in range(len(read.train))
        ]
        table.append([_answer(models[fit], data, rows, request) for fit, rows in read.questions])
    return table


def freedom_by_brute_force(family: Family, data: Data, plan: Plan, seed: int = 0) -> np.ndarray:
    """Return the requested degrees of freedom `[candidate, fit]` of each model, else NaN."""
    read = decoded(plan)
    table = np.full((len(family), len(read.train)), np.nan)
    for candidate in range(len(family)):
        for fit in read.free:
            model = _fitted(family, candidate, data, read, fit, seed)
            table[candidate, fit] = degrees_of_freedom(model, np.asarray(data.X)[read.train[fit]])
    return table


def rules_by_brute_force(
    family: Family, data: Data, plan: Plan, seed: int = 0
) -> tuple[LinearRules, ...]:
    """Return the linear rule of each candidate in each fit that requests it, one by one."""
    read, content = decoded(plan), plan.to_dict()
    found = []
    for fit in sorted({content["fit"][question] for question in content["rules"]}):
        rows = np.asarray(data.X)[read.train[fit]]
        for candidate in range(len(family)):
            model = _fitted(family, candidate, data, read, fit, seed)
            rule = linear_rule(model, rows, data.classes)
            found.append(replace(rule, fit=fit, candidates=np.array([candidate])))
    return tuple(found)


def _fitted(family: Family, candidate: int, data: Data, read: Decoded, fit: int, seed: int) -> Any:
    # By contract the seed depends on the fit, and is the same for all candidates.
    if family.is_random:
        model = family.make(candidate, (seed, fit))
    else:
        model = clone(family.estimator).set_params(**family.candidates[candidate])
    if fit in read.free:
        bring_to_minimum(model)
    rows = read.train[fit]
    y = [_label(data, row, read.labels[fit]) for row in rows]
    params = {name: np.asarray(value)[rows] for name, value in data.fit_params.items()}
    try:
        return model.fit(np.asarray(data.X)[rows], np.array(y, dtype=data.y.dtype), **params)
    except Exception:  # noqa: BLE001 - a model may raise anything
        return None


def _label(data: Data, row: int, replaced: dict[int, int]) -> Any:
    if row not in replaced:
        return data.y[row]
    return data.class_labels[replaced[row]]


def _answer(model: Any, data: Data, rows: list[int], request: Request) -> np.ndarray | None:
    if model is None:
        return None
    X, y = np.asarray(data.X)[rows], data.y[rows]
    try:
        if request.response == "scored":
            weight = data.sample_weight
            extra = {} if weight is None else {"sample_weight": weight[rows]}
            return np.asarray(request.scorer(model, X, y, **extra))
        if request.response == "value":
            return np.asarray(model.predict(X), dtype=np.float64).reshape(y.shape)
        names = data.class_labels.tolist()
        if request.response == "label":
            codes = [
                names.index(v) if v in names else -1 for v in np.asarray(model.predict(X)).tolist()
            ]
            return np.array(codes)
        if request.response == "score" and hasattr(model, "decision_function"):
            return np.asarray(model.decision_function(X), dtype=np.float64).reshape(len(X))
        given = model.predict_proba(X)
        full = np.zeros((len(X), len(names)))
        for column, name in enumerate(np.asarray(model.classes_).tolist()):
            full[:, names.index(name)] = given[:, column]
        return full[:, 1] if request.response == "score" else full
    except Exception:  # noqa: BLE001 - a model may raise anything
        return None
