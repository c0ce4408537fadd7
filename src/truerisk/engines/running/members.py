"""Predictions of forests and bagging by their first m members, or by out-of-bag members.

The ensemble predicts the mean over its members. The mean over the first m members is therefore the
prediction of an ensemble of size m, whose seeds are the first m of the same sequence. A row is
out-of-bag for the members that did not draw it; the mean over these is its out-of-bag prediction
(Breiman 2001). Sums are accumulated member by member, as in scikit-learn.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from inspect import getattr_static
from math import ceil, log
from typing import Any

import numpy as np
from scipy.special import expit

from truerisk.core.errors import Refusal
from truerisk.core.family import Family
from truerisk.core.identity import is_exact_instance
from truerisk.engines.running.answering import RowsToPredict
from truerisk.plan.answers import class_codes_from_scores

# Users are advised to add members until the expected number of rows drawn by every member, and
# thus never tested, is below this.
MAX_EXPECTED_UNTESTED_ROWS = 0.01


def forest_classes() -> tuple[type, ...]:
    """Return scikit-learn's forest estimators, such as RandomForestClassifier."""
    from sklearn import ensemble

    return (
        ensemble.RandomForestClassifier,
        ensemble.RandomForestRegressor,
        ensemble.ExtraTreesClassifier,
        ensemble.ExtraTreesRegressor,
    )


def bagging_classes() -> tuple[type, ...]:
    """Return scikit-learn's bagging estimators, BaggingClassifier and BaggingRegressor."""
    from sklearn.ensemble import BaggingClassifier, BaggingRegressor

    return BaggingClassifier, BaggingRegressor


def out_of_bag_refusal(family: Family) -> str | None:
    """Return why the family's models cannot predict out of bag, or None if they can."""
    if not _supports_out_of_bag(family.last):
        return f"{family.name} is not trained on bootstrap samples; forests and bagging are."
    if family.last is not family.estimator:
        return (
            "the steps of a pipeline have seen every row, so that nothing is out of its bag "
            "(without them, the ensemble could be asked)."
        )
    if not all(setting["bootstrap"] for setting in family.settings):
        return "bootstrap=False: every member is fitted on all rows; use bootstrap=True."
    return None


def _supports_out_of_bag(model: Any) -> bool:
    """Return True if averaging the members' predictions gives the ensemble's prediction.

    Out-of-bag predictions can then be computed. This holds for scikit-learn's forests and
    bagging. A subclass qualifies only if it inherits the prediction methods unchanged, and defines
    its own ``estimators_samples_`` (the rows that its members drew).
    """
    ensemble_classes = (*forest_classes(), *bagging_classes())
    if is_exact_instance(model, *ensemble_classes):
        return True
    samples_attribute = getattr_static(type(model), "estimators_samples_", None)
    prediction_methods = ("predict", "predict_proba", "decision_function")
    return any(
        isinstance(model, ensemble_class)
        and samples_attribute is not getattr_static(ensemble_class, "estimators_samples_")
        and all(_is_inherited(model, ensemble_class, name) for name in prediction_methods)
        for ensemble_class in ensemble_classes
    )


def _is_inherited(model: Any, ensemble_class: type, method_name: str) -> bool:
    model_attribute = getattr_static(type(model), method_name, None)
    return model_attribute is getattr_static(
        ensemble_class, method_name, None
    ) and method_name not in vars(model)


def predictions_by_size(
    model: Any, member_counts: set[int], test_rows: RowsToPredict
) -> dict[int, FixedPredictions]:
    """Return stand-ins for smaller ensembles that consist of the model's first members.

    There is one for each number in `member_counts`. If the rows are training
    rows, the predictions are out-of-bag.
    """
    members = _EnsembleMembers(model, test_rows.X)
    if test_rows.original_rows is None:
        means = _means_of_first_members(members, member_counts)
    else:
        means = _out_of_bag_means(members, test_rows.original_rows, member_counts)
    if members.n_classes is None:
        return {n_members: FixedPredictions(mean) for n_members, mean in means.items()}
    return {
        n_members: FixedProbabilities(mean, model.classes_) for n_members, mean in means.items()
    }


def out_of_bag_predictions(model: Any, test_rows: RowsToPredict) -> FixedPredictions:
    """Return a stand-in for an ensemble, which predicts its training rows out of bag.

    Each row is predicted by the members that did not draw it.
    """
    if not _supports_out_of_bag(model):
        raise Refusal(
            f"{type(model).__name__} is not trained on bootstrap samples; forests and bagging are."
        )
    n_members = len(model.estimators_)
    return predictions_by_size(model, {n_members}, test_rows)[n_members]


class _EnsembleMembers:
    """Members of a fitted forest or bagging, which predict a table one after another.

    Classifiers return probabilities in the order of the ensemble's classes (a vote if they have no
    probabilities). Regressors return values.
    """

    def __init__(self, model: Any, X: Any) -> None:
        self.model = model
        self.is_forest = isinstance(model, forest_classes())
        self.n_classes = len(model.classes_) if hasattr(model, "classes_") else None
        self.original_X = X
        first_predictions = self.predict_with_first(
            1
        )  # If the ensemble cannot predict X, it raises its own error here.
        self.is_single_precision = (
            self.n_classes is None
            and first_predictions.dtype.kind == "f"
            and first_predictions.itemsize < 8
        )
        self.X = self._convert_table(X)

    def __len__(self) -> int:
        return len(self.model.estimators_)

    def predict_with_member(self, member_number: int, rows: Any = slice(None)) -> np.ndarray:
        """Return the predictions of one member for some rows of the table."""
        member, X = self.model.estimators_[member_number], self.X[rows]
        if self.is_forest:
            predict = member.predict if self.n_classes is None else member.predict_proba
            return predict(X, check_input=False)
        X = X[:, self.model.estimators_features_[member_number]]
        if self.n_classes is None:
            return np.asarray(member.predict(X), dtype=np.float64)
        probabilities = np.zeros((X.shape[0], self.n_classes))
        if hasattr(member, "predict_proba"):
            probabilities[:, member.classes_] = member.predict_proba(X)
        else:
            probabilities[np.arange(len(probabilities)), member.predict(X)] = 1
        return probabilities

    def predict_with_first(self, n_members: int) -> np.ndarray:
        """Return the predictions of the ensemble that consists of its first `n_members` members."""
        smaller_ensemble = copy.copy(self.model)
        smaller_ensemble.estimators_, smaller_ensemble.n_estimators = (
            self.model.estimators_[:n_members],
            n_members,
        )
        return np.asarray(smaller_ensemble.predict(self.original_X))

    def drawn_rows(self) -> Iterator[np.ndarray]:
        """Yield the training rows that each member drew."""
        model = self.model
        if (
            type(model) in forest_classes()
        ):  # Forests do not store the drawn rows, but draw them again from each tree's seed.
            model, generator = copy.copy(model), np.random.RandomState(0)
            model.estimators_ = [
                _SeedOnlyTree(tree.random_state, generator) for tree in model.estimators_
            ]
        yield from model.estimators_samples_

    def _convert_table(self, X: Any) -> Any:
        """Check and convert X as the ensemble does for its members (to float32 in forests)."""
        from sklearn.utils import check_array

        return check_array(
            X,
            accept_sparse="csr",
            dtype=np.float32 if self.is_forest else None,
            ensure_all_finite=False,
        )


class _SeedOnlyTree:
    """Stand-in for a tree that holds only the tree's seed, which determines its bootstrap draw.

    Reseeding one generator is faster than creating a new one for each tree.
    """

    def __init__(self, seed: int, generator: np.random.RandomState) -> None:
        self.seed, self.stream = seed, generator

    @property
    def random_state(self) -> np.random.RandomState:
        """Random number generator, freshly seeded with the tree's seed."""
        self.stream.seed(self.seed)
        return self.stream


def _means_of_first_members(
    members: _EnsembleMembers, member_counts: set[int]
) -> dict[int, np.ndarray]:
    """Return the mean prediction of the first m members, for each number m in `member_counts`.

    In single precision the ensemble itself computes the mean, because its parallel jobs sum
    separately.
    """
    if members.is_single_precision:
        return {n_members: members.predict_with_first(n_members) for n_members in member_counts}
    prediction_sums: Any = 0.0
    means = {}
    for member_number in range(max(member_counts)):
        prediction_sums = prediction_sums + members.predict_with_member(member_number)
        if member_number + 1 in member_counts:
            means[member_number + 1] = prediction_sums / (member_number + 1)
    return means


def _out_of_bag_means(
    members: _EnsembleMembers, original_rows: np.ndarray, member_counts: set[int]
) -> dict[int, np.ndarray]:
    """Return the out-of-bag predictions of each row, for each number m in `member_counts`.

    A row's prediction is the mean over those of the first m members that did not draw it.
    `original_rows[i]` is the row of the table of which training row i is a copy. A member that drew
    one copy of a row has seen that row.
    """
    n_rows = int(members.X.shape[0])
    prediction_sums: np.ndarray | None = None
    n_predictions = np.zeros(n_rows)
    means = {}
    for member_number, drawn_rows in zip(
        range(max(member_counts)), members.drawn_rows(), strict=False
    ):
        is_out_of_bag = np.ones(n_rows, dtype=bool)
        is_out_of_bag[original_rows[drawn_rows]] = False
        if is_out_of_bag.any():
            predictions = members.predict_with_member(member_number, is_out_of_bag)
            if prediction_sums is None:
                prediction_sums = np.zeros((n_rows, *predictions.shape[1:]))
            prediction_sums[is_out_of_bag] += predictions
            n_predictions[is_out_of_bag] += 1
        if member_number + 1 in member_counts:
            means[member_number + 1] = _mean_prediction(
                prediction_sums, n_predictions, member_number + 1, members
            )
    return means


def _mean_prediction(
    prediction_sums: np.ndarray | None,
    n_predictions: np.ndarray,
    n_members: int,
    members: _EnsembleMembers,
) -> np.ndarray:
    n_unpredicted_rows = int((n_predictions == 0).sum())
    if prediction_sums is None or n_unpredicted_rows:
        n = len(n_predictions)
        n_members_needed = (
            ceil(log(MAX_EXPECTED_UNTESTED_ROWS / n) / log(1 - (1 - 1 / n) ** n)) if n > 1 else 0
        )
        raise ValueError(
            f"{n_unpredicted_rows} of {n} rows were drawn by each of the {n_members} members and "
            "have no "
            f"out-of-bag answer: use n_estimators of {max(n_members_needed, 2 * n_members)} or more"
        )
    if members.n_classes is not None and not members.is_forest:
        return (
            prediction_sums / prediction_sums.sum(axis=1)[:, None]
        )  # BaggingClassifier normalises out-of-bag probabilities in the same way.
    return prediction_sums / n_predictions.reshape(-1, *[1] * (prediction_sums.ndim - 1))


class FixedPredictions:
    """Stand-in for a fitted model that returns fixed labels or values for any X."""

    classes_: np.ndarray | None = None

    def __init__(self, predictions: np.ndarray) -> None:
        self.answers = predictions

    def predict(self, X: Any) -> np.ndarray:
        """Return the stored predictions, whatever X is."""
        return self.answers


class FixedClassPredictions(FixedPredictions):
    """Stand-in for a fitted classifier, with fixed predictions and the class labels."""

    classes_: np.ndarray

    def __init__(self, predictions: np.ndarray, classes: np.ndarray) -> None:
        super().__init__(predictions)
        self.classes_ = classes


class FixedProbabilities(FixedClassPredictions):
    """Stand-in for a fitted classifier that returns fixed class probabilities for any X."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the stored class probabilities, whatever X is."""
        return self.answers

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest probability, the first one if there are ties."""
        return self.classes_.take(self.answers.argmax(axis=1), axis=0)


class FixedDecisionValues(FixedClassPredictions):
    """Stand-in for a fitted classifier that returns fixed decision values for any X."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the stored decision values, whatever X is."""
        return self.answers


class FixedBinaryDecisionValues(FixedDecisionValues):
    """Stand-in for a binary classifier: fixed decision values, positive for the second class."""

    def predict(self, X: Any) -> np.ndarray:
        """Return the second class where the decision value is positive, else the first."""
        return self.classes_[class_codes_from_scores(self.answers[:, None])]


class FixedLogOdds(FixedBinaryDecisionValues):
    """Stand-in for a binary classifier with fixed log-odds of the second class."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of both classes, from the log-odds of the second."""
        return np.column_stack([expit(-self.answers), expit(self.answers)])


def make_fixed_score_model(model: Any, scores: np.ndarray) -> FixedPredictions:
    """Return a stand-in for the model that returns `scores` as its predictions.

    For a classifier the scores are log-odds or decision values.
    """
    if not hasattr(model, "classes_"):
        return FixedPredictions(scores)
    fixed_model_class = (
        FixedLogOdds if hasattr(model, "predict_proba") else FixedBinaryDecisionValues
    )
    return fixed_model_class(scores, np.asarray(model.classes_))
