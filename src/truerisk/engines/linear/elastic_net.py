"""The engine of Lasso and ElasticNet: all penalties of a training set, one descent each.

scikit-learn's coordinate descent is reproduced pass by pass until it stops: on X'X if that is not
larger than X and there are many penalties, and otherwise on some columns of X at a time. In exact
arithmetic these are the same steps that scikit-learn takes. If rounding could lead it to take other
steps, scikit-learn is fitted itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Request
from truerisk.core.family import Family
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.engines.linear.fit import DOUBT, TrainSet
from truerisk.engines.linear.least_squares import negative_weights, penalty_refusal
from truerisk.engines.linear.normal_equations import descend
from truerisk.engines.prepared import unless_it_fails
from truerisk.engines.settings import Group, groups_along
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.kernels.spectral import EPS
from truerisk.plan.plan import Plan

SAME = 1e-9
FEW = 4  # Number of penalties from which descending for all of them at once is faster.
CACHED = 250_000  # Number of cells of a table that fits into the cache.
KINDS: dict[str, Any] = {
    **dict.fromkeys(("fit_intercept", "copy_X"), bool | np.bool_),
    **dict.fromkeys(("l1_ratio", "tol"), Real),
    "max_iter": Integral,
    "random_state": Integral | None,
}
SERVED = {"precompute": False, "warm_start": False, "positive": False, "selection": "cyclic"}


@frozen
class ElasticNets(OnePass):
    """Engine for Lasso and ElasticNet, alone or last in a pipeline.

    See Also
    --------
    truerisk.engines.Generic : Engine that fits every model.
    truerisk.engines.LeastSquares : Engine for ridge regression.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.linear_model import Lasso
    >>> X, y = tr.datasets.FieldProblem(task="regression")(60, random_state=0)
    >>> engine = tr.engines.ElasticNets()
    >>> tr.estimate_risk(Lasso(0.1), X, y, engine=engine).engine
    'elastic-net'
    """

    name: ClassVar[str] = "elastic-net"
    along: ClassVar[tuple[str, ...]] = ("alpha", "l1_ratio")
    compiled: ClassVar[bool] = True

    @override
    def learners(self) -> Sequence[type]:
        from sklearn.linear_model import ElasticNet, Lasso

        return Lasso, ElasticNet

    @override
    def setting_refusal(self, setting: dict[str, Any]) -> str | None:
        for name, value in SERVED.items():
            if type(setting[name]) is not type(value) or setting[name] != value:
                return f"{name}={setting[name]!r} takes other steps than those it follows."
        for name, kind in KINDS.items():
            if not isinstance(setting.get(name, 1), kind):
                return f"{name}={setting[name]!r} is nothing that it knows."
        ratio, tol, most = setting.get("l1_ratio", 1.0), setting["tol"], setting["max_iter"]
        if reason := penalty_refusal(setting["alpha"]):
            return reason
        if not 0 < ratio <= 1 or setting["alpha"] * ratio < EPS:
            return "without a lasso penalty there is another gap, or none."
        stops = 0 < tol < np.inf and most > 0
        return None if stops else f"tol={tol!r} with max_iter={most!r} is no place to stop at."

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        if data.classes is not None or data.y.ndim != 1:
            return "y is not one number per row."
        if way_of_the_installed() is None:
            return "the installed scikit-learn takes other steps than those it follows."
        return negative_weights(data)

    def costs(self, family: Family, data: Data, plan: Plan) -> tuple[float, float] | None:
        """Compare copies and a few passes over the rows with as many passes for every penalty.

        If there are more columns than rows, a descent passes over them more often. For a table that
        does not fit into a cache, a few penalties gain nothing from being solved together, and a
        fit that reaches its limit of passes is repeated once for its warning.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The fits and the questions that they answer.

        Returns
        -------
        tuple of float or None
            The seconds of this engine and of scikit-learn's own fits.
        """
        p, n = int(np.shape(data.X)[1]), np.maximum(plan.least_train_sizes, 1).astype(np.float64)
        groups, cells = groups_along(family, self.along), n * p
        more = 2.2e-8 * cells * p / (2 * n)
        theirs = len(family) * (2.5e-3 + 2.2e-8 * cells + more).sum()
        ours = len(groups) * (1e-3 + 3e-8 * cells).sum()
        for group in groups:
            few = (len(group.settings) < FEW) & (cells > CACHED)
            ours += len(group.settings) * (np.where(few, 1.25, 0.8) * more).sum()
        return float(ours), float(theirs)

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        n_given = len(shown.rows) if shown.times is None else int(shown.times.sum())
        setting, y = group.settings[0], shown.y.astype(np.float64)[:, None]
        train = TrainSet.from_rows(
            shown.X, y, shown.all_weights, n_given, bool(setting["fit_intercept"])
        )
        if train is None:
            return None
        coefs, passes, settled = _descended(
            train.Z, train.T[:, 0], train.total, group.settings, bool(way_of_the_installed())
        )
        tested = tests[0] if len(tests) == 1 else np.concatenate(tests)
        far = np.maximum(np.abs(train.mean), np.maximum(tested.max(axis=0), -tested.min(axis=0)))
        settled &= EPS * (np.abs(coefs) @ far + np.abs(train.mean_y)) <= DOUBT * train.scale
        task.leave_open(shown.fit, group.candidates[~settled])
        task.warn_alike(shown.fit, group.candidates[settled & (passes > setting["max_iter"])])
        answers = coefs @ tested.T + (train.mean_y - coefs @ train.mean)[:, None]
        return np.split(answers, np.cumsum([len(test) for test in tests])[:-1], axis=1)


@cache
def way_of_the_installed() -> bool | None:
    """Return True if the installed scikit-learn screens columns, None if it uses another method.

    This is tested once per process, on small problems with so loose a tolerance that coefficients
    depend on the step at which the descent stops. It takes some milliseconds.
    """
    problems = [(share, ratio) for share in (1.1, 0.5, 0.1, 0.02) for ratio in (1.0, 0.5)]
    ways = (w for w in (True, False) if all(map(partial(_agrees, w), problems)))
    return next(ways, None)


def _agrees(screens: bool, problem: tuple[float, float]) -> bool:
    from sklearn.linear_model import ElasticNet

    (share, ratio), rng = problem, np.random.default_rng(0)
    X = rng.normal(size=(30, 8)) + rng.normal(size=(30, 1))
    y = X @ np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0, 0.3, 0.0]) + rng.normal(size=30)
    X, y = X - X.mean(axis=0), y - y.mean()
    # All coefficients are 0 only if share > 1.
    alpha = share * np.abs(X.T @ y).max() / (30 * ratio)
    model = unless_it_fails(lambda: ElasticNet(alpha, l1_ratio=ratio, tol=1e-2).fit(X, y))
    if model is None:
        return False
    coefs, passes, settled = _descended(X, y, 30, [model.get_params()], screens)
    near = np.abs(coefs[0] - model.coef_).max() < SAME
    return bool(settled[0] and near and passes[0] == model.n_iter_)


def _descended(
    Z: np.ndarray, t: np.ndarray, total: float, settings: Sequence[Mapping[str, Any]], screens: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the coefficients, the passes and a mask of certain results for every setting.

    The rows are centred.
    """
    alpha = np.array([float(setting["alpha"]) for setting in settings]) * total
    ratio = np.array([float(setting.get("l1_ratio", 1.0)) for setting in settings])
    return descend(
        Z,
        t,
        np.stack([alpha * ratio, alpha * (1 - ratio)], axis=1),
        tolerance=settings[0]["tol"],
        most=settings[0]["max_iter"],
        screens=screens,
    )
