"""Which engine answers: the one asked for, or the first that does not refuse."""

from __future__ import annotations

from functools import cache
from typing import Any

from truerisk.core.arguments import refuse_class, shown
from truerisk.core.contracts import Engine, Request
from truerisk.core.errors import CompiledModuleWarning, NoEngine, UnknownName, warn
from truerisk.core.family import Family
from truerisk.core.plan.plan import Plan
from truerisk.core.registry import Line, Registry
from truerisk.core.table.columns import unreadable_names
from truerisk.core.table.data import Data
from truerisk.core.table.rows import n_columns
from truerisk.kernels import why_not

__all__ = ["choose_engine", "registry"]

registry = Registry(
    "engine",
    {
        "knn": Line(
            "truerisk.engines.neighbours.knn:NearestNeighbours",
            "scikit-learn's nearest neighbours: every k, every fold, one sorted list per row",
        ),
        "interval": Line(
            "truerisk.engines.interval:Intervals",
            "IntervalClassifier: every k, every row left out, every label flipped",
        ),
        "tree": Line(
            "truerisk.engines.trees.tree:Trees",
            "scikit-learn's decision trees: every ccp_alpha from one unpruned tree per train set",
        ),
        "discriminant": Line(
            "truerisk.engines.discriminants.discriminant:LinearDiscriminants",
            "linear discriminants: every shrinkage, every row left out, one decomposition",
        ),
        "quadratic": Line(
            "truerisk.engines.discriminants.quadratic:QuadraticDiscriminants",
            "quadratic discriminants: every reg_param, every row left out, one decomposition",
        ),
        "fisher": Line(
            "truerisk.engines.discriminants.fisher:FisherDiscriminants",
            "FisherClassifier: every row left out from one hat matrix",
        ),
        "logistic-path": Line(
            "truerisk.engines.logistic.paths:LogisticPaths",
            "LogisticPath and LogisticRegression: every penalty from one path per train set",
        ),
        "svm": Line(
            "truerisk.engines.support_vectors.svm:SupportVectors",
            "SVC: every C, gamma and fold from one Gram matrix per kernel, by libsvm's own steps",
        ),
        "ensemble": Line(
            "truerisk.engines.trees.ensemble:Ensembles",
            "forests, bagging and boosting: every number of members from the largest",
        ),
        "least-squares": Line(
            "truerisk.engines.linear.least_squares:LeastSquares",
            "least squares and ridge: every penalty, every row left out, one decomposition",
        ),
        "elastic-net": Line(
            "truerisk.engines.linear.elastic_net:ElasticNets",
            "Lasso and ElasticNet: every penalty from one product, by scikit-learn's own steps",
        ),
        "kernel-ridge": Line(
            "truerisk.engines.linear.kernel_ridge:KernelRidges",
            "KernelRidge: every penalty, every row left out, one kernel of all rows",
        ),
        "generic": Line(
            "truerisk.engines.generic:Generic", "clone, fit, predict: any model, any plan"
        ),
    },
)

LACKING = {
    "laws": "it knows no closed form for train sets drawn at random.",
    "moves": "it answers about rows of X, and not about points around them.",
    "counted": "it does not say how many training rows an answer rests on.",
    "freedom": "it does not state the degrees of freedom of its models.",
    "rules": "it does not give the coefficients of its models.",
    "out_of_bag": "it does not ask members of an ensemble one by one.",
    "taken_out": "it does not take single rows out of a fitted model.",
}

MOST_OF_FEW_ROWS = 10  # classes: half of the largest train set that scikit-learn says nothing of


def choose_engine(
    asked: Any, family: Family, data: Data, plan: Plan, request: Request
) -> tuple[Engine, dict[str, str]]:
    """The engine that will answer, and the reasons of those that refused."""
    if isinstance(asked, str) and asked == "auto":
        return _first_willing(family, data, plan, request)
    engine = _engine(asked)
    reason = _reason(engine, family, data, plan, request)
    if reason is not None:
        raise NoEngine(f"engine '{engine.word}' cannot answer: {reason} Use engine='auto'.", reason)
    return engine, {}


def _reason(engine: Engine, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
    """Why the engine cannot answer: what it never does comes before what it says itself."""
    for name, sentence in LACKING.items():
        if getattr(plan, name) is not None and name not in engine.serves:
            return sentence
    if not engine.cuts_columns and _takes_pairs(family, data):
        return "X is a matrix of rows against rows, and it takes rows of X without its columns."
    if engine.word != "generic" and (names := unreadable_names(data.X)) is not None:
        return f"scikit-learn's own fits may fail of the names of columns. {names}"
    return engine.refuse(family, data, plan, request)


def _warns_of_classes(data: Data, plan: Plan) -> bool:
    """Whether a classifier may take so many labels for numbers, and say so when it is fitted."""
    many = data.n_classes > MOST_OF_FEW_ROWS  # train sets of at most 20 rows never warn
    return many and 2 * data.n_classes > int(plan.least_train_sizes.min())


def _is_slower(engine: Engine, family: Family, data: Data, plan: Plan) -> bool:
    """Whether the learner's own fits take less, where a plan asks for nothing besides answers."""
    besides = any(getattr(plan, name) is not None for name in LACKING)
    costs = None if besides else engine.costs(family, data, plan)
    return costs is not None and costs[0] > costs[1]


def _takes_pairs(family: Family, data: Data) -> bool:
    """Only a square X can be a matrix of rows against rows; tags take a while to read."""
    return n_columns(data.X) == data.n_rows and any(family.pairwise)


def _first_willing(
    family: Family, data: Data, plan: Plan, request: Request
) -> tuple[Engine, dict[str, str]]:
    refusals: dict[str, str] = {}
    for word in registry:
        engine: Engine = registry.load(word)()
        reason = _reason(engine, family, data, plan, request)
        if reason is None and word != "generic" and _warns_of_classes(data, plan):
            reason = "scikit-learn warns of so many classes in so few rows."
        if reason is None and _is_slower(engine, family, data, plan):
            reason = "scikit-learn is faster here."
        if reason is None:
            _say_what_is_missing(refusals)
            return engine, refusals
        refusals[word] = reason
    words: dict[str, list[str]] = {}
    for word, reason in refusals.items():
        words.setdefault(reason.rstrip("."), []).append(word)
    said = "; ".join(f"{', '.join(those)}: {reason}" for reason, those in words.items())
    raise NoEngine(f"no engine can answer: {said}.", reason or "")


def _say_what_is_missing(refusals: dict[str, str]) -> None:
    """An engine would have answered, had its loops been compiled: said once a process."""
    reason = why_not()
    if reason is not None and f"{reason}." in refusals.values():
        _warn(reason)


@cache
def _warn(reason: str) -> None:
    warn(
        f"{reason}: models that its engines would answer at once are fitted one by one, with the "
        "same numbers; `tr.show_versions()` names the engines, and a wheel of truerisk for this "
        "platform, or a C++17 compiler, brings them back.",
        CompiledModuleWarning,
    )


def _engine(asked: Any) -> Engine:
    if isinstance(asked, Engine):
        return asked
    if isinstance(asked, str):
        return registry.load(asked)()
    refuse_class("engine", asked)
    raise UnknownName(
        f"engine={shown(asked)} is neither 'auto', a word ({', '.join(registry)}), nor an engine."
    )
