"""Which methods and losses are drawn, simpler ones after harder ones for who makes a case small."""

import numpy as np
from tests.adversary.learners import Kind
from tests.adversary.tables import Table

__all__ = ["BY_HAND", "SIMPLER", "draw_loss", "draw_method", "draw_options"]

_ROWS = "np.zeros(len(y))"
BY_HAND = {
    "folds": f"list(KFold(3, shuffle=True, random_state=1).split({_ROWS}))",
    "rows": f"list(LeaveOneOut().split({_ROWS}))",
    "classes": f"list(StratifiedKFold(2, shuffle=True, random_state=1).split({_ROWS}, y))",
}
"""Splits that a plain loop goes through as well."""

COMMON = {
    "'2-fold'": 3,
    "'3-fold'": 3,
    "'5-fold'": 3,
    "'2x3-fold'": 2,
    "'loo'": 4,
    "'holdout'": 2,
    "'apparent'": 1,
    "'monte-carlo'": 1,
    "'reversed 4-fold'": 1,
    "'three-way'": 2,
    "tr.methods.Nested('3-fold', '2-fold')": 2,
    "tr.methods.Nested('2-fold', 'loo')": 1,
    "tr.methods.Nested('3-fold', tr.methods.Bootstrap('.632+', replicates=4))": 1,
    "tr.methods.Pairs('3-fold')": 2,
    "tr.methods.Pairs('2x4-fold')": 1,
    "tr.methods.KFold(3, average='pooled')": 1,
    "tr.methods.KFold(3, average='fold')": 1,
    "tr.methods.Bootstrap('.632', replicates=8)": 1,
    "tr.methods.Bootstrap('.632+', replicates=8)": 2,
    "tr.methods.Bootstrap('optimism', replicates=8)": 1,
    "tr.methods.Bootstrap('bootstrap', replicates=8)": 1,
    "tr.methods.Bootstrap('oob', replicates=12)": 1,
    "'oob'": 1,
    "tr.methods.MonteCarlo(4)": 2,
    "tr.methods.BootstrapBiasCorrected(3)": 1,
    "tr.methods.NestedInterval(3, repeats=2)": 1,
    "tr.methods.PairedHalves(2, 2)": 1,
    "tr.methods.Complete(len(y) - 1)": 1,
    "'exact-oob'": 1,
    "'alo'": 1,
    "'bolstered'": 1,
    "KFold(4)": 1,
    "ShuffleSplit(3, random_state=0)": 1,
    "TimeSeriesSplit(3)": 1,
}
OF_CLASSES = {
    "RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)": 1,
    "tr.methods.KFold(3, stratify=False)": 2,
}  # fmt: skip
COSTS = (
    "tr.losses.Cost((1 - np.eye(len({*map(str, y)})))"
    " * np.arange(1, len({*map(str, y)}) + 1)[:, None])"
)
SIMPLER = (
    "'3-fold'",
    "'2-fold'",
    "'holdout'",
    "'apparent'",
    "tr.methods.Bootstrap('bootstrap', replicates=2)",
)


def draw_method(rng: np.random.Generator, task: str, table: Table) -> str:
    """Splits given as a list in a fifth of cases, else any method."""
    classes = task == "classification"
    if rng.random() < 0.2:
        plain = classes and table.target == "plain"
        return str(rng.choice(list(BY_HAND.values())[: 3 if plain else 2]))
    offered = COMMON | OF_CLASSES if classes else dict(COMMON)
    if table.groups is not None:
        offered["GroupKFold(2)"] = 10
    if table.y.ndim == 1 and len(np.unique(table.y)) == 2 and len(table.y) <= 20:
        offered["'swapping'"] = 4
    share = np.array(list(offered.values()), dtype=float)
    return str(rng.choice(list(offered), p=share / share.sum()))


def draw_loss(rng: np.random.Generator, kind: Kind, table: Table) -> str:
    """The usual loss in a third of cases; a cost matrix fits the number of classes."""
    if rng.random() < 0.3:
        return "None"
    if kind.task == "regression":
        return str(rng.choice(["'absolute'", "'squared'", "'r2'", "'neg_median_absolute_error'"]))
    k = len(np.unique(table.y))
    offered = [COSTS, "'balanced_accuracy'"]
    offered += ["'log'", "'brier'", "'neg_log_loss'"] if kind.shares or rng.random() < 0.1 else []
    offered += ["'auc'", "'auc'", "'roc_auc'" if k == 2 else "'roc_auc_ovr'"]
    return str(rng.choice(offered))


def draw_options(rng: np.random.Generator) -> tuple[tuple[str, str], ...]:
    """How to choose, and which interval, at times."""
    options = {}
    if rng.random() < 0.15:
        options["rule"] = "'1-se'"
    if rng.random() < 0.1:
        words = ["'wald'", "'wald'", "'corrected-t'", "'bbc'", "'beta'", "'beta-cv'"]
        options["interval"] = str(rng.choice(words))
    return tuple(options.items())
