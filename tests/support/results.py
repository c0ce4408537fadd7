"""Results of every kind that is written as JSON, each by a function that makes it.

Those of `RESULTS_OF_VERBS` need fits. A test file of a record gives its result as `EXAMPLE`, or as
`EXAMPLE_WITHOUT_FIGURE` if the record has none, and joins `RESULTS` by its path.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import truerisk as tr
from truerisk.study.results import CellSummary, StudyResults
from truerisk.study.status import Status

X, Y = tr.datasets.make_simple(60, random_state=0)
PARTS, PAIRS = np.arange(60) % 3, np.arange(60) // 2


def estimates(method: str) -> list[tr.RiskEstimate]:
    """Of two learners on the same splits."""
    models = GaussianNB(), KNeighborsClassifier()
    return [tr.estimate_risk(model, X, Y, cv=method, scoring="zero-one") for model in models]


def comparison(test: str, method: str = "5-fold") -> tr.Comparison:
    return tr.compare(*estimates(method), test=test)


def paired() -> tr.Comparison:
    searches = [
        tr.HonestSearchCV(model, {}, random_state=0).fit(X, Y)
        for model in (GaussianNB(), KNeighborsClassifier())
    ]
    return tr.compare(*searches, test="paired-cv")


def searched() -> GridSearchCV:
    grid = {"n_neighbors": [1, 3, 9], "metric_params": [None, {}]}
    return GridSearchCV(
        KNeighborsClassifier(), grid, cv=KFold(3, shuffle=True, random_state=0)
    ).fit(X, Y)


CELL = CellSummary(
    problem="simple", size=60, learner="bayes", method="5-fold", target="Err", replicates=9,
    value=0.2, truth=0.25, bias=-0.05, bias_error=0.01, rmse=None, intervals=0, coverage=None,
    coverage_error=None, coverage_Err=None, coverage_Err_XY=None, width=None, n_fits=5.0,
    seconds=0.1,
)  # fmt: skip

FAILED = {"cell": {}, "error": "ValueError: no", "state": "failed", "number": 7}

RESULTS_OF_VERBS: dict[str, Callable[[], Any]] = {
    "estimate": lambda: tr.estimate_risk(GaussianNB(), X, Y),
    "estimate with a table": lambda: tr.estimate_risk(GaussianNB(), X, Y, cv=".632+"),
    "estimate of AUC": lambda: tr.estimate_risk(GaussianNB(), X, Y, scoring="auc", groups=PAIRS),
    "validation": lambda: tr.validate(
        LogisticRegression(), X, Y, subgroups={"part": PARTS}, replicates=5
    ),
    "validation of a finished model": lambda: tr.validate(
        LogisticRegression().fit(X, Y), X, Y, prefit=True
    ),
    "permutations": lambda: tr.permutation_test(
        tr.HonestSearchCV(GaussianNB(), {}), X, Y, n_permutations=9
    ),
    "learning curve": lambda: tr.learning_curve(GaussianNB(), X, Y),
    "nadeau-bengio": lambda: comparison("nadeau-bengio"),
    "bayes": lambda: comparison("bayes"),
    "mcnemar": lambda: comparison("mcnemar"),
    "sharp": lambda: comparison("sharp", "paired-halves"),
    "5x2": lambda: comparison("5x2", "5x2-fold"),
    "paired-cv": paired,
    "audit": lambda: tr.audit(searched(), X, Y, groups=PAIRS),
    "audit of a table": lambda: tr.audit_table(
        np.eye(12, 40).cumsum(axis=1), order=np.argsort(np.arange(12) % 5, kind="stable")
    ),
    "submission to a ladder": lambda: tr.Ladder(Y).submit(Y),
    "audit of scores": lambda: tr.audit(searched(), level="scores"),
    "assessment": lambda: tr.assess(
        {"bayes": (GaussianNB(), {"var_smoothing": [1e-9, 0.1]}), "line": LogisticRegression()},
        X,
        Y,
        scoring=["zero-one", "auc"],
        time=np.arange(len(X)),
    ),
    "over time": lambda: tr.risk_over_time(
        tr.estimate_risk(GaussianNB(), X, Y, time=np.arange(len(X))), np.arange(len(X))
    ),
    "plan of rows": lambda: tr.plan_sample({30: 0.3, 90: 0.2}, n=120, width=0.3),
    "plan of a comparison": lambda: tr.plan_comparison(0.1, sd=0.5),
    "plan of one error": lambda: tr.plan_sample(0.2, width=0.3),
    "rows to develop": lambda: tr.plan_development(parameters=4, prevalence=0.2, auc=0.8),
    "operating point": lambda: tr.RocCurve.from_scores(Y, X[:, 0]).at(0.5),
    "study": lambda: StudyResults("mine", (CELL,)),
    "status of a study": lambda: Status("mine", 9, 3, 1, 1, 0, 4, 2.5, None, 2, (FAILED,)),
    "many data sets": lambda: tr.compare_many(
        np.random.default_rng(0).normal(size=(6, 3, 5)), correlation=0.2
    ),
}

ROOT = Path(__file__).parent.parent.parent
GIVEN = re.compile(r"^(EXAMPLE(?:_WITHOUT_FIGURE)?) = ", re.MULTILINE)


def example_in(path: str, name: str) -> Any:
    """Import the test file at this path below the root, and return what it calls `name`."""
    return getattr(import_module(path.removesuffix(".py").replace("/", ".")), name)


def examples_in_tests(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Yield the path of each test file that gives an example, and the name of the example."""
    for path in sorted(root.glob("tests/*/test_*.py")):
        for name in GIVEN.findall(path.read_text("utf-8")):
            yield path.relative_to(root).as_posix(), name


EXAMPLES = dict(examples_in_tests())
RESULTS = RESULTS_OF_VERBS | {path: partial(example_in, path, EXAMPLES[path]) for path in EXAMPLES}


def classes_without_figure() -> set[str]:
    """Return the names of the classes whose test files give an `EXAMPLE_WITHOUT_FIGURE`."""
    without = (path for path, name in EXAMPLES.items() if name.endswith("FIGURE"))
    return {type(RESULTS[path]()).__name__ for path in without}
