"""Choice of the engine: the one that the user requests, or the first one that does not refuse."""

from __future__ import annotations

from functools import cache
from inspect import cleandoc
from typing import Any
from weakref import WeakKeyDictionary

from truerisk.contracts import Engine, Request
from truerisk.core.arguments import check_has_name, mention, refuse_class
from truerisk.core.errors import CompiledModuleWarning, NoEngine, UnknownName, warn
from truerisk.core.family import Family
from truerisk.core.identity import imported_class
from truerisk.core.registry import Registry, is_present, parse_registry_table
from truerisk.data.data import Data
from truerisk.data.rows import n_columns
from truerisk.kernels import unavailability_reason
from truerisk.plan.plan import Plan

registry = Registry(
    "engine",
    parse_registry_table(
        "truerisk.engines",
        """
    knn  neighbours.knn:NearestNeighbours
        scikit-learn's nearest neighbours: every k, every fold, one sorted list per row
    interval  interval.interval:Intervals
        IntervalClassifier: every k, every row left out, every label flipped
    tree  trees.tree:Trees
        scikit-learn's decision trees: every ccp_alpha from one unpruned tree per train set
    discriminant  discriminants.discriminant:LinearDiscriminants
        linear discriminants: every shrinkage, every row left out, one decomposition
    quadratic  discriminants.quadratic:QuadraticDiscriminants
        quadratic discriminants: every reg_param, every row left out, one decomposition
    fisher  discriminants.fisher:FisherDiscriminants
        FisherClassifier: every row left out from one hat matrix
    logistic-path  logistic.paths:LogisticPaths
        LogisticPath and LogisticRegression: every penalty from one path per train set
    svm  support_vectors.svm:SupportVectors
        SVC: every C, gamma and fold from one Gram matrix per kernel, by libsvm's own steps
    ensemble  trees.ensemble:Ensembles
        forests, bagging and boosting: every number of members from the largest
    least-squares  linear.least_squares:LeastSquares
        least squares and ridge: every penalty, every row left out, one decomposition
    elastic-net  linear.elastic_net:ElasticNets
        Lasso and ElasticNet: every penalty from one product, by scikit-learn's own steps
    kernel-ridge  linear.kernel_ridge:KernelRidges
        KernelRidge: every penalty, every row left out, one kernel of all rows
    generic  generic:Generic  clone, fit, predict: any model, any plan
    """,
    ),
)

LEARNERS_BY_ENGINE = {
    "knn": "sklearn.neighbors: KNeighborsClassifier KNeighborsRegressor",
    "interval": "truerisk.models.interval_classifier: IntervalClassifier",
    "tree": """
        sklearn.tree: DecisionTreeClassifier DecisionTreeRegressor
        sklearn.tree: ExtraTreeClassifier ExtraTreeRegressor
        """,
    "discriminant": """
        sklearn.discriminant_analysis: LinearDiscriminantAnalysis
        truerisk.models.discriminant_analysis: LinearDiscriminant
        """,
    "quadratic": """
        sklearn.discriminant_analysis: QuadraticDiscriminantAnalysis
        truerisk.models.discriminant_analysis: QuadraticDiscriminant
        """,
    "fisher": "truerisk.models.fisher_classifier: FisherClassifier",
    "logistic-path": """
        sklearn.linear_model: LogisticRegression
        truerisk.models.logistic_path: LogisticPath
        """,
    "svm": "sklearn.svm: SVC",
    "ensemble": """
        sklearn.ensemble: RandomForestClassifier RandomForestRegressor
        sklearn.ensemble: ExtraTreesClassifier ExtraTreesRegressor
        sklearn.ensemble: BaggingClassifier BaggingRegressor
        sklearn.ensemble: AdaBoostClassifier AdaBoostRegressor
        sklearn.ensemble: GradientBoostingClassifier GradientBoostingRegressor
        sklearn.ensemble: HistGradientBoostingClassifier HistGradientBoostingRegressor
        xgboost.sklearn: XGBClassifier XGBRegressor
        lightgbm.sklearn: LGBMClassifier LGBMRegressor
        catboost.core: CatBoostClassifier CatBoostRegressor
        truerisk.models.labelled_xgboost: LabelledXGBClassifier
        truerisk.models.levelled_lightgbm: CategoricalLGBMClassifier CategoricalLGBMRegressor
        truerisk.models.levelled_catboost: CategoricalCatBoostClassifier
        truerisk.models.levelled_catboost: CategoricalCatBoostRegressor
        """,
    "least-squares": "sklearn.linear_model: LinearRegression Ridge RidgeClassifier",
    "elastic-net": "sklearn.linear_model: Lasso ElasticNet",
    "kernel-ridge": "sklearn.kernel_ridge: KernelRidge",
}
"""The learners that an engine serves. An engine without an entry may serve any learner."""

# Largest number of classes of which scikit-learn never warns, half of 20 rows.
# It warns of more classes if there are few rows for them.
MAX_CLASSES_WITHOUT_WARNING = 10


def choose_engine(
    requested: Any, family: Family, data: Data, plan: Plan, request: Request
) -> tuple[Engine, dict[str, str]]:
    """Return the engine that will compute the predictions, and why engines tried before refused.

    Parameters
    ----------
    requested : str or Engine
        The argument `engine=` of a verb.
    family : Family
        The learner and its candidate settings.
    data : Data
        The checked rows of the call.
    plan : Plan
        The fits and the test sets that they predict.
    request : Request
        The type of predictions that the loss needs.

    Returns
    -------
    engine : Engine
        The engine that will answer.
    refusals : dict of str to str
        The reasons of the engines that refused before it, by name.

    See Also
    --------
    truerisk.engines.names : List the names of engines.
    truerisk.extend.Asking : Makes the requests of a method.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> import truerisk as tr
    >>> from truerisk.extend import Data, Family, Request, Streams
    >>> data = Data.check(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1], task="classification")
    >>> plan = tr.methods.KFold(3).plan(data, Streams(0))
    >>> family = Family.from_grid(GaussianNB())
    >>> tr.engines.choose_engine("auto", family, data, plan, Request("label"))[0].name
    'generic'
    """
    if not (isinstance(requested, str) and requested == "auto"):
        engine = _resolve_engine(requested)
        reason = _refusal_reason(engine, family, data, plan, request)
        if reason is not None:
            message = f"engine '{engine.name}' cannot answer: {reason} Use engine='auto'."
            raise NoEngine(message, reason)
        return engine, {}
    refusals: dict[str, str] = {}
    engine_names = _engines_serving(type(family.last))
    for name in registry:
        if name in LEARNERS_BY_ENGINE and name not in engine_names:
            continue
        if not is_present(registry[name].module):
            refusals[name] = f"{registry[name].module} is missing from this installation."
            continue
        engine = registry.load(name)()
        reason = _refusal_reason(engine, family, data, plan, request)
        reason = reason or _reason_to_fit_learner(engine, family, data, plan)
        if reason is None:
            # Warn if a faster engine refused only because the compiled module is missing.
            missing_module_reason = unavailability_reason() if refusals else None
            if (
                missing_module_reason is not None
                and f"{missing_module_reason}." in refusals.values()
            ):
                _warn_of_missing_module(missing_module_reason)
            return engine, refusals
        refusals[name] = reason
    names_by_reason: dict[str, list[str]] = {}
    for name, reason in refusals.items():
        names_by_reason.setdefault(reason.rstrip("."), []).append(name)
    reasons = "; ".join(
        f"{', '.join(engine_names_of_reason)}: {reason}"
        for reason, engine_names_of_reason in names_by_reason.items()
    )
    raise NoEngine(f"no engine can answer: {reasons}.", reason or "")


def _refusal_reason(
    engine: Engine, family: Family, data: Data, plan: Plan, request: Request
) -> str | None:
    """Return why the engine cannot compute the predictions, or None if it can.

    General limits are checked before the engine's own reasons to refuse.
    """
    missing_capability = engine.reason_not_served(plan)
    if missing_capability is not None:
        return missing_capability
    # Reading the estimator's tags takes time, and only a square X makes them necessary.
    is_square = n_columns(data.X) == data.n_rows
    if not engine.cuts_columns and is_square and any(family.pairwise):
        return "X is a matrix of rows against rows, and it takes rows of X without its columns."
    if engine.name != "generic" and (names := data.unreadable_names) is not None:
        return f"scikit-learn's own fits may fail of the names of columns. {names}"
    return engine.refuse(family, data, plan, request)


def _reason_to_fit_learner(engine: Engine, family: Family, data: Data, plan: Plan) -> str | None:
    """Return why scikit-learn's own fits are used although the engine is able to compute them.

    The result is None if the engine is used.
    """
    # Training sets of at most 20 rows never cause scikit-learn's warning of many classes.
    has_many_classes = data.n_classes > MAX_CLASSES_WITHOUT_WARNING
    has_many_classes = has_many_classes and 2 * data.n_classes > int(plan.least_train_sizes.min())
    if has_many_classes and engine.name != "generic":
        return "scikit-learn warns of so many classes in so few rows."
    # Run times can be predicted only for plans that need nothing but predictions of rows.
    if plan.needs.keys() <= {"flips"}:
        costs = engine.costs(family, data, plan)
        if costs is not None and costs[0] > costs[1]:
            return "scikit-learn is faster here."
    return None


def _engines_serving(learner: type) -> frozenset[str]:
    """Return the names of the engines in LEARNERS that support exactly this learner class.

    No engine is imported.
    """
    if learner not in _ENGINE_NAMES_BY_LEARNER:
        _ENGINE_NAMES_BY_LEARNER[learner] = frozenset(
            name
            for name in LEARNERS_BY_ENGINE
            if any(
                imported_class(class_path) is learner for class_path in learner_class_paths(name)
            )
        )
    return _ENGINE_NAMES_BY_LEARNER[learner]


_ENGINE_NAMES_BY_LEARNER: WeakKeyDictionary[type, frozenset[str]] = WeakKeyDictionary()


@cache
def learner_class_paths(engine_name: str) -> tuple[str, ...]:
    """Return the learner classes listed for an engine in LEARNERS, each as "module:Class"."""
    table_lines = (
        table_line.split() for table_line in cleandoc(LEARNERS_BY_ENGINE[engine_name]).splitlines()
    )
    return tuple(module + name for module, *names in table_lines for name in names)


@cache
def _warn_of_missing_module(reason: str) -> None:
    """Warn once per process that the compiled module is missing."""
    warn(
        f"{reason}: models that its engines would answer at once are fitted one by one, with the "
        "same numbers; `tr.show_versions()` names the engines, and a wheel of truerisk for this "
        "platform, or a C++17 compiler, brings them back.",
        CompiledModuleWarning,
    )


def _resolve_engine(name_or_engine: Any) -> Engine:
    if isinstance(name_or_engine, Engine):
        check_has_name("engine", name_or_engine)
        return name_or_engine
    if isinstance(name_or_engine, str):
        return registry.load(name_or_engine)()
    refuse_class("engine", name_or_engine)
    raise UnknownName(
        f"{mention('engine', name_or_engine)} is neither 'auto', a word ({', '.join(registry)}), "
        "nor an engine."
    )
