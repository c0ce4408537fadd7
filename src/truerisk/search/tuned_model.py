"""Methods that a search passes on to its tuned model, and placeholders for missing results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, TypeVar, overload

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from truerisk.contracts import Request
from truerisk.core.errors import BadArgument, MissingResult
from truerisk.core.frozen import frozen
from truerisk.data.data import Data, without_columns
from truerisk.engines.running.answering import predict_all_rows
from truerisk.losses.loss import SURVIVAL_TASKS, Loss
from truerisk.search.search_problem import makes_predictions

PredictMethod = TypeVar("PredictMethod", bound=Callable[..., Any])


def _available_if_best_has(method: PredictMethod) -> PredictMethod:
    """Make a method available only if the estimator has a method of this name.

    The estimator is the tuned one, and before fitting the untuned one.
    """

    def check(search: TunedModel) -> bool:
        if "loss_" in vars(search):
            search._check_refitted(method.__name__)
        getattr(getattr(search, "best_estimator_", search.estimator), method.__name__)
        return True

    return available_if(check)(method)


class TunedModel:
    """Mixin that offers those prediction methods that `best_estimator_` has."""

    estimator: Any
    scoring: Any
    refit: Any
    scorer_: Any
    loss_: Any
    best_estimator_: Any

    def _get_tuned_model(self) -> Any:
        check_is_fitted(self, "loss_")
        self._check_refitted("the tuned model")
        return vars(self).get("search_", self.best_estimator_)

    def _check_refitted(self, subject: str) -> None:
        if not hasattr(self, "best_estimator_"):
            raise MissingResult(
                f"this search was made with `refit=False`. {subject} is available only after "
                "refitting on the best parameters: use refit=True, or fit a model with "
                "best_params_."
            )

    @property
    def classes_(self) -> np.ndarray:
        """Class labels of the refitted model, for classifiers."""
        best_estimator = vars(self).get("best_estimator_")
        if best_estimator is None or not hasattr(best_estimator, "classes_"):
            raise AttributeError(
                f"{type(self).__name__} has no classes_: it is not a classifier that was refitted."
            )
        return np.asarray(best_estimator.classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features seen when refitting."""
        try:
            self._get_tuned_model()
            return int(self.best_estimator_.n_features_in_)
        except Exception as error:
            raise AttributeError(f"{type(self).__name__} has no n_features_in_: {error}") from error

    def _drop_row_columns(self, X: Any) -> Any:
        """Return X without the columns that `fit` used as attributes of rows, such as groups."""
        return without_columns(X, vars(self).get("row_columns_", ()))

    @_available_if_best_has
    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions of the tuned model.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples,)
            The predicted labels or values.
        """
        return self._get_tuned_model().predict(self._drop_row_columns(X))

    @_available_if_best_has
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities of the tuned model.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples, n_classes)
            The class probabilities, in the order of `classes_`.
        """
        return self._get_tuned_model().predict_proba(self._drop_row_columns(X))

    @_available_if_best_has
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the log-probabilities of the tuned model.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples, n_classes)
            The logarithms of the class probabilities.
        """
        return self._get_tuned_model().predict_log_proba(self._drop_row_columns(X))

    @_available_if_best_has
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of the tuned model.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples,) or (n_samples, n_classes)
            The decision values of `best_estimator_`.
        """
        return self._get_tuned_model().decision_function(self._drop_row_columns(X))

    @_available_if_best_has
    def predict_survival_function(self, X: Any, **options: Any) -> Any:
        """Return the survival curves of the tuned model.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.
        **options
            Options that are passed to the method of the tuned model.

        Returns
        -------
        array
            The survival curve of each row, as the tuned model returns it.
        """
        return self._get_tuned_model().predict_survival_function(
            self._drop_row_columns(X), **options
        )

    @_available_if_best_has
    def predict_cumulative_hazard_function(self, X: Any, **options: Any) -> Any:
        """Return the cumulative hazards of the tuned model.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.
        **options
            Options that are passed to the method of the tuned model.

        Returns
        -------
        array
            The cumulative hazard of each row, as the tuned model returns it.
        """
        return self._get_tuned_model().predict_cumulative_hazard_function(
            self._drop_row_columns(X), **options
        )

    @_available_if_best_has
    def transform(self, X: Any) -> Any:
        """Transform X by the tuned model.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to transform.

        Returns
        -------
        array, shape (n_samples, n_components)
            The transformed rows.
        """
        return self._get_tuned_model().transform(self._drop_row_columns(X))

    @_available_if_best_has
    def inverse_transform(self, X: Any) -> Any:
        """Transform X back by the tuned model.

        Parameters
        ----------
        X : array, shape (n_samples, n_components)
            The transformed rows.

        Returns
        -------
        array, shape (n_samples, n_features)
            The rows in the space of the features.
        """
        return self._get_tuned_model().inverse_transform(X)

    @_available_if_best_has
    def score_samples(self, X: Any) -> np.ndarray:
        """Return the sample scores of the tuned model.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to predict.

        Returns
        -------
        array, shape (n_samples,)
            The score of each row.
        """
        return self._get_tuned_model().score_samples(self._drop_row_columns(X))

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """Return the tuned model's own score (accuracy, R²), or the score given by `scoring`.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features)
            The rows to score.
        y : array, shape (n_samples,), optional
            The targets of these rows.
        **params
            Refused, because no parameter of a score reaches the scorer.

        Returns
        -------
        float
            The score; higher is better.
        """
        if params:
            raise BadArgument(
                f"score was given {', '.join(params)}, and a parameter of score is only supported "
                "if metadata reach the scorer, which they do not here: give X and y."
            )
        model, X = self._get_tuned_model(), self._drop_row_columns(X)
        if self.scoring is None:
            return float(model.score(X, y))
        # The scorers of a wrapped search compute only its own scores, so the loss is used here.
        if "search_" in vars(self):
            return LossScorer(self.loss_, getattr(model, "classes_", None))(model, X, y)
        scorer = self.scorer_
        # If there are several scores, use the one that chose the setting.
        if isinstance(scorer, dict):
            if callable(self.refit):
                raise MissingResult(
                    "a function chose the setting by several scores, and none of them is the "
                    "score of this search: use scorer_, which has them by name."
                )
            scorer = scorer.get(self.refit, next(iter(scorer.values())))
        return float(scorer(model, X, y))

    def __sklearn_tags__(self) -> Any:
        from copy import deepcopy

        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()  # type: ignore[misc]
        estimator_tags = get_tags(self.estimator)
        tags.estimator_type = estimator_tags.estimator_type
        tags.classifier_tags = deepcopy(estimator_tags.classifier_tags)
        tags.regressor_tags = deepcopy(estimator_tags.regressor_tags)
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.input_tags.pairwise = estimator_tags.input_tags.pairwise
        tags.input_tags.sparse = estimator_tags.input_tags.sparse
        tags.input_tags.allow_nan = estimator_tags.input_tags.allow_nan
        tags.array_api_support = False
        tags.target_tags.required = makes_predictions(self.estimator)
        tags.target_tags.single_output = estimator_tags.target_tags.single_output
        return tags


Result = TypeVar("Result")


class MissingAttribute(Generic[Result]):
    """Placeholder for a result that `fit` may omit; reading the result raises an error.

    The message of the error gives the reason.

    An instance that has the result hides the placeholder, which has no `__set__`. A result with
    `needs_grid` does not exist if a search was given in place of a model and a grid.
    """

    def __init__(
        self, option: str, consequence: str, remedy: str, *, needs_grid: bool = False
    ) -> None:
        self.option, self.consequence, self.remedy = option, consequence, remedy
        self.needs_grid = needs_grid

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, search: None, owner: type) -> MissingAttribute[Result]: ...
    @overload
    def __get__(self, search: object, owner: type) -> Result: ...
    def __get__(self, search: Any, owner: type) -> Any:
        if search is None:
            return self
        if "loss_" not in vars(search):
            raise MissingResult(f"this search has no {self.name} before it is fitted: fit(X, y).")
        if self.needs_grid and "search_" in vars(search):
            class_name = type(search.search_).__name__
            raise MissingResult(
                f"{class_name} tunes inside each of its fits and keeps what it tried in its own "
                f"cv_results_, so there is no {self.name}: give a model and a grid (or "
                "distributions and n_iter) in its place."
            )
        raise MissingResult(
            f"this search was made with {self.option}, which {self.consequence}, so it has no "
            f"{self.name}: make it with {self.remedy}, and fit again."
        )


@frozen
class LossScorer:
    """Scorer like scikit-learn's, called with (model, X, y), which returns the loss as a score."""

    loss: Loss
    classes: Any

    def __call__(self, model: Any, X: Any, y: Any = None) -> float:
        """Return the model's score on these rows, which is larger for a smaller loss."""
        loss, classes = self.loss, self.classes
        if loss.response == "scored":
            return float(loss.scorer(model, X, *([] if y is None else [y])))  # type: ignore[attr-defined]
        if loss.tasks == SURVIVAL_TASKS:
            data = replace(Data.check(X, y, task="survival"), horizons=loss.horizons)
        else:
            y = np.asarray(y)
            class_codes = None if classes is None else np.searchsorted(classes, y)
            task = "regression" if classes is None else "classification"
            data = Data(X, y, task, classes, class_codes)  # type: ignore[arg-type]
        request = Request(loss.response, getattr(loss, "scorer", None))
        predictions = np.asarray(predict_all_rows(model, data, request))[None]
        return float(loss.score(loss.of_set(data, np.arange(len(y)), predictions, None)[0]))
