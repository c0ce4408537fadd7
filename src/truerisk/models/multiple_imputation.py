"""MultipleImputation: a learner fitted on several imputed copies, whose answers are averaged."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from truerisk.core.arguments import check_count
from truerisk.models.early_stopping import Around, learner_has


class MultipleImputation(Around):
    """A learner on `n_imputations` tables whose gaps were filled at random; answers are averaged.

    Each table has an imputer with random numbers of its own, fitted on the training rows, and a
    copy of the learner. A new row is filled in by each imputer, and its probabilities (or values)
    are the mean of those of the learners. All of this is part of ``fit`` and ``predict``, so an
    honest risk of this model contains what the gaps cost, and its interval, from held-out rows,
    needs no rule of Rubin. The usual imputer leaves the outcome out, as new rows have none.

    The same rows asked again have the same answers. Gaps of rows that are asked together are filled
    one after the other, so the answers of a row may differ beside other rows.

    Parameters
    ----------
    estimator : classifier or regressor
        Tuned by ``estimator__...``.
    n_imputations : int, default=5
        Tables, and fitted learners.
    imputer : transformer, optional
        One that draws, with a ``random_state``, alone or in a pipeline, which is given y as a step
        of a pipeline is; ``IterativeImputer(sample_posterior=True)`` by default.
    random_state : int, RandomState or None
        Of the imputers.

    Attributes
    ----------
    imputers_, estimators_ : list
        One of each for every table.
    classes_ : array
        Of a classifier.

    Examples
    --------
    >>> import numpy as np
    >>> import truerisk as tr
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = tr.datasets.make_simple(100, random_state=0)
    >>> X[::3, 1] = np.nan
    >>> model = tr.models.MultipleImputation(LogisticRegression(), random_state=0).fit(X, y)
    >>> len(model.estimators_), model.predict_proba(X).shape
    (5, (100, 2))
    """

    def __init__(
        self,
        estimator: Any,
        *,
        n_imputations: int = 5,
        imputer: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.n_imputations = n_imputations
        self.imputer = imputer
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **params: Any) -> MultipleImputation:
        """Fill in `n_imputations` tables, whose gaps are NaN, and fit a learner on each.

        Further `params`, such as ``sample_weight``, go to every fit of the learner.
        """
        check_count("n_imputations", self.n_imputations)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_imputations)
        self.imputers_ = [_seeded(self.imputer, int(seed)) for seed in seeds]
        filled = [imputer.fit_transform(X, y) for imputer in self.imputers_]
        self.estimators_ = [clone(self.estimator).fit(table, y, **params) for table in filled]
        if is_classifier(self.estimator):
            self.classes_ = self.estimators_[0].classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of the largest mean probability (or decision value); the mean of values."""
        if not is_classifier(self.estimator):
            return self._mean("predict", X)
        is_sure = hasattr(self.estimator, "predict_proba")
        ranked = self._mean("predict_proba" if is_sure else "decision_function", X)
        code = (ranked > 0).astype(np.intp) if ranked.ndim == 1 else ranked.argmax(axis=1)
        return np.asarray(self.classes_[code])

    @available_if(learner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the mean probabilities of the classes."""
        return self._mean("predict_proba", X)

    @available_if(learner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the mean decision values."""
        return self._mean("decision_function", X)

    def _mean(self, method: str, X: Any) -> np.ndarray:
        """Return the mean of the learners' predictions, each for rows from its own imputer."""
        check_is_fitted(self)
        # A copy of the imputer draws, so that the same rows always get the same imputed values.
        pairs = zip(self.imputers_, self.estimators_, strict=True)
        answers = [
            getattr(model, method)(deepcopy(imputer).transform(X)) for imputer, model in pairs
        ]
        return np.asarray(np.mean(answers, axis=0))

    def _first(self) -> Any:
        return self.imputers_[0]

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.input_tags.allow_nan = True
        return tags


def _seeded(imputer: Any, seed: int) -> Any:
    """Return a copy of the imputer (or of the default one) with this seed."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    made = IterativeImputer(sample_posterior=True) if imputer is None else clone(imputer)
    params = made.get_params()
    drawn = [name for name in params if name.rpartition("__")[2] == "random_state"]
    silent = [name for name in params if name.rpartition("__")[2] == "sample_posterior"]
    if not drawn or not all(params[name] for name in silent):
        raise ValueError(
            f"imputer={type(made).__name__}: it does not draw, so that all tables would be the "
            "same; take IterativeImputer(sample_posterior=True)."
        )
    return made.set_params(**dict.fromkeys(drawn, seed))
