"""Searches that are learners: LogisticRegressionCV, RidgeCV, LassoCV, ElasticNetCV."""

from __future__ import annotations

from typing import Any

import numpy as np

from truerisk.api.auditing.claim import Claim
from truerisk.core.errors import Refusal

__all__ = ["read_lasso", "read_logistic", "read_ridge"]


def _plain(search: Any, kind: type, without: tuple[str, ...]) -> Any:
    """The learner without its search, with every parameter that the two share."""
    known = kind().get_params()
    shared = {n: v for n, v in search.get_params(deep=False).items() if n in known}
    if isinstance(shared.get("precompute"), str):
        shared["precompute"] = False
    return kind(**{n: v for n, v in shared.items() if n not in without})


def read_logistic(search: Any) -> Claim:
    """`scores_[class][fold, C, l1_ratio]`, or without classes from scikit-learn 1.10 on."""
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
    kept = search.scores_
    if not isinstance(kept, dict):
        return np.moveaxis(np.asarray(kept), 1, 2)
    first, *others = (np.asarray(scores) for scores in kept.values())
    if any(not np.array_equal(first, other) for other in others):
        raise Refusal(
            "LogisticRegressionCV chose one C per class (one-vs-rest): there is no single claim. "
            "Use tr.estimate_risk(search, X, y), which repeats it in every split."
        )
    return first if first.ndim == 3 else first[:, :, None]


def read_ridge(search: Any) -> Claim:
    """By leave-one-out (cv=None), or a grid search that RidgeCV made and threw away."""
    from sklearn.base import is_classifier
    from sklearn.linear_model import Ridge, RidgeClassifier

    if np.ndim(search.alpha_) or getattr(search, "alpha_per_target", False):
        raise Refusal("RidgeCV with one alpha per target makes several claims; audit one target.")
    alphas = np.atleast_1d(search.alphas).astype(float)
    alone = search.cv is None
    scoring, scores = search.scoring, None
    if alone and scoring is None:
        scoring = "neg_mean_squared_error"
        kept = getattr(search, "cv_results_", None)
        scores = None if kept is None or kept.ndim != 2 else -np.asarray(kept).T
    kind = RidgeClassifier if is_classifier(search) else Ridge
    return Claim(
        search=type(search).__name__,
        name="best_score_",
        score=float(search.best_score_),
        best=int(np.flatnonzero(alphas == search.alpha_)[0]),
        candidates=tuple({"alpha": float(alpha)} for alpha in alphas),
        estimator=_plain(search, kind, ("alpha",)),
        scoring=scoring,
        cv=_leave_one_out() if alone else search.cv,
        scores=scores,
        pooled=alone,
    )


def _leave_one_out() -> Any:
    from sklearn.model_selection import LeaveOneOut

    return LeaveOneOut()


def read_lasso(search: Any) -> Claim:
    """`mse_path_[l1_ratio, alpha, fold]`."""
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
