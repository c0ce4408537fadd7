"""One replicate of a study: draw a data set, estimate the risk, and measure the true risk.

All random numbers are determined by the cell's problem, size and seed, and by the number of the
replicate. Cells that differ only in learner or method get the same data sets, folds and seeds of
fits, so that comparisons are paired.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from truerisk.contracts import Method
from truerisk.core.errors import BadData, UnknownName
from truerisk.core.family import Family
from truerisk.core.formats import strip_folders
from truerisk.core.frozen import frozen
from truerisk.core.plain_values import to_json_value
from truerisk.core.registry import check_known
from truerisk.estimation.problem import problem_from_arguments
from truerisk.estimation.run import Computation, compute_risks, to_risk_curve
from truerisk.methods.words import as_method, method_from_name
from truerisk.results.results import RiskCurve
from truerisk.study.spec import load_learners_module, load_problem_registry, method_options
from truerisk.study.values import derive_seed, hash_plain_value

MAX_NOTES = 3  # So many warnings of a replicate are stored at most.
# So many true risks are cached for other methods on the same data and learner.
MAX_CACHED_TRUE_RISKS = 50_000

TrueRisk = tuple[float | None, float | None, tuple[str, ...]]
_TRUE_RISK_FIELDS = ("problem", "size", "learner", "scoring", "n_test", "seed")
_true_risk_cache: dict[str, TrueRisk] = {}


@frozen(eq=False)
class ReplicateData:
    """Training rows of a replicate, and fresh rows that measure the true risk (None without)."""

    X: np.ndarray
    y: np.ndarray
    fresh_features: np.ndarray | None
    fresh_y: np.ndarray | None

    @property
    def task(self) -> Any:
        """The task that y defines: classification or regression."""
        return "classification" if self.y.dtype.kind != "f" else "regression"


def compute_replicate(
    cell_content: Mapping[str, Any], replicate_number: int, arrays: Sequence[np.ndarray] = ()
) -> dict[str, Any]:
    """Compute one replicate of a cell: the risk estimate, its interval and the true risk."""
    replicate_data = draw_replicate_data(cell_content, replicate_number, arrays)
    learner_family = build_family(cell_content, replicate_data)
    problem_options = {
        "scoring": cell_content["scoring"],
        "rule": cell_content["rule"],
        "confidence_level": cell_content["confidence_level"],
        "random_state": _seed_of_replicate("method", cell_content, replicate_number),
    }
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        start_time = time.perf_counter()
        method, interval_name = build_method(cell_content)
        problem = problem_from_arguments(
            learner_family,
            replicate_data.X,
            replicate_data.y,
            interval=interval_name,
            **problem_options,
        )
        computed_evaluation = compute_risks(problem, method)
        risk_curve = to_risk_curve(computed_evaluation)
        seconds = time.perf_counter() - start_time
        chosen_candidate = _find_chosen_candidate(
            computed_evaluation, risk_curve, replicate_data, problem_options
        )
    risk_estimate = (
        risk_curve[risk_curve.best] if risk_curve.procedure is None else risk_curve.procedure
    )
    interval = risk_estimate.interval
    true_risk_key = hash_plain_value(
        [
            [cell_content[field_name] for field_name in _TRUE_RISK_FIELDS],
            replicate_number,
            chosen_candidate,
        ]
    )
    measured_risk = _true_risk_cache.get(true_risk_key)
    if measured_risk is None:
        if len(_true_risk_cache) >= MAX_CACHED_TRUE_RISKS:
            _true_risk_cache.clear()
        measured_risk = _true_risk_cache[true_risk_key] = _measure_true_risk(
            learner_family, chosen_candidate, replicate_data, problem_options
        )
    true_risk, true_risk_std_error, true_risk_warnings = measured_risk
    notes = [
        *(strip_folders(str(warning.message)) for warning in caught_warnings),
        *true_risk_warnings,
    ]
    return {
        "value": risk_estimate.value,
        "std_error": risk_estimate.std_error,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "interval": None if interval is None else interval.method,
        "truth": true_risk,
        "truth_error": true_risk_std_error,
        "chosen": to_json_value(dict(learner_family.candidates[chosen_candidate])),
        "n_fits": risk_estimate.n_fits,
        "engine": risk_estimate.engine,
        "target": risk_estimate.target,
        "notes": list(dict.fromkeys(notes))[:MAX_NOTES],
        "value_is_score": risk_estimate.greater_is_better,
        "truth_is_score": problem.loss.scale.perfect is not None,
        "seconds": seconds,
    }


def _seed_of_replicate(purpose: str, cell_content: Mapping[str, Any], replicate_number: int) -> int:
    """Return a seed that depends on `purpose`, problem, size, the cell's seed and the replicate.

    It does not depend on the learner, the method or the name that the user gave to the problem.
    """
    problem = {name: value for name, value in cell_content["problem"].items() if name != "name"}
    return derive_seed(
        purpose, problem, cell_content["size"], cell_content["seed"], replicate_number
    )


# ---------------------------------------------------------------- data


def draw_replicate_data(
    cell_content: Mapping[str, Any], replicate_number: int, arrays: Sequence[np.ndarray] = ()
) -> ReplicateData:
    """Draw the data of a replicate, which learner and method do not affect."""
    seed = _seed_of_replicate("data", cell_content, replicate_number)
    # The rows of the table that are not drawn for training measure the true risk.
    if arrays:
        X, y = arrays
        shuffled_rows = np.random.default_rng(seed).permutation(len(y))
        training_rows, fresh_rows = np.split(shuffled_rows, [cell_content["size"]])
        return ReplicateData(
            X[training_rows],
            y[training_rows],
            *((X[fresh_rows], y[fresh_rows]) if len(fresh_rows) else (None, None)),
        )
    generate = get_data_generator(cell_content["problem"])
    X, y = generate(cell_content["size"], random_state=seed)
    fresh_data = generate(
        cell_content["n_test"],
        random_state=_seed_of_replicate("test", cell_content, replicate_number),
    )
    return ReplicateData(
        np.asarray(X), np.asarray(y), np.asarray(fresh_data[0]), np.asarray(fresh_data[1])
    )


def get_data_generator(problem: Mapping[str, Any]) -> Any:
    """Return the function of a problem that draws rows: `f(n, random_state=seed)` returns X, y."""
    if "import" in problem:
        return _import_and_call(problem["import"])
    data_generator = load_problem_registry().load(problem["word"])
    generator_options = {
        name: value for name, value in problem.items() if name not in ("name", "word")
    }
    known_options = sorted(_numeric_options(data_generator))
    for name in generator_options:
        check_known(f"problem {problem['word']!r} has no option", name, known_options, "It has")
    return replace(data_generator, **generator_options) if generator_options else data_generator


def _numeric_options(data_generator: Any) -> set[str]:
    """Return the names of the numeric options of a data generator, such as its noise level."""
    if not is_dataclass(data_generator) or isinstance(data_generator, type):
        return set()
    return {
        option.name
        for option in fields(data_generator)
        if isinstance(getattr(data_generator, option.name), int | float)
    }


@cache
def _import_and_call(import_path: str) -> Any:
    """Import the function `package.module:name`, call it and return its result.

    The result is cached, so that the function is called once per process.
    """
    module_name, _, function_name = import_path.partition(":")
    try:
        return getattr(import_module(module_name), function_name)()
    except (ImportError, AttributeError) as error:
        raise UnknownName(f"import {import_path!r}: {error}.") from None


# ---------------------------------------------------------------- method, learner and truth


def build_method(cell_content: Mapping[str, Any]) -> tuple[Method, str | None]:
    """Return the method of a cell, and the name of the requested interval.

    The name is None for the method's own interval.
    """
    method_entry = cell_content["method"]
    if isinstance(method_entry, str):
        return as_method(method_entry), None
    if "import" not in method_entry:
        return method_from_name(
            method_entry["word"], method_options(method_entry)
        ), method_entry.get("interval")
    imported_method = _import_and_call(method_entry["import"])
    if not isinstance(imported_method, Method):
        raise UnknownName(
            f"import {method_entry['import']!r} gives {imported_method!r}, which is no method."
        )
    return imported_method, method_entry.get("interval")


def build_family(cell_content: Mapping[str, Any], replicate_data: ReplicateData) -> Family:
    """Return the learner of a cell with its candidates, which may depend on the number of rows."""
    learner_entry = cell_content["learner"]
    if "import" in learner_entry:
        imported_learner = _import_and_call(learner_entry["import"])
        return (
            Family.from_grid(*imported_learner)
            if isinstance(imported_learner, tuple)
            else Family.from_grid(imported_learner)
        )
    columns = cell_content["problem"].get("columns", {})
    pipeline, grid = load_learners_module().learner(
        learner_entry["word"],
        replicate_data.task,
        n_rows=len(replicate_data.y),
        n_features=replicate_data.X.shape[1],
        n_classes=cell_content["problem"].get("n_classes") or len(np.unique(replicate_data.y)),
        **columns,
    )
    if "grid" in learner_entry:
        grid = {f"model__{name}": values for name, values in learner_entry["grid"].items()}
    if "set" in learner_entry:
        grid = {f"model__{name}": [value] for name, value in learner_entry["set"].items()}
    return Family.from_grid(pipeline, grid)


def _find_chosen_candidate(
    computed_evaluation: Computation,
    risk_curve: RiskCurve,
    replicate_data: ReplicateData,
    problem_options: Mapping[str, Any],
) -> int:
    """Return the index of the candidate whose fit on all training rows the estimate refers to.

    This is the candidate that the method chose. If the method tunes in every outer split, it is the
    candidate that its inner method chooses on all rows.
    """
    inner_method = getattr(computed_evaluation.method, "inner", None)
    family = computed_evaluation.problem.family
    if inner_method is None or risk_curve.procedure is None or len(family) == 1:
        return risk_curve.best
    return to_risk_curve(
        compute_risks(
            problem_from_arguments(family, replicate_data.X, replicate_data.y, **problem_options),
            inner_method,
        )
    ).best


def _measure_true_risk(
    family: Family,
    chosen_candidate: int,
    replicate_data: ReplicateData,
    problem_options: Mapping[str, Any],
) -> TrueRisk:
    """Return the risk of the chosen candidate on fresh rows, its standard error, and warnings."""
    if replicate_data.fresh_features is None or replicate_data.fresh_y is None:
        return None, None, ()
    single_candidate = Family(family.estimator, (family.candidates[chosen_candidate],))
    n_training, n_all_rows = (
        len(replicate_data.y),
        len(replicate_data.y) + len(replicate_data.fresh_y),
    )
    X, y = (
        np.vstack([replicate_data.X, replicate_data.fresh_features]),
        np.concatenate([replicate_data.y, replicate_data.fresh_y]),
    )
    train_test_splits = [(np.arange(n_training), np.arange(n_training, n_all_rows))]
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        risk_estimate = to_risk_curve(
            compute_risks(
                problem_from_arguments(single_candidate, X, y, **problem_options), train_test_splits
            )
        )[0]
    if risk_estimate.value is None:
        raise BadData("the chosen candidate could not be fitted on all rows.")
    return (
        risk_estimate.value,
        risk_estimate.std_error,
        tuple(strip_folders(str(warning.message)) for warning in caught_warnings),
    )
