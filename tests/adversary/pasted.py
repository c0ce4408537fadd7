"""Functions that a printed script carries along: forms of X, a plain loop, what a result says."""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ParameterGrid

__all__ = ["by_hand", "memory_map", "read_only", "searched", "seen", "seen_estimate"]


def memory_map(X):
    """The same numbers in a file."""
    path = Path(tempfile.mkdtemp()) / "X.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def read_only(X):
    """The same numbers, not to be written to."""
    X = np.array(X)
    X.flags.writeable = False
    return X


def by_hand(model, grid, X, y, splits, loss, sample_weight=None):
    """What `seen` says of a risk curve over these splits, from a plain loop over clones."""
    X, y = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X), np.asarray(y)
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    found = {}
    for c, params in enumerate(ParameterGrid(grid) if grid else [{}]):
        losses, areas = np.zeros(len(y)), []
        for train, test in splits:
            one = clone(model).set_params(**params)
            last = one.steps[-1][0] + "__" if hasattr(one, "steps") else ""
            given = {} if sample_weight is None else {last + "sample_weight": weights[train]}
            one.fit(X[train], y[train], **given)
            if "auc" in loss:
                ranks = (
                    one.decision_function
                    if hasattr(one, "decision_function")
                    else one.predict_proba
                )
                classes = np.unique(y)
                if len(classes) > 2:  # one that the training rows lack has probability 0
                    scores = np.zeros((len(test), len(classes)))
                    known = np.searchsorted(classes, one.classes_)
                    scores[:, known] = one.predict_proba(X[test])
                else:
                    scores = ranks(X[test])
                    scores = scores[:, 1] if scores.shape[1:] == (2,) else scores
                areas.append(roc_auc_score(y[test], scores, multi_class="ovr"))
                continue
            answers = one.predict(X[test])
            truth = y[test].reshape(np.shape(answers))  # which may be given as a column
            error = answers != truth if loss == "zero-one" else np.abs(answers - np.float64(truth))
            error = error**2 if loss == "squared" else error
            losses[test] = error if error.ndim == 1 else error.mean(axis=1)
        if areas:
            found[f"{c} value"] = 1 - np.mean(areas)
        else:
            found |= {f"{c} value": np.average(losses, weights=weights), f"{c} losses": losses}
    return found


def searched(search, X, y, groups, sample_weight):
    """The curve of a search, whose refit may fail where the model alone fails on all rows too."""
    beside = {"groups": groups, "sample_weight": sample_weight}
    try:
        return search.fit(X, y, **beside).curve_
    except Exception as error:  # scikit-learn of constant columns: IndexError
        if "failed in the refit" not in str(error):
            raise
        search.set_params(refit=False).fit(X, y, **beside)
        model = clone(search.estimator).set_params(**search.best_params_)
        last = model.steps[-1][0] + "__" if hasattr(model, "steps") else ""
        given = {} if sample_weight is None else {last + "sample_weight": sample_weight}
        try:
            model.fit(X, y, **given)
        except (IndexError, ValueError):  # scikit-learn of constant columns
            return search.curve_
        raise


def seen(result):
    """All numbers of a risk curve or of an assessment, by name."""
    if hasattr(result, "candidates"):
        found = {"best": result.best}
        for c, estimate in enumerate(result):
            found |= seen_estimate(f"{c} ", estimate)
        if result.procedure is not None:
            found |= seen_estimate("procedure ", result.procedure)
        return found
    found = {"least risk": result.learners[result.best].risk.value}
    if result.choice is not None:
        found |= seen_estimate("choice ", result.choice)
    for name, one in sorted(result.learners.items()):
        curve = {f"{name} {key}": value for key, value in seen(one.curve).items()}
        found |= curve | seen_estimate(f"{name} honest ", one.risk)
    return found


def seen_estimate(of, estimate):
    """All numbers of one estimate, by name."""
    found = {f"{of}value": estimate.value, f"{of}std_error": estimate.std_error}
    interval = estimate.interval
    found[f"{of}interval"] = None if interval is None else [interval.low, interval.high]
    for name in ("losses", "loss_rows", "split_risks"):
        found[f"{of}{name}"] = getattr(estimate, name)
    found |= {f"{of}{name}": value for name, value in (estimate.table or {}).items()}
    return found
