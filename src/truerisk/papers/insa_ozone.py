"""The lecture's practical work: learners on the ozone data, tuned inside, tested outside."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from truerisk.core.family import Family
from truerisk.core.losses import AUC, Loss, Squared, ZeroOne
from truerisk.core.table.data import Data, Task
from truerisk.datasets.documents import ozone_level
from truerisk.methods.kfold import KFold
from truerisk.methods.nested import Nested
from truerisk.methods.splitter import GivenSplits
from truerisk.papers.evaluating import answered, evaluated, plan_of
from truerisk.papers.experiment import Draws, Experiment, stream
from truerisk.papers.figures import Panel, Panels, Series
from truerisk.papers.report import Findings, PaperTable

__all__ = ["LEARNERS", "insa_ozone", "ozone_family"]

LEARNERS = (
    "linear",
    "linear, interactions",
    "lasso",
    "lasso, interactions",
    "SVM",
    "tree",
    "forest",
    "boosting",
    "neural net",
)
THRESHOLD = 150  # of the observed concentration
TEST_SHARE = 0.2
FOLDS = 5


def _replicate(seed: int, number: int) -> Draws:
    """A random fifth of the rows is tested; 5-fold tunes on the others."""
    X, level = _forecasts()
    rng = stream("insa ozone", seed, number)
    test, train = np.split(rng.permutation(len(level)), [round(TEST_SHARE * len(level))])
    split = np.sort(train), np.sort(test)
    numbers = Data.check(X, level, task="regression")
    classes = Data.check(X, (level > THRESHOLD).astype(int), task="classification")
    own = int(rng.integers(2**63))
    squared, wrong, areas, scores = [], [], [], []
    for word in LEARNERS:
        squared.append(_tested(word, "regression", numbers, Squared(), split, own)[0])
        risk, winner = _tested(word, "classification", classes, ZeroOne(), split, own)
        plan = plan_of(classes.n_rows, split)
        ranks = answered(winner, classes, AUC(), plan).values
        wrong.append(risk)
        areas.append(float(AUC().of_set(classes, split[1], ranks, None)[0]))  # one minus the area
        scores.append(ranks[0])
    return {
        "squared": np.array(squared),
        "zero-one": np.array(wrong),
        "1 − AUC": np.array(areas),
        "scores": np.array(scores),
        "truth": classes.codes_of(split[1]),
    }


@lru_cache(maxsize=1)
def _forecasts() -> tuple[np.ndarray, np.ndarray]:
    """The root of the humidity, logarithms of both nitrogen oxides, the rest as it is."""
    data = ozone_level.bundle()
    X, names = data.X.copy(), list(data.feature_names)
    X[:, names.index("RMH2O")] **= 0.5
    for name in ("NO", "NO2"):
        X[:, names.index(name)] = np.log(X[:, names.index(name)])
    return X, data.y


def _tested(
    word: str,
    task: Task,
    data: Data,
    loss: Loss,
    split: tuple[np.ndarray, np.ndarray],
    seed: int,
) -> tuple[float, Family]:
    """The test risk of the tuned learner, and the setting that 5-fold chose."""
    family = ozone_family(word, task)
    method = Nested(GivenSplits((split,)), KFold(FOLDS))
    found = evaluated(method, family, data, loss, seed)
    assert found.procedure is not None
    winner = family.candidates[found.units[0].candidate]
    return found.procedure.value, Family(family.estimator, (winner,))


def _findings(draws: Draws) -> Findings:
    risks = {
        name: {word: draws[name][:, j] for j, word in enumerate(LEARNERS)}
        for name in ("squared", "zero-one", "1 − AUC")
    }
    tables = (
        PaperTable.of(
            f"mean test risk ({name})", "document", of, digits=1 if name == "squared" else 4
        )
        for name, of in risks.items()
    )
    boxes = tuple(
        Panel(
            title,
            "",
            f"test risk ({name})",
            tuple(Series(word, np.empty(0), values) for word, values in risks[name].items()),
            kind="boxes",
        )
        for name, title in (
            ("squared", "concentration"),
            ("zero-one", f"concentration > {THRESHOLD}"),
        )
    )
    truth, scores = draws["truth"][0] == 1, draws["scores"][0]
    curves = tuple(Series(w, *_roc(of, truth)) for w, of in zip(LEARNERS, scores, strict=True))
    chance = Series("chance", np.array([0.0, 1.0]), np.array([0.0, 1.0]), "k:", 0.8)
    roc = Panel(
        "ROC on the first test sample",
        "false positive rate",
        "true positive rate",
        (*curves, chance),
    )
    return Findings(
        tables=tuple(tables),
        notes=(
            "the lecture shows box plots and ROC curves and prints no numbers.",
            (
                "the splits overlap, so the standard errors say how far the mean over all splits "
                "of these 1041 rows is known, not the risk on other days."
            ),
            "rows of one day at five stations are taken as independent, as in the lecture.",
        ),
        figures=(Panels("insa-ozone", (*boxes, roc), columns=3),),
    )


def _roc(scores: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rates of "positive where the score exceeds s", for every s."""
    levels = np.unique(scores)[::-1]
    said = scores[None, :] >= levels[:, None]
    rates = [(said[:, rows].mean(axis=1)) for rows in (~truth, truth)]
    false, true = (np.concatenate([[0.0], rate]) for rate in rates)
    return false, true


insa_ozone = Experiment(
    word="insa-ozone",
    title="INSA lecture: tuned learners on the ozone data",
    document=f"inner {FOLDS}-fold, outer Monte-Carlo; the concentration, and whether it exceeds "
    f"{THRESHOLD}",
    replicates=10,
    quick=2,
    replicate=_replicate,
    findings=_findings,
    unit="splits",
    check=_forecasts,
)

# ---------------------------------------------------------------- the learners, with their grids

SEED = 0
MANY = 5000


def ozone_family(word: str, task: Task) -> Family:
    """A learner of `LEARNERS`; logistic regression stands for linear in classification."""
    name, _, more = word.partition(", ")
    model, grid = _MADE[name](task == "classification")
    steps = _standardised(interactions=bool(more)) if name not in ("tree", "forest") else []
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(*steps, model)
    step = pipeline.steps[-1][0]
    return Family.of(pipeline, {f"{step}__{key}": values for key, values in grid.items()})


def _standardised(*, interactions: bool) -> list[Any]:
    """Mean 0 and variance 1, of squares and products too."""
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    products = [PolynomialFeatures(2, include_bias=False), StandardScaler()]
    return [StandardScaler(), *(products if interactions else [])]


def _linear(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.linear_model import LinearRegression, LogisticRegression

    if classes:  # a trace of penalty: stations and their squares are collinear
        return LogisticRegression(C=1e4, max_iter=MANY), {}
    return LinearRegression(), {}


def _lasso(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.linear_model import Lasso, LogisticRegression

    if classes:
        costs = [0.01, 0.03, 0.1, 0.3, 1.0]
        return _lasso_of_classes(LogisticRegression), {"C": costs}
    return Lasso(max_iter=MANY), {"alpha": [0.03, 0.1, 0.3, 1.0, 3.0]}


def _lasso_of_classes(kind: Any) -> Any:
    """By the word `penalty` before scikit-learn 1.8, by `l1_ratio` since."""
    options = {"solver": "liblinear", "max_iter": MANY, "random_state": SEED}
    if kind().get_params()["penalty"] == "deprecated":
        return kind(l1_ratio=1.0, **options)
    return kind(penalty="l1", **options)


def _svm(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.svm import SVC, SVR

    if classes:
        return SVC(), {"C": [0.3, 1.0, 3.0], "gamma": [0.03, 0.1]}
    return SVR(epsilon=5.0), {"C": [10.0, 30.0, 100.0], "gamma": [0.03, 0.1]}


def _tree(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
    return kind(random_state=SEED), {"min_samples_leaf": [5, 10, 20, 40, 80]}


def _forest(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestClassifier if classes else RandomForestRegressor
    return kind(100, random_state=SEED), {"max_features": [2, 4, 8]}


def _boosting(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    kind = GradientBoostingClassifier if classes else GradientBoostingRegressor
    model = kind(subsample=0.7, random_state=SEED)
    return model, {"n_estimators": [50, 150], "learning_rate": [0.05], "max_depth": [2, 4]}


def _net(classes: bool) -> tuple[Any, dict[str, list[Any]]]:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    kind = MLPClassifier if classes else MLPRegressor
    options = {"early_stopping": True, "learning_rate_init": 0.01, "max_iter": 1000}
    model = kind(hidden_layer_sizes=(16,), random_state=SEED, **options)
    return model, {"alpha": [0.01, 1.0, 10.0]}


_MADE = {
    "linear": _linear,
    "lasso": _lasso,
    "SVM": _svm,
    "tree": _tree,
    "forest": _forest,
    "boosting": _boosting,
    "neural net": _net,
}
