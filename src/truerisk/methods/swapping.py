"""Swapping (Daudin and Mary-Huard): apparent risk plus a penalty for fitting single labels."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from truerisk.contracts import Method, Streams, Terms
from truerisk.core.arguments import check_number, mention
from truerisk.core.errors import BadData, Refusal, UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.data.data import Data
from truerisk.losses.loss import Loss
from truerisk.losses.row_losses import ZeroOne
from truerisk.methods.parts.averages import failure_notes
from truerisk.plan.answers import Answers
from truerisk.plan.extras.counted import ClassCounts, plan_label_flips
from truerisk.plan.extras.flips import Flips
from truerisk.plan.plan import Plan
from truerisk.results.evaluation import Target, Tested
from truerisk.results.interval import Scale

NO_STD_ERROR_REASON = "no formula is known for the standard error of the swapping criterion."


@frozen
class Swapping(Method):
    r"""Covariance-penalty estimate of the conditional risk of a classifier for two classes.

    .. math:: C = L_n + S_n, \quad S_n = \frac{2}{n} \sum_i \hat p_{B,i} (1 - \hat p_{B,i})
              \left[\phi(x_i \mid Y_i = 1) - \phi(x_i \mid Y_i = 0)\right], \quad
              \hat p_B = \frac{n_x \hat p + n_0 / 2}{n_x + n_0}

    where :math:`\phi(\cdot \mid Y_i = y)` is fitted with label i set to y. :math:`n_x` is the
    number of training rows from which :math:`\hat p(x_i)` was computed: k for nearest neighbours,
    the rows of the leaf or of the interval, or all rows for a rule with global parameters. With the
    true P(Y = 1 | x) in place of :math:`\hat p_B` the estimate is unbiased for any rule.

    ``n0=math.inf`` sets every :math:`\hat p_B` to ½, the document's worst case, and does not need
    probabilities. ``form="as-printed"`` is the document's rule for nearest neighbours. It counts
    each row whose neighbours have a majority of one vote, whether or not the row is among them; it
    is too large.

    Parameters
    ----------
    n0 : float, default=10
        The weight of the prior guess ½, in rows.
    form : {"exact", "as-printed"}, default="exact"
        The estimate above, or the rule for nearest neighbours as the document prints it.

    See Also
    --------
    truerisk.methods.Apparent : Risk on the training rows.
    truerisk.methods.LeaveOneOut : Cross-validation with one fold per row.

    References
    ----------
    Daudin and Mary-Huard, Model selection in classification: the swapping method. Efron (1986),
    How biased is the apparent error rate of a prediction rule? Efron (2004).

    Examples
    --------
    >>> import truerisk as tr
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = tr.datasets.make_simple(60, random_state=0)
    >>> print(tr.estimate_risk(GaussianNB(), X, y, cv=tr.methods.Swapping()))
    risk 0.1083 (zero-one, swapping)
    """

    n0: float = 10
    form: Literal["exact", "as-printed"] = "exact"

    target: ClassVar[Target] = "CER"
    splits: ClassVar[bool] = False
    bias = (
        "pessimistic where labels have little noise, optimistic where they have much: p(x) is "
        "estimated from the labels and shrunk towards 1/2; below the risk at new x's"
    )

    def __post_init__(self) -> None:
        if self.form not in ("exact", "as-printed"):
            raise UnknownName(f"form={self.form!r} is unknown; use 'exact' or 'as-printed'.")
        check_number("n0", self.n0, 0, np.inf, "it is a number of rows, 0 or more")

    @property
    @override
    def name(self) -> str:
        name_parts = [] if self.n0 == 10 else [f"n0={self.n0:.15g}"]
        name_parts += ["as printed"] if self.form == "as-printed" else []
        return f"swapping ({', '.join(name_parts)})" if name_parts else "swapping"

    @override
    def check(self, data: Data, loss: Loss) -> None:
        if type(loss) is not ZeroOne:
            raise Refusal(
                f"method 'swapping' is defined for zero-one loss, not for '{loss.name}': use "
                f"{mention('scoring', 'zero-one')}, or a method such as 'loo' or '10-fold'."
            )
        if data.n_classes != 2:
            raise Refusal(
                f"method 'swapping' is defined for two classes and y has {data.n_classes}: a label "
                "would have several others to be swapped with, and the document defines none. "
                "Use 'loo' or '10-fold', or one class against the others."
            )
        if data.groups is not None:
            raise Refusal(
                "method 'swapping' would ignore the groups: it swaps labels one at a time, as if "
                "those of a group were independent. Use 'K-fold' words, which keep groups together."
            )

    @override
    def plan(self, data: Data, streams: Streams) -> Plan:
        plan = plan_label_flips(1 - data.codes_of(np.arange(data.n_rows)))
        if self.form == "as-printed":
            return plan.select(np.array([0]))
        if not np.isinf(self.n0):
            return plan
        label_flips = Flips.from_holder(plan)
        assert label_flips is not None
        return replace(plan, extra=Flips(label_flips.fit, label_flips.row, label_flips.code))

    @override
    def reduce(self, answers: Answers, data: Data, loss: Loss, terms: Terms) -> list[Tested]:
        unchanged_indices, swapped_indices = _prediction_indices(answers.plan)
        rows = answers.plan.positions[0][unchanged_indices]
        true_codes, weights = data.codes_of(rows), data.weights(rows)
        predicts_second_class = answers.values == 1
        is_wrong = predicts_second_class[:, unchanged_indices] != (true_codes == 1)
        class_counts = _class_counts(answers, unchanged_indices)
        if self.form == "as-printed":
            prediction_change = _has_majority_of_one(class_counts, answers)
        else:
            prediction_change = (
                predicts_second_class[:, unchanged_indices].astype(np.float64)
                - predicts_second_class[:, swapped_indices]
            )
            prediction_change *= np.where(true_codes == 1, 1, -1)
        penalty = 2 * self._label_variance(class_counts) * prediction_change
        all_rows_notes = _all_rows_notes(class_counts, answers.plan)
        return [
            self._make_estimate(
                answers,
                candidate,
                np.average(is_wrong[candidate], weights=weights),
                np.average(penalty[candidate], weights=weights),
                all_rows_notes[candidate],
                loss.scale,
            )
            for candidate in range(answers.n_candidates)
        ]

    def _label_variance(self, class_counts: np.ndarray) -> np.ndarray:
        """Return each label's variance p(1 − p), where the probability p is shrunken towards ½.

        The variance is ¼ if n0 is infinite or if the class counts are 0.
        """
        if np.isinf(self.n0):
            return np.full(class_counts.shape[:2], 0.25)
        total_counts = class_counts.sum(axis=2) + self.n0
        p = np.full(total_counts.shape, 0.5)
        np.divide(class_counts[:, :, 1] + self.n0 / 2, total_counts, out=p, where=total_counts > 0)
        return p * (1 - p)

    def _make_estimate(
        self,
        predictions: Answers,
        candidate: int,
        apparent_risk: float,
        penalty: float,
        basis_notes: tuple[str, ...],
        scale: Scale,
    ) -> Tested:
        if not predictions.answered[candidate].all():
            missing_risk = np.array([np.nan])
            return Tested(
                np.nan, split_risks=missing_risk, notes=failure_notes(predictions, candidate)
            )
        sign_text = "+" if scale.perfect is None else "−"
        formula_note = (
            f"apparent {scale.noun} {scale.value(apparent_risk):.4f} {sign_text} swapping penalty "
            f"{penalty:.4f}"
        )
        risk = float(apparent_risk + penalty)
        notes = (formula_note, *basis_notes, *predictions.notes, NO_STD_ERROR_REASON)
        return Tested(risk, split_risks=np.array([risk]), notes=notes)


def _prediction_indices(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of each row's two predictions, in the order of the rows.

    The first is by the model fitted on unchanged labels, and the second by the model fitted with
    the row's own label swapped.
    """
    rows = plan.positions[0]
    is_swap_fit = np.zeros(plan.n_fits, dtype=bool)
    if (label_flips := Flips.from_holder(plan)) is not None:
        is_swap_fit[label_flips.fit] = True
    is_swap_prediction = np.repeat(is_swap_fit[plan.fit], plan.test_sizes)
    unchanged_indices, swapped_indices = (
        np.flatnonzero(~is_swap_prediction),
        np.flatnonzero(is_swap_prediction),
    )
    unchanged_indices, swapped_indices = (
        unchanged_indices[np.argsort(rows[unchanged_indices])],
        swapped_indices[np.argsort(rows[swapped_indices])],
    )
    if len(swapped_indices) and not np.array_equal(rows[unchanged_indices], rows[swapped_indices]):
        raise BadData(
            "this is no plan of the swapping method: not every row has its label swapped."
        )
    return unchanged_indices, swapped_indices


def _class_counts(predictions: Answers, unchanged_indices: np.ndarray) -> np.ndarray:
    """Return how many training rows of each class each prediction is computed from.

    The predictions are sorted by row.
    """
    class_counts = ClassCounts.from_holder(predictions)
    if class_counts is None:
        return np.zeros((predictions.n_candidates, len(unchanged_indices), 2))
    return class_counts.values[
        :, np.argsort(np.argsort(unchanged_indices))[np.argsort(unchanged_indices)]
    ]


def _has_majority_of_one(class_counts: np.ndarray, predictions: Answers) -> np.ndarray:
    """Return 1 for rows whose k nearest neighbours are decided by a majority of one vote, else 0.

    Raise Refusal unless every candidate is a nearest-neighbour rule with odd k.
    """
    votes, k = class_counts[:, :, 1], class_counts.sum(axis=2)
    has_odd_k = (np.abs(votes - votes.round()) < 1e-9).all(axis=1) & (np.ptp(k, axis=1) < 1e-9)
    has_odd_k &= (k[:, 0] % 2).round(9) == 1
    if not has_odd_k[predictions.answered.all(axis=1)].all():
        raise Refusal(
            f"{mention('form', 'as-printed')} is stated for nearest neighbours with odd k, and "
            f"some candidate is no such rule: use {mention('form', 'exact')}, which any classifier "
            "for two classes has."
        )
    is_narrow_majority: np.ndarray = np.abs(2 * votes - k).round() == 1
    return is_narrow_majority.astype(np.float64)


def _all_rows_notes(class_counts: np.ndarray, plan: Plan) -> list[tuple[str, ...]]:
    """Return a note for each candidate whose probabilities are estimated from all training rows.

    Such probabilities are hardly shrunk towards ½. Other candidates get no note.
    """
    n = plan.train_sizes.max()
    rests_on_all_rows = np.isclose(class_counts.sum(axis=2), n).all(axis=1)
    all_rows_note = (
        f"n_x = {n}: the probabilities are estimated from all rows, so n0 hardly shrinks them; for "
        "a model that still follows single labels, such as a forest, the criterion is too small"
    )
    return [(all_rows_note,) if uses_all_rows else () for uses_all_rows in rests_on_all_rows]
