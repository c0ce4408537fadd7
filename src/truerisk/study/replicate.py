"""One replicate of a study: draw a data set, estimate the risk, and compute the truth.

All randomness is determined by the problem, the size and the seed of the cell and the number of the
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
from truerisk.core.plain_values import plain
from truerisk.core.registry import check_known
from truerisk.estimation.problem import pose
from truerisk.estimation.run import Computed, compute, curve_of
from truerisk.methods.words import as_method, method_by
from truerisk.results.results import RiskCurve
from truerisk.study.spec import known_learners, known_problems, options_of
from truerisk.study.values import key_of, seed_of

NOTES = 3  # maximum number of stored warnings of a replicate
# number of truths that a process caches for other methods with the same data and learner
KNOWN = 50_000

Truth = tuple[float | None, float | None, tuple[str, ...]]
_OF_TRUTH = ("problem", "size", "learner", "scoring", "n_test", "seed")
_truths: dict[str, Truth] = {}


@frozen(eq=False)
class Drawn:
    """Training rows, and rows for measuring the truth (None if there are none)."""

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
    """Return the stored results of replicate `number` of a cell."""
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
    """Return a seed that is independent of learner, method and the problem's given name."""
    problem = {name: value for name, value in content["problem"].items() if name != "name"}
    return seed_of(what, problem, content["size"], content["seed"], number)


# ---------------------------------------------------------------- data


def draw(content: Mapping[str, Any], number: int, arrays: Sequence[np.ndarray] = ()) -> Drawn:
    """Return the data set of a replicate, which depends on problem, size, seed and number only."""
    seed = _seed("data", content, number)
    # Rows of a table are drawn without replacement. The truth is measured on all others.
    if arrays:
        X, y = arrays
        rows = np.random.default_rng(seed).permutation(len(y))
        mine, rest = np.split(rows, [content["size"]])
        return Drawn(X[mine], y[mine], *((X[rest], y[rest]) if len(rest) else (None, None)))
    make = generator(content["problem"])
    X, y = make(content["size"], random_state=seed)
    fresh = make(content["n_test"], random_state=_seed("test", content, number))
    return Drawn(np.asarray(X), np.asarray(y), np.asarray(fresh[0]), np.asarray(fresh[1]))


def generator(problem: Mapping[str, Any]) -> Any:
    """Return the function that draws rows: `generator(n, random_state=seed)` returns X and y."""
    if "import" in problem:
        return _imported(problem["import"])
    source = known_problems().load(problem["word"])
    options = {name: value for name, value in problem.items() if name not in ("name", "word")}
    known = sorted(_numbers_of(source))
    for name in options:
        check_known(f"problem {problem['word']!r} has no option", name, known, "It has")
    return replace(source, **options) if options else source


def _numbers_of(source: Any) -> set[str]:
    """Return the numeric options of a generator."""
    if not is_dataclass(source) or isinstance(source, type):
        return set()
    return {
        each.name for each in fields(source) if isinstance(getattr(source, each.name), int | float)
    }


@cache
def _imported(where: str) -> Any:
    """Return the result of a factory `package.module:name`, called once per process."""
    module, _, name = where.partition(":")
    try:
        return getattr(import_module(module), name)()
    except (ImportError, AttributeError) as error:
        raise UnknownName(f"import {where!r}: {error}.") from None


# ---------------------------------------------------------------- method, learner and truth


def method_of(content: Mapping[str, Any]) -> tuple[Method, str | None]:
    """Return the method of a cell, and the name of the requested interval (None: its own)."""
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
    """Return the learner with its candidates, for data of that size."""
    written = content["learner"]
    if "import" in written:
        made = _imported(written["import"])
        return Family.from_grid(*made) if isinstance(made, tuple) else Family.from_grid(made)
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
    return Family.from_grid(pipeline, grid)


def _chosen(computed: Computed, curve: RiskCurve, drawn: Drawn, options: Mapping[str, Any]) -> int:
    """Return the candidate whose fit on all rows the estimate is about.

    It is the method's own choice. If the method chose in every outer split, it is the choice of its
    inner method on all rows.
    """
    inner = getattr(computed.method, "inner", None)
    family = computed.problem.family
    if inner is None or curve.procedure is None or len(family) == 1:
        return curve.best
    return curve_of(compute(pose(family, drawn.X, drawn.y, **options), inner)).best


def _truth(family: Family, chosen: int, drawn: Drawn, options: Mapping[str, Any]) -> Truth:
    """Return the risk on fresh rows of the chosen candidate, its standard error, and warnings."""
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
