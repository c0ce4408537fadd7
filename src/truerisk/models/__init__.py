"""Learners by word, and learners that scikit-learn lacks.

learners.py      the words of `--models`; `learner` gives a pipeline and a grid
builders.py      what each word builds
labelled_xgboost.py   XGBoost's classifier for labels of any kind
levelled_lightgbm.py  LightGBM with its columns of levels as a parameter
levelled_catboost.py  CatBoost with columns of levels that can be cloned
early_stopping.py  EarlyStopping, boosting that ends where rows set aside say so, and how each
                 package is given these rows
stated/          what a fitted model states of itself: degrees of freedom, its linear rule
preparation.py   what happens to columns before a learner sees them, inside the folds
parzen.py        ParzenClassifier, a kernel density per class, and the widths it chooses
interval_classifier.py  IntervalClassifier, least errors with at most k intervals on the line
memoriser.py     Memoriser, the training rows by heart
logistic_path.py LogisticPath, logistic regression at every L1 or elastic-net penalty
logistic_places.py  its solutions at the places that a list of `at` names
fisher_classifier.py  FisherClassifier, least squares on class codes
discriminant_analysis.py  linear and quadratic discriminants with R's divisors
multiple_imputation.py  MultipleImputation, a learner on several tables filled in at random
threshold.py     ThresholdClassifier, the threshold that a cost or a rate asks for

To add a word: one `Learner` and one line in `registry`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from truerisk.core.registry import lazy

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

_FILES = {
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
    places = {name: f"{__name__}.{file}" for name, file in _FILES.items()}
    __getattr__, __dir__ = lazy(__name__, __all__, places)
