"""Which reader reads which search."""

from __future__ import annotations

from typing import Any

from truerisk.api.auditing.claim import Claim
from truerisk.api.auditing.reading_grid import read_grid
from truerisk.api.auditing.reading_linear import read_lasso, read_logistic, read_ridge
from truerisk.api.auditing.reading_study import read_study
from truerisk.core.arguments import shown
from truerisk.core.errors import Refusal
from truerisk.core.identity import is_a

__all__ = ["given_to", "read_claim"]


def read_claim(search: Any) -> Claim:
    """The claim of a fitted search; told apart by what it holds, not by its class."""
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
    """The fitted search that a HonestSearchCV was given, which makes the claim; else the search."""
    ours = is_a(search, "truerisk.api.search:HonestSearchCV") and "search_" in vars(search)
    return given_to(search.search_) if ours else search


def _refuse_what_is_no_search(search: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if isinstance(search, type) or not hasattr(search, "fit"):
        raise Refusal(f"{shown(search)} is no search; give a fitted one, such as a GridSearchCV.")
    if hasattr(search, "study_"):
        return  # OptunaSearchCV is fitted by its study
    try:
        check_is_fitted(search)
    except NotFittedError:
        if not (hasattr(search, "cv") or hasattr(search, "select_by")):
            return  # fitted or not, it has no claim
        raise Refusal(
            f"this {type(search).__name__} is not fitted: there is no claim yet. "
            "Call fit(X, y) first."
        ) from None
