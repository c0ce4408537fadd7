"""MultipleImputation: a learner fitted on several imputed tables; predictions are averaged."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from truerisk.core.arguments import check_count
from truerisk.models.early_stopping import WrappedEstimator, estimator_has_method


class MultipleImputation(WrappedEstimator):
    """Learner whose predictions are averaged over several random imputations of missing values.

    Each imputed table has its own imputer, which is fitted on the training rows with random numbers
    of its own, and a copy of the learner. A new row is imputed by each imputer, and the
    probabilities (or values) that the learners predict for it are averaged. All of this is part of
    ``fit`` and ``predict``, so that an honest risk of this model includes the cost of missing
    values, and its interval, from held-out rows, needs no rule of Rubin. The default imputer does
    not use the outcome, because new rows have none.

    Equal calls give equal predictions. Missing values of rows that are predicted together are
    imputed one after the other, so that the predictions for a row may depend on the other rows of
    the call.

    Parameters
    ----------
    estimator : classifier or regressor
        The learner, tuned by ``estimator__...``.
    n_imputations : int, default=5
        The number of imputed tables, and of fitted learners.
    imputer : transformer, optional
        An imputer that draws values, with a ``random_state``, alone or in a pipeline. It is given
        y, as a step of a pipeline is. The default is ``IterativeImputer(sample_posterior=True)``.
    random_state : int, RandomState or None, optional
        The seed of the imputers.

    Attributes
    ----------
    imputers_ : list of transformers
        The fitted imputer of each table.
    estimators_ : list of estimators
        The fitted learner of each table.
    classes_ : array, shape (n_classes,)
        The classes, for a classifier.

    See Also
    --------
    sklearn.impute.IterativeImputer : The default imputer.

    References
    ----------
    Rubin DB (1987). Multiple Imputation for Nonresponse in Surveys. Wiley.

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
        """Impute missing values (NaN) in `n_imputations` tables, and fit the learner on each.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The training rows.
        y : array, shape (n_samples,)
            The targets of the training rows.
        **params
            Fit parameters of the learner, such as ``sample_weight``.

        Returns
        -------
        MultipleImputation
            The fitted model.
        """
        check_count("n_imputations", self.n_imputations)
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_imputations)
        self.imputers_ = [_imputer_with_seed(self.imputer, int(seed)) for seed in seeds]
        imputed_tables = [imputer.fit_transform(X, y) for imputer in self.imputers_]
        self.estimators_ = [
            clone(self.estimator).fit(table, y, **params) for table in imputed_tables
        ]
        if is_classifier(self.estimator):
            self.classes_ = self.estimators_[0].classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the largest mean score; for a regression, predict the mean value.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples,)
            The predicted labels or values.
        """
        if not is_classifier(self.estimator):
            return self._average_predictions("predict", X)
        has_probabilities = hasattr(self.estimator, "predict_proba")
        mean_scores = self._average_predictions(
            "predict_proba" if has_probabilities else "decision_function", X
        )
        predicted_codes = (
            (mean_scores > 0).astype(np.intp)
            if mean_scores.ndim == 1
            else mean_scores.argmax(axis=1)
        )
        return np.asarray(self.classes_[predicted_codes])

    @available_if(estimator_has_method("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities, averaged over the fitted learners.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples, n_classes)
            The probabilities, in the order of `classes_`.
        """
        return self._average_predictions("predict_proba", X)

    @available_if(estimator_has_method("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values, averaged over the fitted learners.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array
            The means over the fitted learners.
        """
        return self._average_predictions("decision_function", X)

    def _average_predictions(self, method: str, X: Any) -> np.ndarray:
        """Average the results of a method, such as `predict_proba`, over the learners.

        Each learner gets the rows with missing values filled by its own imputer.
        """
        check_is_fitted(self)
        # A copy of each imputer draws the values, so that equal rows always get equal values.
        imputers_and_models = zip(self.imputers_, self.estimators_, strict=True)
        predictions = [
            getattr(model, method)(deepcopy(imputer).transform(X))
            for imputer, model in imputers_and_models
        ]
        return np.asarray(np.mean(predictions, axis=0))

    def _estimator_with_input(self) -> Any:
        return self.imputers_[0]

    def __sklearn_tags__(self) -> Any:
        tags, estimator_tags = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = estimator_tags.estimator_type
        tags.classifier_tags, tags.regressor_tags = (
            estimator_tags.classifier_tags,
            estimator_tags.regressor_tags,
        )
        tags.target_tags = estimator_tags.target_tags
        tags.input_tags.allow_nan = True
        return tags


def _imputer_with_seed(imputer: Any, seed: int) -> Any:
    """Return a copy of the imputer (or the default imputer) with this seed.

    Raise ValueError if the imputer does not draw random values.
    """
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    imputer_copy = IterativeImputer(sample_posterior=True) if imputer is None else clone(imputer)
    params = imputer_copy.get_params()
    seed_names = [name for name in params if name.rpartition("__")[2] == "random_state"]
    posterior_names = [name for name in params if name.rpartition("__")[2] == "sample_posterior"]
    if not seed_names or not all(params[name] for name in posterior_names):
        raise ValueError(
            f"imputer={type(imputer_copy).__name__}: it does not draw, so that all tables would be "
            "the same; take IterativeImputer(sample_posterior=True)."
        )
    return imputer_copy.set_params(**dict.fromkeys(seed_names, seed))
