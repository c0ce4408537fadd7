"""One replicate of a study: draw a data set, estimate the risk, look up the truth.

Everything random comes from the problem, the size and the seed of the cell and the number of the
replicate. Cells that differ in learner or method alone get the same data sets, folds and seeds of
fits, so that they are compared in pairs.
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
from truerisk.core.plain_values import plain
from truerisk.core.registry import check_known
from truerisk.estimation.problem import pose
from truerisk.estimation.run import Computed, compute, curve_of
from truerisk.methods.words import as_method, method_by
from truerisk.results.results import RiskCurve
from truerisk.study.spec import known_learners, known_problems, options_of
from truerisk.study.values import key_of, seed_of

NOTES = 3  # how many warnings of a replicate are kept
KNOWN = 50_000  # truths that a process keeps for other methods of the same data and learner

Truth = tuple[float | None, float | None, tuple[str, ...]]
_OF_TRUTH = ("problem", "size", "learner", "scoring", "n_test", "seed")
_truths: dict[str, Truth] = {}


@frozen(eq=False)
class Drawn:
    """Rows to learn from, and rows that only the truth is measured on (None without any)."""

    X: np.ndarray
    y: np.ndarray
    fresh_rows: np.ndarray | None
    fresh_labels: np.ndarray | None

    @property
    def task(self) -> Any:
        return "classification" if self.y.dtype.kind != "f" else "regression"


def replicate(
    content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray] = ()
) -> dict[str, Any]:
    """What is kept of replicate `number` of a cell."""
    drawn = draw(content, number, arrays)
    family = family_of(content, drawn)
    options = {
        "scoring": content["scoring"],
        "rule": content["rule"],
        "confidence_level": content["confidence_level"],
        "random_state": _seed("method", content, number),
    }
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        started = time.perf_counter()
        method, interval_asked = method_of(content)
        problem = pose(family, drawn.X, drawn.y, interval=interval_asked, **options)
        computed = compute(problem, method)
        curve = curve_of(computed)
        seconds = time.perf_counter() - started
        chosen = _chosen(computed, curve, drawn, options)
    risk = curve[curve.best] if curve.procedure is None else curve.procedure
    interval = risk.interval
    at = key_of([[content[part] for part in _OF_TRUTH], number, chosen])
    truth_known = _truths.get(at)
    if truth_known is None:
        if len(_truths) >= KNOWN:
            _truths.clear()
        truth_known = _truths[at] = _truth(family, chosen, drawn, options)
    truth, truth_error, more = truth_known
    notes = [*(without_folders(str(w.message)) for w in heard), *more]
    return {
        "value": risk.value,
        "std_error": risk.std_error,
        "low": None if interval is None else interval.low,
        "high": None if interval is None else interval.high,
        "interval": None if interval is None else interval.method,
        "truth": truth,
        "truth_error": truth_error,
        "chosen": plain(dict(family.candidates[chosen])),
        "n_fits": risk.n_fits,
        "engine": risk.engine,
        "target": risk.target,
        "notes": list(dict.fromkeys(notes))[:NOTES],
        "value_is_score": risk.greater_is_better,
        "truth_is_score": problem.loss.scale.perfect is not None,
        "seconds": seconds,
    }


def _seed(what: str, content: Mapping[str, Any], number: int) -> int:
    """It does not depend on learner and method, nor on the name that a user gave the problem."""
    problem = {name: value for name, value in content["problem"].items() if name != "name"}
    return seed_of(what, problem, content["size"], content["seed"], number)


# ---------------------------------------------------------------- data


def draw(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray] = ()) -> Drawn:
    """The data set of a replicate; it depends on problem, size, study seed and number alone."""
    seed = _seed("data", content, number)
    if arrays:  # rows of a table without replacement; the truth is measured on all others
        X, y = arrays
        rows = np.random.default_rng(seed).permutation(len(y))
        mine, rest = np.split(rows, [content["size"]])
        return Drawn(X[mine], y[mine], *((X[rest], y[rest]) if len(rest) else (None, None)))
    make = generator(content["problem"])
    X, y = make(content["size"], random_state=seed)
    fresh = make(content["n_test"], random_state=_seed("test", content, number))
    return Drawn(np.asarray(X), np.asarray(y), np.asarray(fresh[0]), np.asarray(fresh[1]))


def generator(problem: Mapping[str, Any]) -> Any:
    """What draws rows: `generator(n_rows, random_state=seed)` gives X and y."""
    if "import" in problem:
        return _imported(problem["import"])
    source = known_problems().load(problem["word"])
    options = {name: value for name, value in problem.items() if name not in ("name", "word")}
    known = sorted(_numbers_of(source))
    for name in options:
        check_known(f"problem {problem['word']!r} has no option", name, known, "It has")
    return replace(source, **options) if options else source


def _numbers_of(source: Any) -> set[str]:
    """The options of a generator that are numbers."""
    if not is_dataclass(source) or isinstance(source, type):
        return set()
    return {
        each.name for each in fields(source) if isinstance(getattr(source, each.name), int | float)
    }


@cache
def _imported(where: str) -> Any:
    """What a factory `package.module:name` makes; called once per process."""
    module, _, name = where.partition(":")
    try:
        return getattr(import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise UnknownName(f"import {where!r}: {error}.") from None


# ---------------------------------------------------------------- method, learner and truth


def method_of(content: Mapping[str, Any]) -> tuple[Method, str | None]:
    """The method of a cell, and the word of the interval that it is to give (None: its own)."""
    written = content["method"]
    if isinstance(written, str):
        return as_method(written), None
    if "import" not in written:
        return method_by(written["word"], options_of(written)), written.get("interval")
    made = _imported(written["import"])
    if not isinstance(made, Method):
        raise UnknownName(f"import {written['import']!r} gives {made!r}, which is no method.")
    return made, written.get("interval")


def family_of(content: Mapping[str, Any], drawn: Drawn) -> Family:
    """The learner with its candidates, for data of that size."""
    written = content["learner"]
    if "import" in written:
        made = _imported(written["import"])
        return Family.of(*made) if isinstance(made, tuple) else Family.of(made)
    columns = content["problem"].get("columns", {})
    pipeline, grid = known_learners().learner(
        written["word"],
        drawn.task,
        n_rows=len(drawn.y),
        n_features=drawn.X.shape[1],
        n_classes=content["problem"].get("n_classes") or len(np.unique(drawn.y)),
        **columns,
    )
    if "grid" in written:
        grid = {f"model__{name}": values for name, values in written["grid"].items()}
    if "set" in written:
        grid = {f"model__{name}": [value] for name, value in written["set"].items()}
    return Family.of(pipeline, grid)


def _chosen(computed: Computed, curve: RiskCurve, drawn: Drawn, options: Mapping[str, Any]) -> int:
    """The candidate whose fit on all rows the estimate speaks of.

    The method's own choice; where it chose anew in every outer split, that of its inner method on
    all rows.
    """
    inner = getattr(computed.method, "inner", None)
    family = computed.problem.family
    if inner is None or curve.procedure is None or len(family) == 1:
        return curve.best
    return curve_of(compute(pose(family, drawn.X, drawn.y, **options), inner)).best


def _truth(family: Family, chosen: int, drawn: Drawn, options: Mapping[str, Any]) -> Truth:
    """The risk on fresh rows of the chosen candidate, fitted on all rows, its error, warnings."""
    if drawn.fresh_rows is None or drawn.fresh_labels is None:
        return None, None, ()
    single = Family(family.estimator, (family.candidates[chosen],))
    n, total = len(drawn.y), len(drawn.y) + len(drawn.fresh_labels)
    X, y = np.vstack([drawn.X, drawn.fresh_rows]), np.concatenate([drawn.y, drawn.fresh_labels])
    split = [(np.arange(n), np.arange(n, total))]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        risk = curve_of(compute(pose(single, X, y, **options), split))[0]
    if risk.value is None:
        raise BadData("the chosen candidate could not be fitted on all rows.")
    return risk.value, risk.std_error, tuple(without_folders(str(w.message)) for w in heard)
