"""Let learners that split their own training rows keep copies of a row together.

A search whose folds separate copies of a row is tested on rows that it was trained on: in pure
noise it chooses one neighbour and reports an error of a quarter. Therefore the learner's own `cv`
splits the distinct rows, and all copies of a row go to the side of that row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.contracts import Method
from truerisk.core.errors import Refusal
from truerisk.core.family import Family, tuned_by
from truerisk.core.identity import is_a
from truerisk.data.rows import n_rows, take_rows
from truerisk.plan.plan import Plan

LEAVING_ONE_OUT = ("sklearn.linear_model:RidgeCV", "sklearn.linear_model:RidgeClassifierCV")
REMEDY = (
    "Use cv=5, say, or tune it by HonestSearchCV(outer=...) or "
    "tr.methods.Nested(outer=tr.methods.Bootstrap(...))."
)


class _ByRow:
    """Splitter that applies another splitter to the distinct rows; copies stay with their row."""

    def __init__(self, cv: Any, copy_of: np.ndarray, of_classes: bool) -> None:
        self.cv, self.copy_of, self.of_classes = cv, copy_of, of_classes

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        if X is None:
            return int(self.cv.get_n_splits()) if hasattr(self.cv, "split") else int(self.cv or 5)
        return sum(1 for _ in self.split(X, y, groups))

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        from sklearn.model_selection import check_cv

        if n_rows(X) != len(self.copy_of):
            raise ValueError(
                f"{n_rows(X)} rows are to be split, and the sample has {len(self.copy_of)}: a step "
                "before changed them, so that copies of a row cannot be kept together: put the "
                "search around the pipeline, or use a method without copies, such as '10-fold'"
            )
        _, first = np.unique(self.copy_of, return_index=True)
        y_once = None if y is None else take_rows(y, first)
        groups_once = None if groups is None else take_rows(groups, first)
        cv = check_cv(self.cv, y_once, classifier=self.of_classes)
        for sides in cv.split(take_rows(X, first), y_once, groups_once):
            train, test = (np.flatnonzero(np.isin(self.copy_of, side)) for side in sides)
            yield train, test


def keep_copies_together(model: Any, copy_of: np.ndarray) -> dict[str, Any]:
    """Set every `cv` of a model to split distinct rows; return the fit parameters that this needs.

    `copy_of[i]` is the number of the distinct row of which row i is a copy.
    """
    from sklearn.base import is_classifier

    params = model.get_params(deep=True)
    names = _splitting(params, model)
    _refuse_splits_in_splits(params, model, names)
    for name in names:
        owner = _owner(params, model, name)
        _refuse_uncut(owner, params[name])
        of_classes = is_classifier(owner) or is_classifier(tuned_by(owner))
        model.set_params(**{name: _ByRow(params[name], copy_of, of_classes)})
    family = Family(model)
    return {f"{family.prefix}groups": copy_of} if hasattr(family.last, "copies_as_groups") else {}


def _refuse_splits_in_splits(params: dict[str, Any], model: Any, names: list[str]) -> None:
    """Refuse nested splits: an inner learner cannot know which of its rows are copies."""
    for outer in names:
        part = outer[: -len("cv")]
        inner = [name for name in names if name.startswith(part) and name != outer]
        if inner:
            raise Refusal(
                f"{type(_owner(params, model, outer)).__name__} splits the rows of a bootstrap "
                f"sample, and {type(_owner(params, model, inner[0])).__name__} inside splits what "
                "it is shown of them: copies of a row would be on both sides. Use a method that "
                "draws no copies, such as '10-fold'."
            )


def _refuse_uncut(owner: Any, cv: Any) -> None:
    """Refuse a `cv` that cannot be applied to the distinct rows."""
    name = type(owner).__name__
    if cv is None and is_a(owner, *LEAVING_ONE_OUT):
        raise Refusal(
            f"{name} without cv leaves out one row at a time and would keep its copies in a "
            f"bootstrap sample: it would choose wrongly. {REMEDY}"
        )
    if not (cv is None or hasattr(cv, "split") or isinstance(cv, int | np.integer)):
        raise Refusal(
            f"cv={str(cv)[:60]} of {name} does not say how to split the distinct rows of a "
            f"bootstrap sample, and copies of a row would be on both sides. {REMEDY}"
        )


def copies_note(family: Family, plan: Plan) -> tuple[str, ...]:
    """Return a note for the reader if the learner splits samples that contain copies."""
    if plan.blocks.counts is None or not any(
        plan.train_rows(fit)[1] is not None for fit in range(min(plan.n_fits, 3))
    ):
        return ()
    params = family.estimator.get_params(deep=True)
    if not _splitting(params, family.estimator) and not hasattr(
        family.estimator, "copies_as_groups"
    ):
        return ()
    return (
        f"{family.name} split the distinct rows of each sample: copies of a row stayed together.",
    )


def _splitting(params: dict[str, Any], model: Any) -> list[str]:
    """Return the names of the `cv` parameters that have to be replaced to keep copies together.

    A learner that accepts the copies as groups keeps them together itself if its `cv` is not given,
    or is a name or a method of this package.
    """

    def keeps_groups(name: str) -> bool:
        own = hasattr(_owner(params, model, name), "copies_as_groups")
        return own and (params[name] is None or isinstance(params[name], str | Method))

    names = (name for name in params if name.rpartition("__")[2] == "cv")
    return sorted(name for name in names if params[name] != "prefit" and not keeps_groups(name))


def _owner(params: dict[str, Any], model: Any, name: str) -> Any:
    """Return the object that holds the parameter: the model itself, or a part of it."""
    return params[name.rpartition("__")[0]] if "__" in name else model
