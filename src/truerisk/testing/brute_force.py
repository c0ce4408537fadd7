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
from truerisk.models.stated.degrees_of_freedom import degrees_of_freedom, tighten_tolerance
from truerisk.models.stated.linear_rule import linear_rule
from truerisk.plan.extras.linear_rules import LinearRules
from truerisk.plan.plan import Plan


@frozen
class DecodedPlan:
    """Plan of fits, decoded into plain lists of row numbers.

    Rows are in ascending order. A row that a training set holds several times is repeated.
    """

    training_rows: list[list[int]]
    new_labels: list[dict[int, int]]
    test_sets: list[tuple[int, list[int]]]  # fit number and distinct rows of each test set
    freedom_fits: set[int]  # numbers of fits whose degrees of freedom are requested


def decode_plan(plan: Plan) -> DecodedPlan:
    """Decode the JSON form of a plan into training sets, replaced labels and test sets."""
    plan_dict = plan.to_dict()
    block_offsets, block_rows = plan_dict["blocks.offsets"], plan_dict["blocks.rows"]
    block_row_copies = plan_dict.get("blocks.counts", [1] * len(block_rows))
    row_counts_of_blocks = [
        Counter(
            dict(
                zip(
                    block_rows[block_start:block_end],
                    block_row_copies[block_start:block_end],
                    strict=True,
                )
            )
        )
        for block_start, block_end in pairwise(block_offsets)
    ]
    train_sets = [
        _set(plan_dict, "train", set_number, row_counts_of_blocks)
        for set_number in range(len(plan_dict["train.base"]))
    ]
    test_sets = [
        _set(plan_dict, "test", set_number, row_counts_of_blocks)
        for set_number in range(len(plan_dict["test.base"]))
    ]
    new_labels_by_fit: list[dict[int, int]] = [{} for _ in train_sets]
    label_flips = [
        plan_dict.get(f"flips.{array_name}", []) for array_name in ("fit", "row", "code")
    ]
    for fit_number, row, class_code in zip(*label_flips, strict=True):
        new_labels_by_fit[fit_number][row] = class_code
    return DecodedPlan(
        [sorted(train_rows.elements()) for train_rows in train_sets],
        new_labels_by_fit,
        [
            (fit_number, sorted(test_rows))
            for fit_number, test_rows in zip(plan_dict["fit"], test_sets, strict=True)
        ],
        {plan_dict["fit"][question_number] for question_number in plan_dict.get("freedom", [])},
    )


def _set(
    plan_dict: dict[str, Any],
    set_kind: str,
    set_number: int,
    row_counts_of_blocks: list[Counter[int]],
) -> Counter[int]:
    """Return a training or test set as row counts: all rows or one block, minus removed blocks."""
    base_block = plan_dict[f"{set_kind}.base"][set_number]
    removed_start, removed_end = plan_dict[f"{set_kind}.offsets"][set_number : set_number + 2]
    remaining_rows = (
        Counter(range(plan_dict["n_rows"]))
        if base_block == -1
        else Counter(row_counts_of_blocks[base_block])
    )
    for removed_block in plan_dict[f"{set_kind}.minus"][removed_start:removed_end]:
        for row in row_counts_of_blocks[removed_block]:
            remaining_rows.pop(row, None)
    return remaining_rows


def brute_force(
    family: Family, data: Data, plan: Plan, request: Request, seed: int = 0
) -> list[list[np.ndarray | None]]:
    """Return predictions `[candidate][test set]`, None where the model raised an error."""
    decoded_plan = decode_plan(plan)
    predictions: list[list[np.ndarray | None]] = []
    for candidate in range(len(family)):
        fitted_models = [
            _fit(family, candidate, data, decoded_plan, fit_number, seed)
            for fit_number in range(len(decoded_plan.training_rows))
        ]
        predictions.append(
            [
                _predict(fitted_models[fit_number], data, test_rows, request)
                for fit_number, test_rows in decoded_plan.test_sets
            ]
        )
    return predictions


def degrees_of_freedom_by_brute_force(
    family: Family, data: Data, plan: Plan, seed: int = 0
) -> np.ndarray:
    """Return the degrees of freedom `[candidate, fit]`, NaN for fits where none are requested."""
    decoded_plan = decode_plan(plan)
    degrees_by_candidate = np.full((len(family), len(decoded_plan.training_rows)), np.nan)
    for candidate in range(len(family)):
        for fit_number in decoded_plan.freedom_fits:
            model = _fit(family, candidate, data, decoded_plan, fit_number, seed)
            degrees_by_candidate[candidate, fit_number] = degrees_of_freedom(
                model, np.asarray(data.X)[decoded_plan.training_rows[fit_number]]
            )
    return degrees_by_candidate


def linear_rules_by_brute_force(
    family: Family, data: Data, plan: Plan, seed: int = 0
) -> tuple[LinearRules, ...]:
    """Return the linear rule of the model of each candidate in each fit that requests it."""
    decoded_plan, plan_dict = decode_plan(plan), plan.to_dict()
    linear_rules = []
    for fit_number in sorted(
        {plan_dict["fit"][question_number] for question_number in plan_dict["rules"]}
    ):
        training_X = np.asarray(data.X)[decoded_plan.training_rows[fit_number]]
        for candidate in range(len(family)):
            model = _fit(family, candidate, data, decoded_plan, fit_number, seed)
            rule_of_model = linear_rule(model, training_X, data.classes)
            linear_rules.append(
                replace(rule_of_model, fit=fit_number, candidates=np.array([candidate]))
            )
    return tuple(linear_rules)


def _fit(
    family: Family, candidate: int, data: Data, decoded_plan: DecodedPlan, fit: int, seed: int
) -> Any:
    # Engines derive the seed from the number of the fit alone, so all candidates share it.
    if family.is_random:
        model = family.make(candidate, (seed, fit))
    else:
        model = clone(family.estimator).set_params(**family.candidates[candidate])
    if fit in decoded_plan.freedom_fits:
        tighten_tolerance(model)
    training_rows = decoded_plan.training_rows[fit]
    y = [_training_label(data, row, decoded_plan.new_labels[fit]) for row in training_rows]
    fit_params = {
        parameter_name: np.asarray(row_values)[training_rows]
        for parameter_name, row_values in data.fit_params.items()
    }
    try:
        return model.fit(
            np.asarray(data.X)[training_rows], np.array(y, dtype=data.y.dtype), **fit_params
        )
    except Exception:  # noqa: BLE001 - a model may raise anything
        return None


def _training_label(data: Data, row: int, new_labels: dict[int, int]) -> Any:
    if row not in new_labels:
        return data.y[row]
    return data.class_labels[new_labels[row]]


def _predict(model: Any, data: Data, test_rows: list[int], request: Request) -> np.ndarray | None:
    if model is None:
        return None
    X, y = np.asarray(data.X)[test_rows], data.y[test_rows]
    try:
        if request.response == "scored":
            sample_weight = data.sample_weight
            scorer_options = (
                {} if sample_weight is None else {"sample_weight": sample_weight[test_rows]}
            )
            return np.asarray(request.scorer(model, X, y, **scorer_options))
        if request.response == "value":
            return np.asarray(model.predict(X), dtype=np.float64).reshape(y.shape)
        class_names = data.class_labels.tolist()
        if request.response == "label":
            predicted_codes = [
                class_names.index(predicted_label) if predicted_label in class_names else -1
                for predicted_label in np.asarray(model.predict(X)).tolist()
            ]
            return np.array(predicted_codes)
        if request.response == "score" and hasattr(model, "decision_function"):
            return np.asarray(model.decision_function(X), dtype=np.float64).reshape(len(X))
        model_probabilities = model.predict_proba(X)
        probabilities = np.zeros((len(X), len(class_names)))
        for model_column, class_name in enumerate(np.asarray(model.classes_).tolist()):
            probabilities[:, class_names.index(class_name)] = model_probabilities[:, model_column]
        return probabilities[:, 1] if request.response == "score" else probabilities
    except Exception:  # noqa: BLE001 - a model may raise anything
        return None
