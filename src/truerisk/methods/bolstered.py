"""Bolstered error: errors are counted over a Gaussian distribution around each training row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from truerisk.contracts import Method, Streams, Terms
from truerisk.core.arguments import as_array, check_count, check_flag
from truerisk.core.errors import BadData, Refusal
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.methods.bayesian.scaled_rows import ScaledRows, scaled_rows
from truerisk.methods.bayesian_error import check_loss_and_rows, plan_with_linear_rule
from truerisk.methods.parts.averages import failure_notes
from truerisk.plan.answers import Answers
from truerisk.plan.blocks import ALL
from truerisk.plan.builder import PlanBuilder
from truerisk.plan.extras.linear_rules import LinearRules
from truerisk.plan.extras.model_facts import get_linear_rules
from truerisk.plan.extras.moves import Moves
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target, Tested

_MAX_DISTANCES = 2_000_000  # maximum number of distances that are in memory at the same time


def kernel_width(rows: np.ndarray) -> float:
    """Return the standard deviation of the Gaussian kernel around the rows of one class.

    It is the mean distance of a row to its nearest neighbour, divided by the median of the chi
    distribution with p degrees of freedom.
    """
    from scipy.special import chdtri

    n, p = rows.shape
    if n < 2:
        raise Refusal(
            "method 'bolstered' takes its kernel width from the distances within a class, and a "
            "class has one training row: use 'bee'."
        )
    squared_norms = (rows**2).sum(axis=1)
    nearest_distances = np.empty(n)
    block_size = max(1, _MAX_DISTANCES // n)
    for first_row in range(0, n, block_size):
        block_rows = rows[first_row : first_row + block_size]
        # These are squared distances to all rows, minus the squared norm of the block's own row.
        # The nearest row does not depend on this term.
        squared_distances = squared_norms - 2 * block_rows @ rows.T
        squared_distances[
            np.arange(len(block_rows)), np.arange(first_row, first_row + len(block_rows))
        ] = np.inf
        # The distance is computed again from the rows, because differences of squares lose digits.
        nearest_rows = squared_distances.argmin(axis=1)
        nearest_distances[first_row : first_row + block_size] = np.sqrt(
            ((block_rows - rows[nearest_rows]) ** 2).sum(axis=1)
        )
    return float(nearest_distances.mean() / np.sqrt(chdtri(max(p, 1), 0.5)))


NO_STD_ERROR_REASON = "no formula is known for the standard error of a bolstered error."


@frozen
class BolsteredBySampling(Method):
    r"""Bolstered resubstitution by sampling, for any classifier and any number of classes.

    .. math:: \frac{1}{n m} \sum_i \sum_{j=1}^m
        1\{f(x_i + \sigma_{y_i} z_{ij}) \ne y_i\},\qquad z_{ij} \sim N(0, I)

    The kernel widths are computed as in `Bolstered`, from distances between the rows of X
    themselves. There are m `points` around each row, which are the same for all candidates. The
    notes state the error due to the sampling alone. X must hold numbers, in an array or a pandas
    frame.

    Parameters
    ----------
    points : int, default=100
        The number of points around each row.
    standardize : bool, default=True
        If True, distances are computed between standardised features.

    See Also
    --------
    truerisk.methods.Bolstered : Smoothed resubstitution.

    References
    ----------
    Braga-Neto and Dougherty (2004), Bolstered error estimation, Pattern Recognition 37.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv=tr.methods.BolsteredBySampling()))
    risk 0.1347 (zero-one, bolstered (100 points))
    """

    points: int = 100
    standardize: bool = True

    target: ClassVar[Target] = "Err_XY"
    splits: ClassVar[bool] = False
    perfect_is_0: ClassVar[bool] = False
    bias = "optimistic where the rule follows its training rows; smoothing makes up for part of it"

    def __post_init__(self) -> None:
        check_count("points", self.points, 2, "draw a whole number, at least 2, around each row")
        check_flag("standardize", self.standardize)

    @property
    @override
    def name(self) -> str:
        name_suffix = "" if self.standardize else ", not standardised"
        return f"bolstered ({self.points} points{name_suffix})"

    @override
    def check(self, data: Data, loss: Loss) -> None:
        check_loss_and_rows(self.name, data, loss)

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        X = _finite_features(data)
        column_scales = X.std(axis=0) if self.standardize else np.ones(X.shape[1])
        column_scales[np.ptp(X, axis=0) == 0] = 0.0 if self.standardize else 1.0
        is_varying = column_scales > 0
        kernel_widths = np.empty(data.n_rows)
        for class_code in range(data.n_classes):
            is_in_class = data.class_codes == class_code
            if is_in_class.any():
                kernel_widths[is_in_class] = kernel_width(
                    X[np.ix_(is_in_class, is_varying)] / column_scales[is_varying]
                )
        builder = PlanBuilder(data.n_rows)
        for repeat in range(self.points):
            builder.ask(train=(ALL, ()), test=(ALL, ()), part="apparent", repeat=repeat)
        seeds = streams.get("points").integers(2**62, size=self.points)
        moves = Moves(np.arange(self.points, dtype=np.int32), seeds, kernel_widths, column_scales)
        return builder.build(moves)

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        moves = Moves.from_holder(answers.plan)
        if moves is None:
            raise BadData(f"this is no plan of '{self.name}': it asks about no points around rows.")
        rows = answers.plan.test_rows(0)[0]
        prediction_shape = len(moves.question), len(rows)
        true_codes = data.codes_of(rows)
        widths_text = ", ".join(
            f"{moves.row_scale[rows[true_codes == candidate][0]]:.6g}"
            for candidate in np.unique(true_codes)
        )
        estimates = []
        for candidate, predicted_labels in enumerate(answers.values):
            if not answers.answered[candidate].all():
                estimates.append(Tested(np.nan, notes=failure_notes(answers, candidate)))
                continue
            error_shares = (predicted_labels.reshape(prediction_shape) != true_codes).mean(axis=0)
            sampling_error = np.sqrt(
                (error_shares * (1 - error_shares)).sum() / (len(moves.question) - 1)
            ) / len(rows)
            risk = float(error_shares.mean())
            sampling_note = f"{len(moves.question)} points around each row: the sampling alone"
            notes = (
                f"kernel widths by class: {widths_text}",
                f"{sampling_note} has a standard error of {sampling_error:.2g}",
                NO_STD_ERROR_REASON,
            )
            estimates.append(
                Tested(
                    risk,
                    losses=error_shares,
                    loss_rows=rows,
                    split_risks=np.array([risk]),
                    notes=notes + failure_notes(answers, candidate),
                )
            )
        return estimates


def _finite_features(data: Data) -> np.ndarray:
    raw_X = data.X
    if not (isinstance(raw_X, np.ndarray) or hasattr(raw_X, "iloc")):
        raise BadData(
            f"points are drawn around rows of an array or a pandas frame, and X is a "
            f"{type(raw_X).__name__}: give X.toarray(), or use '10-fold'."
        )
    try:
        X = as_array(raw_X, np.float64)
    except ValueError as error:
        raise BadData(f"points are drawn around rows of numbers: {error}.") from error
    if X.ndim != 2 or not np.isfinite(X).all():
        raise BadData("points are drawn around rows of finite numbers: impute or leave rows out.")
    return X


@frozen
class Bolstered(Method):
    r"""Bolstered resubstitution: the training error after each row is spread into a Gaussian.

    Row i of class c is replaced by a Gaussian with covariance :math:`\sigma_c^2 I`, and its error
    is the probability mass that the rule assigns to another class. For a linear rule of two classes
    this is :math:`\Phi(-c\, g(x_i) / (\sigma_c \lVert\beta\rVert))`, without any sampling. For
    other rules and for several classes `BolsteredBySampling` is used instead, with `points` drawn
    around each row; the result says so.

    The width is the one of the authors: :math:`\sigma_c = \hat d_c / \chi_p`. Here :math:`\hat d_c`
    is the mean distance of a row of class c to the nearest other row of its class, and
    :math:`\chi_p` is the median of the chi distribution with p degrees of freedom, where p is the
    number of features. The median distance of a kernel's points hence equals the mean distance to
    the nearest neighbour. Distances are computed between standardised features unless `standardize`
    is False.

    The method needs one fit.

    Parameters
    ----------
    standardize : bool, default=True
        If True, distances are computed between standardised features.
    points : int, default=100
        The number of points around each row, if points have to be drawn.

    See Also
    --------
    truerisk.methods.BolsteredBySampling : Smoothed resubstitution for any classifier.
    truerisk.methods.BayesianError : Posterior mean of a linear rule's error.

    References
    ----------
    Braga-Neto and Dougherty (2004), Bolstered error estimation, Pattern Recognition 37.

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> model = LinearDiscriminantAnalysis()
    >>> print(tr.estimate_risk(model, X, y, cv=tr.methods.Bolstered()))
    risk 0.1344 (zero-one, bolstered)
    """

    standardize: bool = True
    points: int = 100

    target: ClassVar[Target] = "Err_XY"
    splits: ClassVar[bool] = False
    perfect_is_0: ClassVar[bool] = False
    bias = "optimistic where the rule follows its training rows; smoothing makes up for part of it"

    def __post_init__(self) -> None:
        # This call raises an error if a parameter is invalid.
        BolsteredBySampling(self.points, self.standardize)

    @property
    @override
    def name(self) -> str:
        return "bolstered" if self.standardize else "bolstered (not standardised)"

    @override
    def check(self, data: Data, loss: Loss) -> None:
        check_loss_and_rows(self.name, data, loss)

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        if data.n_classes > 2:
            return self.sampling.plan(data, streams)
        return plan_with_linear_rule(data.n_rows)

    @property
    def sampling(self) -> BolsteredBySampling:
        """Bolstered resubstitution by sampled points, which is used if there is no closed form."""
        return BolsteredBySampling(self.points, self.standardize)

    @override
    def instead(self, reason: str) -> Method:
        return self.sampling

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        if Moves.from_holder(answers.plan) is not None:
            return self.sampling.reduce(answers, data, loss, terms)
        rule_blocks = get_linear_rules(answers)
        if rule_blocks is None or answers.plan.n_questions != 1:
            raise BadData(f"this is no plan of '{self.name}': it asks for no linear rules.")
        estimates = [
            Tested(np.nan, notes=failure_notes(answers, candidate))
            for candidate in range(answers.n_candidates)
        ]
        for rules in rule_blocks:
            rows = scaled_rows(answers, rules, data, self.name, standardize=self.standardize)
            risks, widths = _bolstered_errors(rows, rules)
            widths_text = ", ".join(f"{width:.6g}" for width in widths)
            for candidate, risk in zip(rules.candidates, risks, strict=True):
                notes = (f"kernel widths by class: {widths_text}", NO_STD_ERROR_REASON)
                estimates[int(candidate)] = replace(
                    estimates[int(candidate)],
                    value=float(risk),
                    split_risks=np.array([risk]),
                    notes=notes + estimates[int(candidate)].notes,
                )
        return estimates


def _bolstered_errors(rows: ScaledRows, rules: LinearRules) -> tuple[np.ndarray, list[float]]:
    """Return the bolstered error of every rule, and the kernel widths of both classes."""
    from scipy.special import ndtr

    slopes, intercepts = rules.between(*rules.codes)
    slope_norms = np.sqrt((rows.slopes(slopes) ** 2).sum(axis=1))
    error_sums, widths = np.zeros(len(slopes)), []
    for class_code, sign in zip(rules.codes, (-1, 1), strict=True):
        width = kernel_width(_standardised_rows(rows, class_code))
        margins = sign * rows.scores(slopes, intercepts, class_code)
        kernel_spreads = (width * slope_norms)[:, None]
        # A row on the decision boundary is predicted as the first class.
        is_wrong = margins < 0 if sign < 0 else margins <= 0
        with np.errstate(divide="ignore", invalid="ignore"):
            error_shares = np.where(kernel_spreads > 0, ndtr(-margins / kernel_spreads), is_wrong)
        error_sums += error_shares.sum(axis=1)
        widths.append(width)
    return error_sums / len(rows.class_codes), widths


def _standardised_rows(rows: ScaledRows, class_code: int) -> np.ndarray:
    table: Any = rows.class_rows(class_code)
    dense_rows = table.toarray() if hasattr(table, "toarray") else table
    is_varying = rows.scale > 0
    return (dense_rows[:, is_varying] - rows.centre[is_varying]) / rows.scale[is_varying]
