"""Learners that can be chosen by name, and learners that scikit-learn lacks.

learners.py      the names that `--models` accepts; `learner` returns a pipeline and a grid
builders.py      one function per name, which builds the estimator and its grid
labelled_xgboost.py   XGBoost's classifier for labels of any kind
levelled_lightgbm.py  LightGBM with its categorical columns as a parameter
levelled_catboost.py  CatBoost with categorical columns that can be cloned
early_stopping.py  EarlyStopping, boosting that stops by the loss on validation rows, and how each
                 package gets these rows
stated/          quantities of a fitted model: degrees of freedom, its linear rule
preparation.py   encoding, imputation and scaling before a learner, inside the folds
parzen.py        ParzenClassifier, a kernel density per class, and the widths it chooses
interval_classifier.py  IntervalClassifier, least errors with at most k intervals on the line
memoriser.py     Memoriser, which predicts the stored label of each training row
logistic_path.py LogisticPath, logistic regression at every L1 or elastic-net penalty
logistic_places.py  solutions of LogisticPath at the points of the path that `at` lists
fisher_classifier.py  FisherClassifier, least squares on class codes
discriminant_analysis.py  linear and quadratic discriminants with R's divisors
multiple_imputation.py  MultipleImputation, a learner fitted on several randomly imputed tables
threshold.py     ThresholdClassifier, which chooses the threshold by a cost or a rate

To add a learner, write one `Learner` and add one line to `registry`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from truerisk.core.registry import lazy_attributes

if TYPE_CHECKING:
    from truerisk.models.builders import Learner
    from truerisk.models.discriminant_analysis import LinearDiscriminant, QuadraticDiscriminant
    from truerisk.models.early_stopping import EarlyStopping
    from truerisk.models.fisher_classifier import FisherClassifier
    from truerisk.models.interval_classifier import IntervalClassifier
    from truerisk.models.learners import default_words, learner, names, registry
    from truerisk.models.logistic_path import LogisticPath
    from truerisk.models.memoriser import Memoriser
    from truerisk.models.multiple_imputation import MultipleImputation
    from truerisk.models.parzen import ParzenClassifier
    from truerisk.models.preparation import prepare
    from truerisk.models.threshold import ThresholdClassifier

_FILES_BY_NAME = {
    "EarlyStopping": "early_stopping",
    "FisherClassifier": "fisher_classifier",
    "IntervalClassifier": "interval_classifier",
    "LinearDiscriminant": "discriminant_analysis",
    "LogisticPath": "logistic_path",
    "Memoriser": "memoriser",
    "MultipleImputation": "multiple_imputation",
    "ParzenClassifier": "parzen",
    "QuadraticDiscriminant": "discriminant_analysis",
    "ThresholdClassifier": "threshold",
    "Learner": "builders",
    "default_words": "learners",
    "learner": "learners",
    "names": "learners",
    "prepare": "preparation",
    "registry": "learners",
}

__all__ = [
    "EarlyStopping",
    "FisherClassifier",
    "IntervalClassifier",
    "Learner",
    "LinearDiscriminant",
    "LogisticPath",
    "Memoriser",
    "MultipleImputation",
    "ParzenClassifier",
    "QuadraticDiscriminant",
    "ThresholdClassifier",
    "default_words",
    "learner",
    "names",
    "prepare",
    "registry",
]


if not TYPE_CHECKING:  # Type checkers would otherwise assume that every name exists.
    module_paths = {name: f"{__name__}.{file}" for name, file in _FILES_BY_NAME.items()}
    __getattr__, __dir__ = lazy_attributes(__name__, __all__, module_paths)
