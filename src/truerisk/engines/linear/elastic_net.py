"""Engine for Lasso and ElasticNet: one coordinate descent per penalty on shared training sets.

scikit-learn's coordinate descent is reproduced pass by pass until it stops: on X'X if that is not
larger than X and there are many penalties, and otherwise on some columns of X at a time. In exact
arithmetic these are the same steps that scikit-learn takes. If rounding could lead scikit-learn to
take other steps, its estimator is fitted instead.
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
from truerisk.engines.linear.fit import MAX_ROUNDING_ERROR, TrainSet
from truerisk.engines.linear.least_squares import penalty_refusal, weights_refusal
from truerisk.engines.linear.normal_equations import descend
from truerisk.engines.prepared import call_or_none
from truerisk.engines.settings import Group, group_candidates
from truerisk.engines.templates.one_pass import OnePass
from truerisk.engines.templates.task import Shown, Task
from truerisk.kernels.spectral import EPS
from truerisk.plan.plan import Plan

# Coefficients that differ by less than MAX_COEFFICIENT_DIFFERENCE count as equal.
MAX_COEFFICIENT_DIFFERENCE = 1e-9
# With at least MIN_JOINT_PENALTIES penalties, one descent for all of them at once is faster.
MIN_JOINT_PENALTIES = 4
# Number of cells of the largest table that fits into the processor's cache.
MAX_CACHED_CELLS = 250_000
PARAMETER_TYPES: dict[str, Any] = {
    **dict.fromkeys(("fit_intercept", "copy_X"), bool | np.bool_),
    **dict.fromkeys(("l1_ratio", "tol"), Real),
    "max_iter": Integral,
    "random_state": Integral | None,
}
SUPPORTED_VALUES = {
    "precompute": False,
    "warm_start": False,
    "positive": False,
    "selection": "cyclic",
}


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
        for name, value in SUPPORTED_VALUES.items():
            if type(setting[name]) is not type(value) or setting[name] != value:
                return f"{name}={setting[name]!r} takes other steps than those it follows."
        for name, allowed_type in PARAMETER_TYPES.items():
            if not isinstance(setting.get(name, 1), allowed_type):
                return f"{name}={setting[name]!r} is nothing that it knows."
        l1_ratio, tol, max_iter = setting.get("l1_ratio", 1.0), setting["tol"], setting["max_iter"]
        if reason := penalty_refusal(setting["alpha"]):
            return reason
        if not 0 < l1_ratio <= 1 or setting["alpha"] * l1_ratio < EPS:
            return "without a lasso penalty there is another gap, or none."
        can_stop = 0 < tol < np.inf and max_iter > 0
        return (
            None if can_stop else f"tol={tol!r} with max_iter={max_iter!r} is no place to stop at."
        )

    @override
    def more_refusals(self, family: Family, data: Data, plan: Plan, request: Request) -> str | None:
        if data.classes is not None or data.y.ndim != 1:
            return "y is not one number per row."
        if sklearn_screens_columns() is None:
            return "the installed scikit-learn takes other steps than those it follows."
        return weights_refusal(data)

    def costs(self, family: Family, data: Data, plan: Plan) -> tuple[float, float] | None:
        """Predict the run times of this engine and of separate fits by scikit-learn.

        The engine copies the rows and passes over them a few times, while scikit-learn passes over
        them as often for every penalty. If there are more columns than rows, a descent needs more
        passes. For a table that does not fit into a cache, a few penalties gain nothing from being
        solved together, and a fit that reaches its limit of passes is repeated once for its
        warning.

        Parameters
        ----------
        family : Family
            The learner and its candidate settings.
        data : Data
            The checked rows of the call.
        plan : Plan
            The training and test rows of all fits.

        Returns
        -------
        tuple of float or None
            The seconds that this engine takes, and the seconds that separate fits by scikit-learn
            take.
        """
        p, n = int(np.shape(data.X)[1]), np.maximum(plan.least_train_sizes, 1).astype(np.float64)
        groups, n_cells = group_candidates(family, self.along), n * p
        descent_seconds = 2.2e-8 * n_cells * p / (2 * n)
        sklearn_seconds = len(family) * (2.5e-3 + 2.2e-8 * n_cells + descent_seconds).sum()
        engine_seconds = len(groups) * (1e-3 + 3e-8 * n_cells).sum()
        for group in groups:
            has_no_gain = (len(group.settings) < MIN_JOINT_PENALTIES) & (n_cells > MAX_CACHED_CELLS)
            engine_seconds += (
                len(group.settings) * (np.where(has_no_gain, 1.25, 0.8) * descent_seconds).sum()
            )
        return float(engine_seconds), float(sklearn_seconds)

    @override
    def fit_pass(
        self, task: Task, group: Group, shown: Shown, tests: list[np.ndarray]
    ) -> list[np.ndarray] | None:
        n_training_rows = len(shown.rows) if shown.times is None else int(shown.times.sum())
        setting, y = group.settings[0], shown.y.astype(np.float64)[:, None]
        train = TrainSet.from_rows(
            shown.X, y, shown.all_weights, n_training_rows, bool(setting["fit_intercept"])
        )
        if train is None:
            return None
        coefs, n_passes, is_certain = _coefficients_by_descent(
            train.weighted_rows,
            train.weighted_targets[:, 0],
            train.total_weight,
            group.settings,
            bool(sklearn_screens_columns()),
        )
        test_rows = tests[0] if len(tests) == 1 else np.concatenate(tests)
        max_abs_values = np.maximum(
            np.abs(train.mean), np.maximum(test_rows.max(axis=0), -test_rows.min(axis=0))
        )
        is_certain &= (
            EPS * (np.abs(coefs) @ max_abs_values + np.abs(train.mean_y))
            <= MAX_ROUNDING_ERROR * train.target_scales
        )
        task.leave_open(shown.fit, group.candidates[~is_certain])
        task.warn_alike(shown.fit, group.candidates[is_certain & (n_passes > setting["max_iter"])])
        predictions = coefs @ test_rows.T + (train.mean_y - coefs @ train.mean)[:, None]
        return np.split(predictions, np.cumsum([len(test) for test in tests])[:-1], axis=1)


@cache
def sklearn_screens_columns() -> bool | None:
    """Return True if the installed scikit-learn screens out columns during coordinate descent.

    The result is False if it descends without screening, and None if it uses another method. This
    is tested once per process, on small problems with so loose a tolerance that coefficients depend
    on the step at which the descent stops. It takes some milliseconds.
    """
    test_settings = [
        (alpha_share, l1_ratio) for alpha_share in (1.1, 0.5, 0.1, 0.02) for l1_ratio in (1.0, 0.5)
    ]
    matching_variants = (
        screens_columns
        for screens_columns in (True, False)
        if all(map(partial(_matches_sklearn, screens_columns), test_settings))
    )
    return next(matching_variants, None)


def _matches_sklearn(screens_columns: bool, problem: tuple[float, float]) -> bool:
    from sklearn.linear_model import ElasticNet

    (alpha_share, l1_ratio), rng = problem, np.random.default_rng(0)
    X = rng.normal(size=(30, 8)) + rng.normal(size=(30, 1))
    y = X @ np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0, 0.3, 0.0]) + rng.normal(size=30)
    X, y = X - X.mean(axis=0), y - y.mean()
    # A penalty with a share above 1 is so large that all coefficients are 0.
    alpha = alpha_share * np.abs(X.T @ y).max() / (30 * l1_ratio)
    model = call_or_none(lambda: ElasticNet(alpha, l1_ratio=l1_ratio, tol=1e-2).fit(X, y))
    if model is None:
        return False
    coefs, n_passes, is_certain = _coefficients_by_descent(
        X, y, 30, [model.get_params()], screens_columns
    )
    has_close_coefs = np.abs(coefs[0] - model.coef_).max() < MAX_COEFFICIENT_DIFFERENCE
    return bool(is_certain[0] and has_close_coefs and n_passes[0] == model.n_iter_)


def _coefficients_by_descent(
    centred_rows: np.ndarray,
    centred_target: np.ndarray,
    total_weight: float,
    settings: Sequence[Mapping[str, Any]],
    screens_columns: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the coefficients and the number of passes for every setting, and a certainty mask.

    The mask is True for settings whose result is certain. Rows and targets must be centred.
    """
    alpha = np.array([float(setting["alpha"]) for setting in settings]) * total_weight
    l1_ratio = np.array([float(setting.get("l1_ratio", 1.0)) for setting in settings])
    return descend(
        centred_rows,
        centred_target,
        np.stack([alpha * l1_ratio, alpha * (1 - l1_ratio)], axis=1),
        tolerance=settings[0]["tol"],
        max_passes=settings[0]["max_iter"],
        screens=screens_columns,
    )
