"""Predictions for a plan, computed by brute force: every model is cloned, fitted and applied alone.

The plan is read from its JSON form only, with lists and sets. This module shares no code with any
engine, nor with the methods that a Plan provides for engines.
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
class DecodedPlan:
    """Plan as plain lists of row numbers.

    Rows are in ascending order. A row that a training set holds several times is repeated.
    """

    train: list[list[int]]
    labels: list[dict[int, int]]
    questions: list[tuple[int, list[int]]]  # number of the fit, and distinct test rows
    free: set[int]  # numbers of fits whose degrees of freedom are requested


def decode_plan(plan: Plan) -> DecodedPlan:
    """Decode the JSON form of a plan into training sets, replaced labels and test sets."""
    content = plan.to_dict()
    offsets, rows = content["blocks.offsets"], content["blocks.rows"]
    counts = content.get("blocks.counts", [1] * len(rows))
    blocks = [
        Counter(dict(zip(rows[start:end], counts[start:end], strict=True)))
        for start, end in pairwise(offsets)
    ]
    train = [
        _set(content, "train", set_number, blocks)
        for set_number in range(len(content["train.base"]))
    ]
    test = [
        _set(content, "test", set_number, blocks) for set_number in range(len(content["test.base"]))
    ]
    labels: list[dict[int, int]] = [{} for _ in train]
    replaced = [content.get(f"flips.{name}", []) for name in ("fit", "row", "code")]
    for fit, row, code in zip(*replaced, strict=True):
        labels[fit][row] = code
    return DecodedPlan(
        [sorted(train_rows.elements()) for train_rows in train],
        labels,
        [(fit, sorted(test_rows)) for fit, test_rows in zip(content["fit"], test, strict=True)],
        {content["fit"][question] for question in content.get("freedom", [])},
    )


def _set(
    content: dict[str, Any], name: str, set_number: int, blocks: list[Counter[int]]
) -> Counter[int]:
    """Return row set number `set_number`: its base (all rows or a block) minus removed blocks."""
    base = content[f"{name}.base"][set_number]
    start, end = content[f"{name}.offsets"][set_number : set_number + 2]
    rows = Counter(range(content["n_rows"])) if base == -1 else Counter(blocks[base])
    for block in content[f"{name}.minus"][start:end]:
        for row in blocks[block]:
            rows.pop(row, None)
    return rows


def brute_force(
    family: Family, data: Data, plan: Plan, request: Request, seed: int = 0
) -> list[list[np.ndarray | None]]:
    """Return predictions `[candidate][question]`, None if fitting or predicting raised an error."""
    decoded_plan = decode_plan(plan)
    predictions: list[list[np.ndarray | None]] = []
    for candidate in range(len(family)):
        models = [
            _fit(family, candidate, data, decoded_plan, fit, seed)
            for fit in range(len(decoded_plan.train))
        ]
        predictions.append(
            [_predict(models[fit], data, rows, request) for fit, rows in decoded_plan.questions]
        )
    return predictions


def degrees_of_freedom_by_brute_force(
    family: Family, data: Data, plan: Plan, seed: int = 0
) -> np.ndarray:
    """Return the degrees of freedom `[candidate, fit]`, NaN for fits where none are requested."""
    decoded_plan = decode_plan(plan)
    freedom = np.full((len(family), len(decoded_plan.train)), np.nan)
    for candidate in range(len(family)):
        for fit in decoded_plan.free:
            model = _fit(family, candidate, data, decoded_plan, fit, seed)
            freedom[candidate, fit] = degrees_of_freedom(
                model, np.asarray(data.X)[decoded_plan.train[fit]]
            )
    return freedom


def rules_by_brute_force(
    family: Family, data: Data, plan: Plan, seed: int = 0
) -> tuple[LinearRules, ...]:
    """Return the coefficients of each linear model, for all candidates and requested fits."""
    decoded_plan, content = decode_plan(plan), plan.to_dict()
    rules = []
    for fit in sorted({content["fit"][question] for question in content["rules"]}):
        rows = np.asarray(data.X)[decoded_plan.train[fit]]
        for candidate in range(len(family)):
            model = _fit(family, candidate, data, decoded_plan, fit, seed)
            rule = linear_rule(model, rows, data.classes)
            rules.append(replace(rule, fit=fit, candidates=np.array([candidate])))
    return tuple(rules)


def _fit(
    family: Family, candidate: int, data: Data, decoded_plan: DecodedPlan, fit: int, seed: int
) -> Any:
    # An engine must derive the seed from the fit alone, so that all candidates share it.
    if family.is_random:
        model = family.make(candidate, (seed, fit))
    else:
        model = clone(family.estimator).set_params(**family.candidates[candidate])
    if fit in decoded_plan.free:
        bring_to_minimum(model)
    rows = decoded_plan.train[fit]
    y = [_label(data, row, decoded_plan.labels[fit]) for row in rows]
    params = {name: np.asarray(row_values)[rows] for name, row_values in data.fit_params.items()}
    try:
        return model.fit(np.asarray(data.X)[rows], np.array(y, dtype=data.y.dtype), **params)
    except Exception:  # noqa: BLE001 - a model may raise anything
        return None


def _label(data: Data, row: int, replaced: dict[int, int]) -> Any:
    if row not in replaced:
        return data.y[row]
    return data.class_labels[replaced[row]]


def _predict(model: Any, data: Data, rows: list[int], request: Request) -> np.ndarray | None:
    if model is None:
        return None
    X, y = np.asarray(data.X)[rows], data.y[rows]
    try:
        if request.response == "scored":
            weight = data.sample_weight
            keywords = {} if weight is None else {"sample_weight": weight[rows]}
            return np.asarray(request.scorer(model, X, y, **keywords))
        if request.response == "value":
            return np.asarray(model.predict(X), dtype=np.float64).reshape(y.shape)
        class_names = data.class_labels.tolist()
        if request.response == "label":
            codes = [
                class_names.index(predicted_label) if predicted_label in class_names else -1
                for predicted_label in np.asarray(model.predict(X)).tolist()
            ]
            return np.array(codes)
        if request.response == "score" and hasattr(model, "decision_function"):
            return np.asarray(model.decision_function(X), dtype=np.float64).reshape(len(X))
        probabilities_of_model = model.predict_proba(X)
        probabilities = np.zeros((len(X), len(class_names)))
        for column, class_name in enumerate(np.asarray(model.classes_).tolist()):
            probabilities[:, class_names.index(class_name)] = probabilities_of_model[:, column]
        return probabilities[:, 1] if request.response == "score" else probabilities
    except Exception:  # noqa: BLE001 - a model may raise anything
        return None
