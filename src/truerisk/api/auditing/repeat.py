"""The whole search inside outer folds: the risk of searching and fitting, by nested validation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from truerisk.api.auditing.claim import USED_UP, Claim
from truerisk.api.auditing.on_state import study_given
from truerisk.api.auditing.score_scale import ScoreScale
from truerisk.core.contracts import Method
from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.core.progress import stage
from truerisk.core.results import RiskCurve, RiskEstimate
from truerisk.methods.nested import Nested
from truerisk.methods.splitter import Splitter
from truerisk.methods.words import USUAL_FOLDS, as_method
from truerisk.run.problem import pose
from truerisk.run.run import compute, curve_of, procedure_of

__all__ = ["of_clones", "repeated", "with_groups"]


def repeated(
    search: Any,
    claim: Claim,
    scale: ScoreScale,
    X: Any,
    y: Any,
    outer: Any,
    given: Mapping[str, Any],
) -> RiskEstimate:
    """Search anew in every outer training set and test outside.

    A grid is known before any row is seen, so it goes the fast way; a search that draws its
    settings from the data is cloned and fitted as it stands.
    """
    if study_given(search):
        raise Refusal(
            "the search goes on with a study that already knows all rows, so it cannot be "
            "repeated honestly: fit it with study=None."
        )
    with stage("repeating the search"):
        if claim.kept is not None:
            return _ours(search, claim.kept, X, y, outer, given)
        folds = USUAL_FOLDS if outer is None else outer
        if _is_fixed_grid(search):
            return _by_grid(claim, scale, X, y, folds, given)
        return _by_clones(search, claim, scale, X, y, folds, given)


def _ours(
    search: Any, kept: RiskCurve, X: Any, y: Any, outer: Any, given: Mapping[str, Any]
) -> RiskEstimate:
    """It has done this itself, unless it was told not to or is asked for other outer folds."""
    from sklearn.base import clone

    known = getattr(search, "risk_", None)
    if known is None or outer is not None:
        again = clone(search).set_params(refit=False)
        again.set_params(outer=USUAL_FOLDS if outer is None else outer)
        if again.select_by is None and again.cv is None:  # whatever is known of the rows by now
            again.set_params(select_by=kept.common.method)
        of_rows = {name: given[name] for name in ("groups", "time", "block")}
        known = again.fit(X, y, **of_rows, **(given["fit_params"] or {})).risk_
    return known


def _is_fixed_grid(search: Any) -> bool:
    """Whether every clone compares the same settings and takes the one with the best mean."""
    from numbers import Integral

    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

    if type(search) not in (GridSearchCV, RandomizedSearchCV):
        return False
    if not (search.refit is True or isinstance(search.refit, str)):
        return False
    seeded = isinstance(getattr(search, "random_state", None), Integral)
    return type(search) is GridSearchCV or seeded


def _by_grid(
    claim: Claim, scale: ScoreScale, X: Any, y: Any, outer: Any, given: Mapping[str, Any]
) -> RiskEstimate:
    problem = pose(
        Family(claim.estimator, claim.candidates), X, y, loss=_loss(scale, claim), **given
    )
    found = procedure_of(compute(problem, Nested(outer, _inner(claim, y))))
    assert found is not None
    return replace(found, notes=(*found.notes, *claim.notes))


def _inner(claim: Claim, y: Any) -> Method:
    if hasattr(claim.cv, "split") or claim.cv is None or isinstance(claim.cv, int):
        return Splitter(claim.splitter(y), average="fold")
    pairs = list(claim.cv)
    if not pairs:
        raise Refusal(USED_UP)
    return replace(as_method(pairs), average="fold")  # type: ignore[type-var]


def _by_clones(
    search: Any,
    claim: Claim,
    scale: ScoreScale,
    X: Any,
    y: Any,
    outer: Any,
    given: Mapping[str, Any],
) -> RiskEstimate:
    from sklearn.base import clone

    params = with_groups(given.get("fit_params") or {}, given.get("groups"))
    asked = {**given, "fit_params": params, "loss": _loss(scale, claim)}
    problem = pose(Family(clone(search)), X, y, **asked)
    return of_clones(curve_of(compute(problem, outer, honest=True))[0], claim.search)


def with_groups(fit_params: Mapping[str, Any], groups: Any) -> dict[str, Any]:
    """What a search is given in its fits: it splits its rows itself, so it needs their groups."""
    return dict(fit_params) if groups is None else {**fit_params, "groups": groups}


def of_clones(found: RiskEstimate, search: str) -> RiskEstimate:
    """The risk of a model that is a search, called what it is: nested validation of all it does."""
    return replace(
        found,
        method=f"nested ({found.method}, {search} cloned)",
        bias=f"{found.bias}; the search is inside and adds no optimism",
    )


def _loss(scale: ScoreScale, claim: Claim) -> Any:
    if scale.whole is None:
        raise Refusal(
            f"the score of this search ({scale.word}) is the model's own and has no scorer: "
            "give the search scoring=, and fit again."
        )
    return scale.whole
