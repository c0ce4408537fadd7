"""Read the claim of a fitted search of any class: grids, linear models, studies of trials."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from truerisk.core.arguments import shown
from truerisk.core.errors import Refusal
from truerisk.core.family import refuse_no_tags
from truerisk.core.frozen import frozen
from truerisk.core.identity import is_honest_search
from truerisk.results.finding import Finding
from truerisk.search.claim import Claim
from truerisk.search.several_scores import one_of_function


def read_claim(search: Any) -> Claim:
    """Return the claim of a fitted search, recognised by its attributes, not by its class."""
    search = given_to(search)
    _refuse_what_is_no_search(search)
    if hasattr(search, "study_"):
        return read_study(search)
    if hasattr(search, "mse_path_"):
        return read_lasso(search)
    if hasattr(search, "scores_") and hasattr(search, "Cs_"):
        return read_logistic(search)
    if hasattr(search, "alpha_") and hasattr(search, "alphas") and hasattr(search, "best_score_"):
        return read_ridge(search)
    if isinstance(getattr(search, "cv_results_", None), dict) and hasattr(search, "estimator"):
        return read_grid(search)
    raise Refusal(
        f"{type(search).__name__} holds nothing to audit (no cv_results_, study_, scores_ or "
        "mse_path_). Audited are GridSearchCV, RandomizedSearchCV, the halving searches, "
        "LogisticRegressionCV, RidgeCV, LassoCV, ElasticNetCV, OptunaSearchCV and HonestSearchCV; "
        "for anything else use tr.estimate_risk(search, X, y), which repeats it in every split."
    )


def given_to(search: Any) -> Any:
    """Return the search wrapped by a HonestSearchCV, which makes the claim, or the search."""
    ours = is_honest_search(search) and "search_" in vars(search)
    return given_to(search.search_) if ours else search


def _refuse_what_is_no_search(search: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if isinstance(search, type) or not hasattr(search, "fit"):
        raise Refusal(f"{shown(search)} is no search; give a fitted one, such as a GridSearchCV.")
    if hasattr(search, "study_"):
        return  # OptunaSearchCV is fitted if it has a study
    refuse_no_tags(search)
    try:
        check_is_fitted(search)
    except NotFittedError:
        if not hasattr(search, "cv"):
            return  # It makes no claim, whether or not it is fitted.
        raise Refusal(
            f"this {type(search).__name__} is not fitted: there is no claim yet. "
            "Call fit(X, y) first."
        ) from None


def read_grid(search: Any) -> Claim:
    """Return what a fitted GridSearchCV or similar search reports: settings, scores and splits."""
    if hasattr(search, "curve_"):
        return _ours(search)
    results = search.cv_results_
    metric = _metric(search)
    if not hasattr(search, "best_index_"):
        raise Refusal(
            "the search kept several metrics and refit=False, so it claims none of them: "
            "fit it with refit='the metric' to say by which a setting is chosen."
        )
    rows = np.arange(len(results["params"]))
    cv: Any = search.cv
    notes: tuple[str, ...] = ()
    if "n_resources" in results:
        rows, cv, notes = _last_round(search)
    scores = _scores(results, metric)[rows]
    best = int(np.flatnonzero(rows == search.best_index_)[0])
    scoring = search.scoring
    if getattr(search, "multimetric_", False):
        scorer = search.scorer_
        scoring = one_of_function(scorer, metric) if callable(scorer) else scorer[metric]
    return Claim(
        search=type(search).__name__,
        name="best_score_" if hasattr(search, "best_score_") else "the mean score of best_index_",
        score=float(getattr(search, "best_score_", scores[best].mean())),
        best=best,
        candidates=tuple(dict(results["params"][row]) for row in rows),
        estimator=search.estimator,
        scoring=scoring,
        cv=cv,
        scores=scores,
        goes_on=getattr(search, "error_score", "raise") != "raise",
        findings=_of_metrics(search, metric),
        notes=notes,
    )


def _ours(search: Any) -> Claim:
    curve = search.curve_
    return Claim(
        search=type(search).__name__,
        name="best_score_",
        score=float(search.best_score_),
        best=int(search.best_index_),
        candidates=curve.candidates,
        estimator=search.estimator,
        scoring=search.loss_,
        cv=None,
        scores=_scores(search.cv_results_, "score"),
        curve=curve,
    )


def _metric(search: Any) -> str:
    if not getattr(search, "multimetric_", False):
        return "score"
    if isinstance(search.refit, str):
        return str(search.refit)
    raise Refusal(
        "the search kept several metrics and chose by a function of its own (refit): no single "
        "score is claimed. Use tr.estimate_risk(search, X, y), or refit='the metric'."
    )


def _of_metrics(search: Any, metric: str) -> tuple[Finding, ...]:
    if not getattr(search, "multimetric_", False):
        return ()
    keys = [key for key in search.cv_results_ if key.startswith("mean_test_")]
    others = sorted({key.removeprefix("mean_test_") for key in keys} - {metric})
    return (
        Finding(
            "several-metrics",
            f"The setting was chosen by '{metric}'; {', '.join(others)} of the same setting "
            "are not audited here.",
            "Report the metric that chose, or audit a search that chooses by the other one.",
        ),
    )


def _scores(results: Mapping[str, Any], metric: str) -> np.ndarray:
    """Return the scores of candidates (rows) in splits (columns)."""
    ending = f"_test_{metric}"
    splits = [name for name in results if name.startswith("split") and name.endswith(ending)]
    splits.sort(key=lambda name: int(name.removeprefix("split").removesuffix(ending)))
    if not splits:
        raise Refusal("cv_results_ holds no scores of single splits (split0_test_score, …).")
    return np.column_stack([np.asarray(results[name], dtype=np.float64) for name in splits])


def _last_round(search: Any) -> tuple[np.ndarray, Any, tuple[str, ...]]:
    """Return the candidates of a halving search's last round, its splits, and notes."""
    results = search.cv_results_
    rounds = np.asarray(results["iter"])
    last = rounds == rounds.max()
    dropped = len(rounds[rounds == 0]) - int(last.sum())
    left = int(last.sum())
    note = f"halving: of {dropped + left} settings the {left} of the last round are audited; "
    notes = (f"{note}what the earlier rounds add to the optimism, level='nested' counts",)
    cv = search.cv
    if search.resource == "n_samples":
        used = int(np.asarray(results["n_resources"])[last][0])
        cv = Subsampled(search.cv, used, search.random_state, search.estimator)
    return np.flatnonzero(last), cv, notes


@frozen
class Subsampled:
    """The splits of a halving round: each side is reduced to that round's share of the rows."""

    cv: Any
    n_used: int
    random_state: Any
    estimator: Any

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return sum(1 for _ in self.split(X, y, groups))

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Draw the splits as HalvingGridSearchCV does."""
        from sklearn.base import is_classifier
        from sklearn.model_selection import check_cv
        from sklearn.utils import resample

        share = self.n_used / len(y)
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        for pair in splitter.split(X, y, groups):
            train, test = (
                resample(
                    rows,
                    replace=False,
                    random_state=self.random_state,
                    n_samples=int(share * len(rows)),
                )
                for rows in pair
            )
            yield train, test


def _plain(search: Any, kind: type, without: tuple[str, ...]) -> Any:
    """Return the learner without its search, with every parameter that the two share."""
    parameters = kind().get_params()
    shared = {n: v for n, v in search.get_params(deep=False).items() if n in parameters}
    if isinstance(shared.get("precompute"), str):
        shared["precompute"] = False
    return kind(**{n: v for n, v in shared.items() if n not in without})


def read_logistic(search: Any) -> Claim:
    """Read `scores_[class][fold, C, l1_ratio]`, or without classes from scikit-learn 1.10 on."""
    from sklearn.linear_model import LogisticRegression

    scores = _logistic_scores(search)  # folds, Cs, ratios
    ratios = [r for r in np.atleast_1d(search.l1_ratios_).tolist() if r is not None]
    settings = [
        {"C": float(C)} | ({"l1_ratio": ratios[r]} if ratios else {})
        for C in search.Cs_
        for r in range(scores.shape[2])
    ]
    by_candidate = scores.reshape(len(scores), -1).T
    best = int(by_candidate.sum(axis=1).argmax())
    scoring = search.scoring if search.scoring not in (None, "warn") else "accuracy"
    notes = () if search.refit else ("refit=False: the coefficients are means over the folds",)
    return Claim(
        search=type(search).__name__,
        name="the best mean of scores_",
        score=float(by_candidate[best].mean()),
        best=best,
        candidates=tuple(settings),
        estimator=_plain(search, LogisticRegression, ("C", "l1_ratio", "n_jobs")),
        scoring=scoring,
        cv=5 if search.cv is None else search.cv,
        scores=by_candidate,
        exact=False,
        notes=notes,
    )


def _logistic_scores(search: Any) -> np.ndarray:
    stored_scores = search.scores_
    if not isinstance(stored_scores, dict):
        return np.moveaxis(np.asarray(stored_scores), 1, 2)
    first, *others = (np.asarray(scores) for scores in stored_scores.values())
    if any(not np.array_equal(first, other) for other in others):
        raise Refusal(
            "LogisticRegressionCV chose one C per class (one-vs-rest): there is no single claim. "
            "Use tr.estimate_risk(search, X, y), which repeats it in every split."
        )
    return first if first.ndim == 3 else first[:, :, None]


def read_ridge(search: Any) -> Claim:
    """Read RidgeCV: leave-one-out scores (cv=None), or a grid search that it did not store."""
    from sklearn.base import is_classifier
    from sklearn.linear_model import Ridge, RidgeClassifier
    from sklearn.model_selection import LeaveOneOut

    if np.ndim(search.alpha_) or getattr(search, "alpha_per_target", False):
        raise Refusal("RidgeCV with one alpha per target makes several claims; audit one target.")
    alphas = np.atleast_1d(search.alphas).astype(float)
    alone = search.cv is None
    scoring, scores = search.scoring, None
    if alone and scoring is None:
        scoring = "neg_mean_squared_error"
        losses = getattr(search, "cv_results_", None)
        scores = None if losses is None or losses.ndim != 2 else -np.asarray(losses).T
    kind = RidgeClassifier if is_classifier(search) else Ridge
    return Claim(
        search=type(search).__name__,
        name="best_score_",
        score=float(search.best_score_),
        best=int(np.flatnonzero(alphas == search.alpha_)[0]),
        candidates=tuple({"alpha": float(alpha)} for alpha in alphas),
        estimator=_plain(search, kind, ("alpha",)),
        scoring=scoring,
        cv=LeaveOneOut() if alone else search.cv,
        scores=scores,
        pooled=alone,
    )


def read_lasso(search: Any) -> Claim:
    """Read `mse_path_[l1_ratio, alpha, fold]`."""
    from sklearn.linear_model import ElasticNet, Lasso

    mixed = hasattr(search, "l1_ratio")
    ratios = np.atleast_1d(search.l1_ratio).astype(float) if mixed else np.ones(1)
    alphas = np.atleast_2d(search.alphas_)
    alphas = np.broadcast_to(alphas, (len(ratios), alphas.shape[1]))
    errors = np.asarray(search.mse_path_).reshape(len(ratios), alphas.shape[1], -1)
    settings = tuple(
        {"alpha": float(alpha)} | ({"l1_ratio": float(ratio)} if mixed else {})
        for ratio, path in zip(ratios, alphas, strict=True)
        for alpha in path
    )
    by_candidate = -errors.reshape(len(settings), -1)
    best = int(by_candidate.mean(axis=1).argmax())
    return Claim(
        search=type(search).__name__,
        name="the smallest mean of mse_path_",
        score=float(by_candidate[best].mean()),
        best=best,
        candidates=settings,
        estimator=_plain(search, ElasticNet if mixed else Lasso, ("alpha", "l1_ratio")),
        scoring="neg_mean_squared_error",
        cv=5 if search.cv is None else search.cv,
        scores=by_candidate,
        exact=False,
        errors=True,
    )


def read_study(search: Any) -> Claim:
    """Read the finished trials, each with the scores of its splits among its `user_attrs`."""
    trials = [t for t in search.study_.trials if getattr(t.state, "name", "") == "COMPLETE"]
    if not trials:
        raise Refusal("the study of this search has no finished trial: nothing is claimed.")
    unfinished = len(search.study_.trials) - len(trials)
    numbers = [t.number for t in trials]
    return Claim(
        search=type(search).__name__,
        name="best_score_",
        score=float(search.best_score_),
        best=numbers.index(search.best_index_),
        candidates=tuple(dict(t.params) for t in trials),
        estimator=search.estimator,
        scoring=search.scoring,
        cv=_splitter(search),
        scores=_scores_of_trials(trials),
        notes=(f"{unfinished} trials were pruned or failed",) if unfinished else (),
    )


def _scores_of_trials(trials: list[Any]) -> np.ndarray | None:
    of_splits = [name for name in trials[0].user_attrs if re.fullmatch("split.*_test_score", name)]
    names = [f"split{k}_test_score" for k in range(len(of_splits))]
    if not names or any(name not in t.user_attrs for t in trials for name in names):
        return None
    return np.array([[t.user_attrs[name] for name in names] for t in trials], dtype=np.float64)


def _splitter(search: Any) -> Any:
    rows = np.asarray(search.sample_indices_)
    whole = np.array_equal(rows, np.arange(len(rows)))
    if whole and getattr(search, "subsample", 1.0) in (1, 1.0):
        return 5 if search.cv is None else search.cv
    return OnRows(5 if search.cv is None else search.cv, rows, search.estimator)


@frozen(eq=False)
class OnRows:
    """The splits of some of the rows, as numbers of all rows."""

    cv: Any
    rows: np.ndarray
    estimator: Any

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return sum(1 for _ in self.split(X, y, groups))

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Yield each pair of row numbers."""
        from sklearn.base import is_classifier
        from sklearn.model_selection import check_cv

        from truerisk.data.rows import take_rows

        y = np.asarray(y)[self.rows]
        splitter = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        within = None if groups is None else np.asarray(groups)[self.rows]
        for train, test in splitter.split(take_rows(X, self.rows), y, within):
            yield self.rows[train], self.rows[test]
