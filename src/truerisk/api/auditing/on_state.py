"""State that outlives `clone`: what a search learned before it saw its splits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from truerisk.api.findings.finding import Finding
from truerisk.core.present import clean

__all__ = ["fitted_inside", "state_findings", "study_given"]


def state_findings(search: Any) -> list[Finding]:
    """A given study, fitted parts that clone keeps, and warm starts."""
    return [*_of_study(search), *_of_parts(search), *_of_warm_start(search)]


def study_given(search: Any) -> bool:
    """Whether the search goes on with a study that was handed to it."""
    return getattr(search, "study", None) is not None


def _of_study(search: Any) -> Iterator[Finding]:
    if not study_given(search):
        return
    total, own = len(search.study_.trials), getattr(search, "n_trials", None)
    more = own is not None and total > own
    told = f"it holds {total} trials and this search ran {own}: " if more else ""
    yield Finding(
        "state-survives-clone",
        f"The search was given a study that keeps learning over fits and clones; {told}"
        "the score is the best of all of them, and a repetition inside outer folds would "
        "already know the test rows.",
        "Fit with study=None.",
    )


def _of_parts(search: Any) -> Iterator[Finding]:
    from sklearn.base import clone

    names = fitted_inside(clone(getattr(search, "estimator", search)))
    if names:
        yield Finding(
            "state-survives-clone",
            f"Parts of the model are fitted already and stay so in every fold: {', '.join(names)}. "
            "What they learned from, the search may test on.",
            "Give unfitted parts, so that they are fitted inside the folds (no FrozenEstimator, "
            "no prefit).",
        )


def fitted_inside(estimator: Any) -> list[str]:
    """Names of the parts of a clone that are fitted nevertheless."""
    found = []
    for name, part in estimator.get_params(deep=True).items():
        if hasattr(part, "fit") and not isinstance(part, type) and _is_fitted(part):
            found.append(clean(f"{name} ({type(part).__name__})", 60))
    return found


def _is_fitted(part: Any) -> bool:
    return any(n.endswith("_") and not n.startswith("_") for n in vars(part))


def _of_warm_start(search: Any) -> Iterator[Finding]:
    params = getattr(search, "estimator", search).get_params(deep=True)
    warm = [n for n, v in params.items() if n.rpartition("__")[2] == "warm_start" and v is True]
    if warm:
        yield Finding(
            "warm-start",
            f"{', '.join(clean(n, 60) for n in warm)}=True: a second fit of the same object goes "
            "on from the first, whatever rows that saw. clone() forgets it, a refit does not.",
            "Use warm_start=False unless you add to the same rows on purpose.",
        )
