"""Let learners that split their own training rows keep copies of a row together.

A search whose folds separate copies of a row is tested on rows that it was trained on. On data that
are pure noise it then chooses one nearest neighbour and reports an error of a quarter. Therefore
the learner's own `cv` splits the distinct rows. All copies of a row go to the training set or the
test set in which that row is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truerisk.contracts import Method
from truerisk.core.errors import Refusal
from truerisk.core.family import Family, get_tuned_estimator
from truerisk.core.identity import is_a
from truerisk.data.rows import n_rows, take_rows
from truerisk.plan.plan import Plan

LEAVE_ONE_OUT_LEARNERS = ("sklearn.linear_model:RidgeCV", "sklearn.linear_model:RidgeClassifierCV")
CV_ADVICE = (
    "Use cv=5, say, or tune it by HonestSearchCV(outer=...) or "
    "tr.methods.Nested(outer=tr.methods.Bootstrap(...))."
)


class _DistinctRowSplitter:
    """Splitter that applies another `cv` to distinct rows, and keeps copies of a row together."""

    def __init__(self, cv: Any, original_rows: np.ndarray, is_for_classes: bool) -> None:
        self.cv, self.original_rows, self.is_for_classifier = cv, original_rows, is_for_classes

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        if X is None:
            return int(self.cv.get_n_splits()) if hasattr(self.cv, "split") else int(self.cv or 5)
        return sum(1 for _ in self.split(X, y, groups))

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        from sklearn.model_selection import check_cv

        if n_rows(X) != len(self.original_rows):
            raise ValueError(
                f"{n_rows(X)} rows are to be split, and the sample has {len(self.original_rows)}: "
                "a step "
                "before changed them, so that copies of a row cannot be kept together: put the "
                "search around the pipeline, or use a method without copies, such as '10-fold'"
            )
        _, first_copies = np.unique(self.original_rows, return_index=True)
        distinct_y = None if y is None else take_rows(y, first_copies)
        distinct_groups = None if groups is None else take_rows(groups, first_copies)
        cv = check_cv(self.cv, distinct_y, classifier=self.is_for_classifier)
        for split in cv.split(take_rows(X, first_copies), distinct_y, distinct_groups):
            train, test = (
                np.flatnonzero(np.isin(self.original_rows, distinct_rows))
                for distinct_rows in split
            )
            yield train, test


def keep_copies_together(model: Any, original_rows: np.ndarray) -> dict[str, Any]:
    """Make every `cv` in a model split the distinct rows of a sample, not their copies.

    Return the fit parameters that the model needs for this. `original_rows[i]` is the number of the
    distinct row of which training row i is a copy.
    """
    from sklearn.base import is_classifier

    params = model.get_params(deep=True)
    cv_names = _cv_to_replace(params, model)
    _refuse_nested_cv(params, model, cv_names)
    for name in cv_names:
        cv_estimator = _parameter_owner(params, model, name)
        _refuse_unusable_cv(cv_estimator, params[name])
        is_for_classifier = is_classifier(cv_estimator) or is_classifier(
            get_tuned_estimator(cv_estimator)
        )
        model.set_params(
            **{name: _DistinctRowSplitter(params[name], original_rows, is_for_classifier)}
        )
    family = Family(model)
    return (
        {f"{family.prefix}groups": original_rows}
        if hasattr(family.last, "copies_as_groups")
        else {}
    )


def _refuse_nested_cv(params: dict[str, Any], model: Any, cv_names: list[str]) -> None:
    """Raise Refusal if an estimator with a `cv` contains another estimator with a `cv`.

    The inner `cv` cannot know which rows are copies.
    """
    for outer_name in cv_names:
        prefix = outer_name[: -len("cv")]
        inner_names = [name for name in cv_names if name.startswith(prefix) and name != outer_name]
        if inner_names:
            raise Refusal(
                f"{type(_parameter_owner(params, model, outer_name)).__name__} splits the rows of "
                "a bootstrap sample, and "
                f"{type(_parameter_owner(params, model, inner_names[0])).__name__} inside splits "
                "what it is shown of them: copies of a row would be on both sides. Use a method "
                "that draws no copies, such as '10-fold'."
            )


def _refuse_unusable_cv(cv_estimator: Any, cv: Any) -> None:
    """Raise Refusal for a learner whose `cv` cannot be applied to the distinct rows."""
    estimator_name = type(cv_estimator).__name__
    if cv is None and is_a(cv_estimator, *LEAVE_ONE_OUT_LEARNERS):
        raise Refusal(
            f"{estimator_name} without cv leaves out one row at a time and would keep its copies "
            "in a "
            f"bootstrap sample: it would choose wrongly. {CV_ADVICE}"
        )
    if not (cv is None or hasattr(cv, "split") or isinstance(cv, int | np.integer)):
        raise Refusal(
            f"cv={str(cv)[:60]} of {estimator_name} does not say how to split the distinct rows of "
            "a "
            f"bootstrap sample, and copies of a row would be on both sides. {CV_ADVICE}"
        )


def copies_note(family: Family, plan: Plan) -> tuple[str, ...]:
    """Return a note for the result if the learner's own `cv` splits samples that contain copies."""
    if plan.blocks.counts is None or not any(
        plan.train_rows(fit)[1] is not None for fit in range(min(plan.n_fits, 3))
    ):
        return ()
    params = family.estimator.get_params(deep=True)
    if not _cv_to_replace(params, family.estimator) and not hasattr(
        family.estimator, "copies_as_groups"
    ):
        return ()
    return (
        f"{family.name} split the distinct rows of each sample: copies of a row stayed together.",
    )


def _cv_to_replace(params: dict[str, Any], model: Any) -> list[str]:
    """Return the names of the `cv` parameters that have to be replaced to keep copies together.

    A learner that accepts the copies as groups keeps them together itself if its `cv` is None, a
    string or a method of this package.
    """

    def keeps_groups(name: str) -> bool:
        accepts_copy_groups = hasattr(_parameter_owner(params, model, name), "copies_as_groups")
        return accepts_copy_groups and (
            params[name] is None or isinstance(params[name], str | Method)
        )

    cv_names = (name for name in params if name.rpartition("__")[2] == "cv")
    return sorted(name for name in cv_names if params[name] != "prefit" and not keeps_groups(name))


def _parameter_owner(params: dict[str, Any], model: Any, name: str) -> Any:
    """Return the estimator that holds the parameter: the model itself, or one nested in it."""
    return params[name.rpartition("__")[0]] if "__" in name else model
