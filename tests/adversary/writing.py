"""Calls as text, and the imports a text needs: a case is a script, what is run is printed."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, replace

import numpy as np
from tests.adversary import own

__all__ = ["Call", "array", "imports", "listed"]

MODULES = {
    "sklearn.calibration": "CalibratedClassifierCV",
    "sklearn.compose": "TransformedTargetRegressor",
    "sklearn.feature_selection": "RFE SelectKBest VarianceThreshold f_classif f_regression",
    "sklearn.multiclass": "OneVsRestClassifier",
    "sklearn.decomposition": "PCA",
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "sklearn.ensemble": "AdaBoostClassifier BaggingClassifier BaggingRegressor "
    "ExtraTreesClassifier ExtraTreesRegressor GradientBoostingClassifier "
    "GradientBoostingRegressor HistGradientBoostingClassifier RandomForestClassifier "
    "RandomForestRegressor",
    "sklearn.impute": "SimpleImputer",
    "sklearn.kernel_ridge": "KernelRidge",
    "sklearn.linear_model": "ElasticNet Lasso LinearRegression LogisticRegression Ridge "
    "RidgeClassifier",
    "sklearn.model_selection": "GridSearchCV GroupKFold KFold LeaveOneOut RepeatedStratifiedKFold "
    "ShuffleSplit StratifiedKFold TimeSeriesSplit",
    "sklearn.naive_bayes": "GaussianNB",
    "sklearn.neighbors": "KNeighborsClassifier KNeighborsRegressor",
    "sklearn.pipeline": "make_pipeline",
    "sklearn.preprocessing": "FunctionTransformer MaxAbsScaler MinMaxScaler Normalizer "
    "PolynomialFeatures RobustScaler StandardScaler",
    "sklearn.svm": "SVC SVR",
    "sklearn.tree": "DecisionTreeClassifier DecisionTreeRegressor",
    "truerisk.models": "FisherClassifier IntervalClassifier LinearDiscriminant LogisticPath "
    "ParzenClassifier QuadraticDiscriminant",
    "tests.adversary": "doubles",
    "scipy": "sparse",
}
_LINES = [(n, f"from {m} import {n}") for m, names in MODULES.items() for n in names.split()]
_WORD = re.compile(r"(?<![\w.\"'])([A-Za-z_]\w*)")


@dataclass(frozen=True)
class Call:
    """A class by name, with the arguments that are not as usual, as text."""

    name: str
    arguments: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value}' for name, value in self.arguments)})"

    def without(self, argument: str) -> Call:
        """The same call with one argument as usual."""
        return replace(self, arguments=tuple(a for a in self.arguments if a[0] != argument))

    @property
    def step(self) -> str:
        """What `make_pipeline` calls it."""
        return self.name.rpartition(".")[2].lower()


def imports(text: str) -> str:
    """The import lines of a script, and the classes of `own` that it names."""
    words = set(_WORD.findall(text))
    lines = [line for name, line in _LINES if name in words]
    lines += [
        "import numpy as np",
        *["import pandas as pd"] * ("pd" in words),
        "import truerisk as tr",
    ]
    if "own" in words:
        lines += ["from types import SimpleNamespace", "", _pasted(text)]
    return "\n".join(lines)


def _pasted(text: str) -> str:
    """The user's own classes in a room of their own, as they may be named like scikit-learn's."""
    names = [name for name in own.__all__ if re.search(rf"\bown\.{name}\b", text)]
    body = [inspect.getsource(getattr(own, name)) for name in names]
    made = ", ".join(f"{name}={name}" for name in names)
    bases = (
        "from sklearn import discriminant_analysis, linear_model, neighbors, preprocessing\n"
        "from sklearn.base import BaseEstimator, TransformerMixin\n"
    )
    inside = "\n\n".join([*body, f"return SimpleNamespace({made})"])
    indented = "\n".join(f"    {line}" if line else "" for line in inside.splitlines())
    return f"{bases}\n\ndef classes_of_a_user():\n{indented}\n\n\nown = classes_of_a_user()\n"


def array(values: np.ndarray | None) -> str:
    """An array as text, to the last bit."""
    if values is None:
        return "None"
    if not values.size:
        return f"np.zeros({values.shape})"
    text = (
        re.sub(r"\b(nan|inf)\b", r"np.\1", repr(values.tolist()))
        if values.dtype.kind == "f"
        else repr(values.tolist())
    )
    return f"np.array({text})"


def listed(values: tuple[str, ...]) -> str:
    """A list as text."""
    return f"[{', '.join(values)}]"
