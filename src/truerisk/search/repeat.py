"""Repeat a whole search inside outer folds (nested validation), and find state that clones keep."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from truerisk.contracts import Method, Streams
from truerisk.core.arguments import mention
from truerisk.core.errors import BadData, FitFailed, FitFailedWarning, Refusal
from truerisk.core.family import Family
from truerisk.core.formats import clean
from truerisk.core.progress import stage
from truerisk.data.data import Data
from truerisk.engines.generic import Generic
from truerisk.estimation.problem import pose
from truerisk.estimation.run import compute, curve_of, procedure_of
from truerisk.methods.pairs import Pairs, testing_method
from truerisk.methods.parts.procedure import nested
from truerisk.methods.words import USUAL_FOLDS, as_method, by_splitter, default_name
from truerisk.plan.answers import Answers
from truerisk.results.finding import Finding, without_checks
from truerisk.results.results import RiskCurve, RiskEstimate
from truerisk.search.claim import USED_UP, Claim, ScoreScale


def repeated(
    search: Any,
    claim: Claim,
    scale: ScoreScale,
    X: Any,
    y: Any,
    outer: Any,
    terms: Mapping[str, Any],
) -> RiskEstimate:
    """Search again in every outer training set, and test outside it.

    A grid is fixed before any row is seen, so that its fits can be shared. A search whose settings
    depend on the data is cloned and fitted as a whole.
    """
    _refuse_study(search)
    with stage("repeating the search"):
        if claim.curve is not None:
            return _ours(search, claim.curve, X, y, outer, terms)
        folds = USUAL_FOLDS if outer is None else outer
        if _is_fixed_grid(search):
            return _by_grid(claim, scale, X, y, folds, terms)
        return _by_clones(search, claim, scale, X, y, folds, terms)


def tested_in_pairs(
    search: Any,
    claim: Claim,
    scale: ScoreScale,
    data: Data,
    terms: Mapping[str, Any],
    known: Answers | None = None,
) -> RiskEstimate:
    """Test the choice in the folds of the search, as HonestSearchCV does by default.

    Every fold is tested by the setting that the other folds choose, with fits that lack a further
    fold. `known` are the answers of a replay of the search, whose fits are not repeated. If the
    splits cannot be left out in pairs, or if the settings depend on the data, the whole search is
    repeated in outer folds.
    """
    _refuse_study(search)
    claim.refuse_other_rows(data)
    (y,) = data.targets(data.y)
    X, terms = data.X, {**terms, "time": data.time}
    usual = default_name(data)
    with stage("testing the choice"):
        if claim.curve is not None:
            return _ours(search, claim.curve, X, y, None, terms, usual="pairs")
        if not _is_fixed_grid(search):
            return _by_clones(search, claim, scale, X, y, usual, terms)
        inner = _inner(claim, y)
        claim.draw_splits(data)  # refuses a splitter that fails, with the reason
        method = testing_method("pairs", inner, usual)
        try:
            method.plan(data, Streams(0))
        except BadData as error:
            if not isinstance(method, Pairs):
                raise
            estimate = _by_grid(claim, scale, X, y, usual, terms)
            note = f"the whole search was repeated in outer folds ('{usual}'): {error}"
            return replace(estimate, notes=(note, *estimate.notes))
        return _of_grid(claim, scale, X, y, method, terms, known)


def _refuse_study(search: Any) -> None:
    if study_given(search):
        raise Refusal(
            "the search goes on with a study that already knows all rows, so it cannot be repeated "
            f"honestly: fit it with study=None. {mention('level', 'bbc')} corrects its score for "
            "the choice among its trials alone."
        )


def _ours(
    search: Any,
    curve: RiskCurve,
    X: Any,
    y: Any,
    outer: Any,
    terms: Mapping[str, Any],
    usual: str = USUAL_FOLDS,
) -> RiskEstimate:
    """Return the risk that a HonestSearchCV computed, or compute it with other outer folds."""
    from sklearn.base import clone

    risk = getattr(search, "risk_", None)
    if risk is None or outer is not None:
        again = clone(search).set_params(refit=False, checks=False)
        again.set_params(outer=usual if outer is None else outer)
        if again.cv is None:  # Use the same folds, even if groups or times are known only now.
            again.set_params(cv=curve.common.method)
        of_rows = {name: terms[name] for name in ("groups", "time", "block")}
        with without_checks():
            risk = again.fit(X, y, **of_rows, **(terms["fit_params"] or {})).risk_
    return risk


def _is_fixed_grid(search: Any) -> bool:
    """Return True if all clones compare the same settings and take the one with the best mean."""
    from numbers import Integral

    from sklearn.model_selection import GridSearchCV, RandomizedSearchCV

    if type(search) not in (GridSearchCV, RandomizedSearchCV):
        return False
    if callable(search.refit):
        return False
    seeded = isinstance(getattr(search, "random_state", None), Integral)
    return type(search) is GridSearchCV or seeded


def _by_grid(
    claim: Claim, scale: ScoreScale, X: Any, y: Any, outer: Any, terms: Mapping[str, Any]
) -> RiskEstimate:
    return _of_grid(claim, scale, X, y, nested(outer, _inner(claim, y)), terms)


def _of_grid(
    claim: Claim,
    scale: ScoreScale,
    X: Any,
    y: Any,
    method: Method,
    terms: Mapping[str, Any],
    known: Answers | None = None,
) -> RiskEstimate:
    """Test the choice among fixed settings, with the calibrated interval of the loss."""
    family = Family(claim.estimator, claim.candidates)
    problem = replace(pose(family, X, y, scoring=_loss(scale, claim), **terms), calibrated=True)
    notes = claim.notes
    try:
        computed = compute(problem, method, known=[known])
    except FitFailed as error:
        if not claim.goes_on or problem.engine not in ("auto", Generic.name):
            raise
        lenient = replace(problem, engine=Generic(error="warn"))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FitFailedWarning)  # the note reports it
                computed = compute(lenient, method, known=[known])
        except Refusal:  # No setting is left; the first failure gives the reason.
            raise error from None
        notes = (SOME_FAILED, *notes)
    estimate = procedure_of(computed)
    assert estimate is not None
    return replace(estimate, notes=(*estimate.notes, *notes))


SOME_FAILED = (
    "fits of some settings failed on the smaller training sets; there these settings could not be "
    "chosen, as in the search"
)


def _inner(claim: Claim, y: Any) -> Method:
    if hasattr(claim.cv, "split") or claim.cv is None or isinstance(claim.cv, int):
        return by_splitter(claim.splitter(y), average="fold")
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
    terms: Mapping[str, Any],
) -> RiskEstimate:
    from sklearn.base import clone

    groups = terms.get("groups") if _takes_groups(search) else None
    params = with_groups(terms.get("fit_params") or {}, groups)
    own_terms = {**terms, "fit_params": params, "scoring": _loss(scale, claim)}
    problem = replace(pose(Family(clone(search)), X, y, **own_terms), calibrated=True)
    return of_clones(curve_of(compute(problem, outer, new_rows=True))[0], claim.search)


def _takes_groups(search: Any) -> bool:
    """Return False for learners that tune themselves, such as LassoCV, unless metadata are routed.

    Their `fit` has keyword arguments for metadata routing only, and refuses groups without it.
    """
    from sklearn import get_config

    return hasattr(search, "estimator") or bool(get_config()["enable_metadata_routing"])


def with_groups(fit_params: Mapping[str, Any], groups: Any) -> dict[str, Any]:
    """Return the fit parameters of a search, with the groups for its own splits."""
    return dict(fit_params) if groups is None else {**fit_params, "groups": groups}


def of_clones(estimate: RiskEstimate, search: str) -> RiskEstimate:
    """Return the risk of a search that was cloned, labelled as nested validation of all it does."""
    return replace(
        estimate,
        method=f"nested ({estimate.method}, {search} cloned)",
        bias=f"{estimate.bias}; the search is inside and adds no optimism",
    )


def _loss(scale: ScoreScale, claim: Claim) -> Any:
    if scale.whole is None:
        raise Refusal(
            f"the score of this search ({scale.word}) is the model's own and has no scorer: give "
            f"the search {mention('scoring')}, and fit again."
        )
    return scale.whole


def study_given(search: Any) -> bool:
    """Return True if the search continues a study that was passed to it."""
    return getattr(search, "study", None) is not None


def state_findings(search: Any) -> Iterator[Finding]:
    """Yield findings on a given study, on fitted parts that clone keeps, and on warm starts."""
    from sklearn.base import clone

    if study_given(search):
        total, own = len(search.study_.trials), getattr(search, "n_trials", None)
        more = own is not None and total > own
        excess = f"it holds {total} trials and this search ran {own}: " if more else ""
        yield Finding(
            "state-survives-clone",
            f"The search was given a study that keeps learning over fits and clones; {excess}"
            "the score is the best of all of them, and a repetition inside outer folds would "
            "already know the test rows.",
            "Fit with study=None.",
        )
    model, names = getattr(search, "estimator", search), []
    for name, part in clone(model).get_params(deep=True).items():
        if (
            hasattr(part, "fit")
            and not isinstance(part, type)
            and any(n.endswith("_") and not n.startswith("_") for n in vars(part))
        ):
            names.append(clean(f"{name} ({type(part).__name__})", 60))
    if names:
        yield Finding(
            "state-survives-clone",
            f"Parts of the model are fitted already and stay so in every fold: {', '.join(names)}. "
            "What they learned from, the search may test on.",
            "Give unfitted parts, so that they are fitted inside the folds (no FrozenEstimator, "
            "no prefit).",
        )
    params = model.get_params(deep=True)
    warm = [n for n, v in params.items() if n.rpartition("__")[2] == "warm_start" and v is True]
    if warm:
        yield Finding(
            "warm-start",
            f"{', '.join(clean(n, 60) for n in warm)}=True: a second fit of the same object goes "
            "on from the first, whatever rows that saw. clone() forgets it, a refit does not.",
            "Use warm_start=False unless you add to the same rows on purpose.",
        )
