"""Which steps stand before a learner: scikit-learn's, and a user's own that are named like them."""

import numpy as np
from tests.adversary.writing import Call

__all__ = ["STEPS", "draw_steps"]

STEPS: dict[str, dict[str, tuple[str, ...]]] = {
    "StandardScaler": {"with_mean": ("False",), "with_std": ("False",)},
    "MinMaxScaler": {"feature_range": ("(-1, 1)",), "clip": ("True",)},
    "MaxAbsScaler": {},
    "RobustScaler": {"with_centering": ("False",)},
    "Normalizer": {"norm": ("'l1'", "'max'")},
    "PCA": {"n_components": ("1", "0.9"), "whiten": ("True",)},
    "SelectKBest": {"score_func": ("f_classif", "f_regression"), "k": ("1", "'all'")},
    "PolynomialFeatures": {"degree": ("1", "3"), "interaction_only": ("True",)},
    "SimpleImputer": {"strategy": ("'median'", "'most_frequent'"), "add_indicator": ("True",)},
    "VarianceThreshold": {},
    "FunctionTransformer": {"func": ("np.abs", "np.sign", "np.float32")},
    "own.StandardScaler": {},
    "own.Normalizer": {},
    "own.Halving": {},
    "own.Mirrored": {},
}


def draw_steps(rng: np.random.Generator, task: str) -> tuple[Call, ...]:
    """None, one or two; a choice of columns gets the score that fits the task."""
    n = int(rng.choice([0, 1, 2], p=[0.5, 0.35, 0.15]))
    names = rng.choice(list(STEPS), size=n, replace=False)
    return tuple(_drawn(rng, str(name), task) for name in names)


def _drawn(rng: np.random.Generator, name: str, task: str) -> Call:
    given = {
        one: str(rng.choice(texts)) for one, texts in STEPS[name].items() if rng.random() < 0.4
    }
    if name == "SelectKBest":
        score = "f_classif" if task == "classification" else "f_regression"
        given = {"k": "1"} | given | {"score_func": score}
    return Call(name, tuple(given.items()))
