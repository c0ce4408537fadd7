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
from truerisk.core.formats import without_folders
from truerisk.core.frozen import frozen
from truerisk.core.plain_values import to_plain
from truerisk.core.registry import check_known
from truerisk.estimation.problem import problem_of_call
from truerisk.estimation.run import Computed, compute, curve_of
from truerisk.methods.words import as_method, method_by
from truerisk.results.results import RiskCurve
from truerisk.study.spec import known_learners, known_problems, options_of
from truerisk.study.values import key_of, seed_of

MAX_NOTES = 3  # So many warnings of a replicate are stored at most.
# So many true risks are cached for other methods on the same data and learner.
MAX_CACHED_TRUTHS = 50_000

Truth = tuple[float | None, float | None, tuple[str, ...]]
_TRUTH_FIELDS = ("problem", "size", "learner", "scoring", "n_test", "seed")
_truths: dict[str, Truth] = {}


@frozen(eq=False)
class Drawn:
    """The drawn training rows, and fresh rows for measuring the true risk, or None without any."""

    X: np.ndarray
    y: np.ndarray
    fresh_rows: np.ndarray | None
    fresh_labels: np.ndarray | None

    @property
    def task(self) -> Any:
        """The task of the outcomes: classification or regression."""
        return "classification" if self.y.dtype.kind != "f" else "regression"


def replicate(
    content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray] = ()
) -> dict[str, Any]:
    """Compute replicate `number` of a cell: the estimate, its interval and the true risk."""
    drawn_rows = draw(content, number, arrays)
    family = family_of(content, drawn_rows)
    options = {
        "scoring": content["scoring"],
        "rule": content["rule"],
        "confidence_level": content["confidence_level"],
        "random_state": _seed("method", content, number),
    }
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        start_time = time.perf_counter()
        method, interval_name = method_of(content)
        problem = problem_of_call(
            family, drawn_rows.X, drawn_rows.y, interval=interval_name, **options
        )
        computed = compute(problem, method)
        curve = curve_of(computed)
        seconds = time.perf_counter() - start_time
        chosen_candidate = _chosen_candidate(computed, curve, drawn_rows, options)
    risk = curve[curve.best] if curve.procedure is None else curve.procedure
    interval = risk.interval
    truth_key = key_of(
        [[content[field_name] for field_name in _TRUTH_FIELDS], number, chosen_candidate]
    )
    known_truth = _truths.get(truth_key)
    if known_truth is None:
        if len(_truths) >= MAX_CACHED_TRUTHS:
            _truths.clear()
        known_truth = _truths[truth_key] = _measure_truth(
            family, chosen_candidate, drawn_rows, options
        )
    truth, truth_error, truth_notes = known_truth
    notes = [*(without_folders(str(warning.message)) for warning in caught_warnings), *truth_notes]
    return {
        "value": risk.value,
        "std_error": risk.std_error,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "interval": None if interval is None else interval.method,
        "truth": truth,
        "truth_error": truth_error,
        "chosen": to_plain(dict(family.candidates[chosen_candidate])),
        "n_fits": risk.n_fits,
        "engine": risk.engine,
        "target": risk.target,
        "notes": list(dict.fromkeys(notes))[:MAX_NOTES],
        "value_is_score": risk.greater_is_better,
        "truth_is_score": problem.loss.scale.perfect is not None,
        "seconds": seconds,
    }


def _seed(purpose: str, content: Mapping[str, Any], number: int) -> int:
    """Return a seed that depends on `purpose`, problem, size, the cell's seed and the replicate.

    It does not depend on the learner, the method or the name that the user gave to the problem.
    """
    problem = {name: value for name, value in content["problem"].items() if name != "name"}
    return seed_of(purpose, problem, content["size"], content["seed"], number)


# ---------------------------------------------------------------- data


def draw(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray] = ()) -> Drawn:
    """Draw the data set of a replicate, which depends only on problem, size, seed and number."""
    seed = _seed("data", content, number)
    # Training rows are drawn from a table without replacement; other rows measure the true risk.
    if arrays:
        X, y = arrays
        shuffled_rows = np.random.default_rng(seed).permutation(len(y))
        training_rows, test_rows = np.split(shuffled_rows, [content["size"]])
        return Drawn(
            X[training_rows],
            y[training_rows],
            *((X[test_rows], y[test_rows]) if len(test_rows) else (None, None)),
        )
    generate = generator(content["problem"])
    X, y = generate(content["size"], random_state=seed)
    test_data = generate(content["n_test"], random_state=_seed("test", content, number))
    return Drawn(np.asarray(X), np.asarray(y), np.asarray(test_data[0]), np.asarray(test_data[1]))


def generator(problem: Mapping[str, Any]) -> Any:
    """Return the function of a problem that draws rows: `f(n, random_state=seed)` returns X, y."""
    if "import" in problem:
        return _imported(problem["import"])
    source = known_problems().load(problem["word"])
    options = {name: value for name, value in problem.items() if name not in ("name", "word")}
    known_options = sorted(_numeric_options(source))
    for name in options:
        check_known(f"problem {problem['word']!r} has no option", name, known_options, "It has")
    return replace(source, **options) if options else source


def _numeric_options(source: Any) -> set[str]:
    """Return the names of the numeric options of a data generator, such as its noise level."""
    if not is_dataclass(source) or isinstance(source, type):
        return set()
    return {
        option.name
        for option in fields(source)
        if isinstance(getattr(source, option.name), int | float)
    }


@cache
def _imported(import_path: str) -> Any:
    """Import the function `package.module:name`, call it and return its result.

    The result is cached, so that the function is called once per process.
    """
    module, _, name = import_path.partition(":")
    try:
        return getattr(import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise UnknownName(f"import {import_path!r}: {error}.") from None


# ---------------------------------------------------------------- method, learner and truth


def method_of(content: Mapping[str, Any]) -> tuple[Method, str | None]:
    """Return the method of a cell, and the name of the requested interval.

    The name is None for the method's own interval.
    """
    entry = content["method"]
    if isinstance(entry, str):
        return as_method(entry), None
    if "import" not in entry:
        return method_by(entry["word"], options_of(entry)), entry.get("interval")
    imported_method = _imported(entry["import"])
    if not isinstance(imported_method, Method):
        raise UnknownName(
            f"import {entry['import']!r} gives {imported_method!r}, which is no method."
        )
    return imported_method, entry.get("interval")


def family_of(content: Mapping[str, Any], drawn_rows: Drawn) -> Family:
    """Return the learner of a cell with its candidates, which may depend on the number of rows."""
    entry = content["learner"]
    if "import" in entry:
        imported_learner = _imported(entry["import"])
        return (
            Family.from_grid(*imported_learner)
            if isinstance(imported_learner, tuple)
            else Family.from_grid(imported_learner)
        )
    columns = content["problem"].get("columns", {})
    pipeline, grid = known_learners().learner(
        entry["word"],
        drawn_rows.task,
        n_rows=len(drawn_rows.y),
        n_features=drawn_rows.X.shape[1],
        n_classes=content["problem"].get("n_classes") or len(np.unique(drawn_rows.y)),
        **columns,
    )
    if "grid" in entry:
        grid = {f"model__{name}": values for name, values in entry["grid"].items()}
    if "set" in entry:
        grid = {f"model__{name}": [value] for name, value in entry["set"].items()}
    return Family.from_grid(pipeline, grid)


def _chosen_candidate(
    computed: Computed, curve: RiskCurve, drawn_rows: Drawn, options: Mapping[str, Any]
) -> int:
    """Return the index of the candidate whose fit on all training rows the estimate refers to.

    This is the candidate that the method chose. If the method tunes in every outer split, it is the
    candidate that its inner method chooses on all rows.
    """
    inner_method = getattr(computed.method, "inner", None)
    family = computed.problem.family
    if inner_method is None or curve.procedure is None or len(family) == 1:
        return curve.best
    return curve_of(
        compute(problem_of_call(family, drawn_rows.X, drawn_rows.y, **options), inner_method)
    ).best


def _measure_truth(
    family: Family, chosen_candidate: int, drawn_rows: Drawn, options: Mapping[str, Any]
) -> Truth:
    """Return the risk of the chosen candidate on fresh rows, its standard error, and warnings."""
    if drawn_rows.fresh_rows is None or drawn_rows.fresh_labels is None:
        return None, None, ()
    single_candidate = Family(family.estimator, (family.candidates[chosen_candidate],))
    n_training, n_rows = len(drawn_rows.y), len(drawn_rows.y) + len(drawn_rows.fresh_labels)
    X, y = (
        np.vstack([drawn_rows.X, drawn_rows.fresh_rows]),
        np.concatenate([drawn_rows.y, drawn_rows.fresh_labels]),
    )
    split = [(np.arange(n_training), np.arange(n_training, n_rows))]
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        risk = curve_of(compute(problem_of_call(single_candidate, X, y, **options), split))[0]
    if risk.value is None:
        raise BadData("the chosen candidate could not be fitted on all rows.")
    return (
        risk.value,
        risk.std_error,
        tuple(without_folders(str(warning.message)) for warning in caught_warnings),
    )
