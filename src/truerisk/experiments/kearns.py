"""Experiments for Figures 1 and 2 of Daudin and Mary-Huard: interval rules for every k.

The data are Kearns' interval problem.

The rule with at most k intervals and the fewest errors is `IntervalClassifier`. Its engine computes
the rules for every k, every left-out row and every changed label by one pass in each direction, so
that a data set of 500 rows takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, pairwise

import numpy as np

from truerisk.datasets import KearnsProblem
from truerisk.experiments.experiment import (
    Draws,
    experiment,
    predict_plan,
    replicate_rng,
    two_class_data,
)
from truerisk.experiments.figures import (
    FindingParts,
    Panel,
    PaperTable,
    Series,
    mean_line,
    mean_lines,
    std_error_of_printed_mean,
)
from truerisk.experiments.statements import ABOVE_ZERO, BELOW_ZERO, Claim, Quantity, Statement
from truerisk.extend import Answers, Data, Family, Method, Plan, Streams
from truerisk.losses import ZeroOne
from truerisk.methods import Apparent, LeaveOneOut, Swapping
from truerisk.models import IntervalClassifier

# The share of label 1 in an interval is shrunken towards ½ as if there were this many additional
# rows, half of them with label 1. The document does the same.
SHRINKAGE_ROWS = 10
# This is the maximum number of intervals of a rule, unless the target has more than 30.
MAX_INTERVALS = 60
# The target has this number of intervals.
N_TARGET_INTERVALS = 10


@lru_cache(maxsize=32)
def plan_for_row_count(method: Method, n: int) -> Plan:
    """Return the plan of a method whose plan depends only on the number of rows."""
    return method.plan(two_class_data(np.empty((n, 1)), np.arange(n) % 2), Streams(0))


@lru_cache(maxsize=32)
def interval_rule_family(ks: tuple[int, ...]) -> Family:
    """Return the family with one candidate per k: the best rule with at most k intervals.

    The best rule is the one with the fewest training errors.
    """
    return Family.from_grid(IntervalClassifier(), {"k": ks})


@dataclass(frozen=True, eq=False)
class Trial:
    """Points of Kearns' problem, sorted, with their labels and the interval rule of every k.

    Results have a row per k and, if they refer to points, a column per point. They are computed on
    request, because only swapping and leave-one-out need rules other than those fitted to all
    points.
    """

    problem: KearnsProblem
    x: np.ndarray
    y: np.ndarray
    ks: Sequence[int]

    @classmethod
    def draw(
        cls, problem: KearnsProblem, n: int, ks: Sequence[int], rng: np.random.Generator
    ) -> Trial:
        """Draw n points of the problem, and sort them."""
        X, y = problem(n, random_state=rng)
        ascending_order = np.argsort(X[:, 0])
        return cls(problem, X[ascending_order, 0], y[ascending_order], ks)

    @cached_property
    def _swapping(self) -> Answers:
        """Predicted labels of all points, by the fitted rules and by rules with one label changed.

        They include the number of points of each class in the interval of each point.
        """
        return self._answers(Swapping().plan(self._data, Streams(0)))

    @cached_property
    def _data(self) -> Data:
        return two_class_data(self.x[:, None], self.y)

    def _answers(self, plan: Plan) -> Answers:
        """Return the predictions of the candidates of every k for the test points of a plan."""
        return predict_plan(interval_rule_family(tuple(self.ks)), self._data, ZeroOne(), plan)

    @cached_property
    def labels(self) -> np.ndarray:
        """Predicted labels of the points by the rules that were fitted to all of them."""
        if "_swapping" in vars(self):
            return self._swapping.values[:, : len(self.x)]
        return self._answers(plan_for_row_count(Apparent(), len(self.x))).values

    @cached_property
    def leave_one_out_labels(self) -> np.ndarray:
        """Predicted label of each point by the rule that was fitted without this point."""
        return self._answers(plan_for_row_count(LeaveOneOut(), len(self.x))).values

    @cached_property
    def interval_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """For each point, the number of points in its interval, and how many have label 1."""
        class_counts: np.ndarray | None = getattr(self._swapping.extra, "values", None)
        assert class_counts is not None
        return class_counts.sum(axis=2).round(), class_counts[..., 1]

    @cached_property
    def prediction_changes(self) -> np.ndarray:
        """Change of a point's prediction if its label changes from 0 to 1: φ(xᵢ|1) − φ(xᵢ|0)."""
        original_predictions, swapped_predictions = np.split(
            self._swapping.values.astype(np.int8), 2, axis=1
        )
        return np.where(
            self.y == 1,
            original_predictions - swapped_predictions,
            swapped_predictions - original_predictions,
        )

    @property
    def empirical_error(self) -> np.ndarray:
        """Empirical (training) error rate of the rule of every k."""
        return (self.labels != self.y).mean(axis=1)

    @property
    def leave_one_out_error(self) -> np.ndarray:
        """Leave-one-out error rate of the rule of every k."""
        return (self.leave_one_out_labels != self.y).mean(axis=1)

    def penalty(self, n0: float = SHRINKAGE_ROWS) -> np.ndarray:
        """Return the swapping penalty S for every k, with class shares shrunken to ½ by n0 rows.

        S = (2/n) Σ p(1 − p) [φ(xᵢ|1) − φ(xᵢ|0)], with p the share of label 1 in the interval of the
        point.
        """
        interval_sizes, n_ones = self.interval_counts
        p = (n_ones + n0 / 2) / (interval_sizes + n0)
        return 2 * (p * (1 - p) * self.prediction_changes).mean(axis=1)

    def criterion(self, n0: float = SHRINKAGE_ROWS) -> np.ndarray:
        """Return the swapping criterion L_n + S for every k: training error plus penalty."""
        # The penalty is computed first, because its labels also give the empirical error.
        return self.penalty(n0) + self.empirical_error

    @property
    def conditional_risk(self) -> np.ndarray:
        """Conditional risk of the rule of every k: its error rate for new labels of the same x."""
        return self._risk((self.labels != self.problem.target(self.x)).mean(axis=1))

    @cached_property
    def true_risk(self) -> np.ndarray:
        """Exact true risk of the rule of every k; rules change labels midway between points."""
        boundaries = self.x[:-1] / 2 + self.x[1:] / 2
        target_one_lengths = self.problem.share_of_ones(boundaries)
        interval_lengths = np.diff(boundaries, prepend=0.0, append=1.0)
        return self._risk(
            np.where(
                self.labels == 1, interval_lengths - target_one_lengths, target_one_lengths
            ).sum(axis=1)
        )

    @property
    def risks(self) -> np.ndarray:
        """Empirical, conditional and true risks (EER, CER and TER) of the rule of every k."""
        return np.array([self.empirical_error, self.conditional_risk, self.true_risk])

    def _risk(self, wrong_share: np.ndarray) -> np.ndarray:
        """Return the risk of a rule, given the share of points where it differs from the target."""
        noise = self.problem.noise
        return noise + (1 - 2 * noise) * wrong_share


def draw_kearns_trial(
    noise: float, n: int, seed: int, replicate_number: int, n_intervals: int = N_TARGET_INTERVALS
) -> Trial:
    """Draw a trial of n points with this noise and a target of `n_intervals` intervals.

    The rules have k = 1 … MAX_INTERVALS intervals or twice those of the target, at most n.
    """
    name = f"kearns {noise} {n}"
    if n_intervals != N_TARGET_INTERVALS:
        name += f" {n_intervals}"
    ks = range(1, min(max(MAX_INTERVALS, 2 * n_intervals), n) + 1)
    problem = KearnsProblem(noise=noise, n_intervals=n_intervals)
    return Trial.draw(problem, n, ks, replicate_rng(name, seed, replicate_number))


# -------------------------------------------------------- Figures 1 and 2: risks and criteria by k

N, NOISE = 100, 0.2
NOISE_LEVELS = (0.1, 0.2, 0.3, 0.4)
KS = np.arange(1, MAX_INTERVALS + 1)
# Each entry holds the target's number of intervals, the number of points, and the noise.
SITUATIONS = tuple(
    (d, n, noise) for d, n in ((10, 20), (10, 100), (10, 500), (100, 500)) for noise in NOISE_LEVELS
)
# Values of k, divided by the number of intervals of the target, at which risks are reported.
RELATIVE_KS = (1.0, 1.25, 1.5, 2.0)
# The curves of CER and TER over k count as nearly parallel if the range of their difference is
# below this share of the range of the bias CER − EER.
PARALLEL_SHARE = 0.1
# A difference of this size is invisible in a curve.
INVISIBLE_DIFFERENCE = 0.02
# The plug-in estimate is judged with 5n/8 intervals, which leave few intervals with both labels.
PLUG_IN_COUNTS = {n: 5 * n // 8 for n in (40, 160, 640)}
# The plug-in estimate fails if it leaves more than this of the bias unexplained.
UNEXPLAINED_BIAS = 0.1
# The figure shows, for rules with these numbers of intervals, which predictions change.
CHANGE_KS = (4, 10, 20, 40, 60)
# RISKS_AT_K and BIASES_BY_NOISE are means over this number of earlier trials.
N_EARLIER_TRIALS = 2000
RISKS_AT_K = {4: (0.292, 0.374, 0.407), 10: (0.148, 0.274, 0.300), 20: (0.081, 0.293, 0.313)} | {
    60: (0.0, 0.320, 0.336)
}
BIASES_BY_NOISE = {
    0.1: (0.134, 0.057),
    0.2: (0.173, 0.126),
    0.3: (0.206, 0.190),
    0.4: (0.228, 0.237),
}
AXIS_LABEL = "number of intervals k"


def _replicate_1(seed: int, replicate_number: int) -> Draws:
    """Return risks and penalties for every k at noise .2, and the bias at every noise level."""
    trials = {noise: draw_kearns_trial(noise, N, seed, replicate_number) for noise in NOISE_LEVELS}
    main_trial, k_index = trials[NOISE], N_TARGET_INTERVALS - 1
    biases = [
        (trial.penalty()[k_index], (trial.conditional_risk - trial.empirical_error)[k_index])
        for trial in trials.values()
    ]
    changes = main_trial.prediction_changes
    return {
        "risks": main_trial.risks,
        "S": main_trial.penalty(),
        "S, n0 = 0": main_trial.penalty(0),
        "unexplained": np.array(
            [_bias_left_by_plug_in(n, seed, replicate_number) for n in PLUG_IN_COUNTS]
        ),
        "signs": np.array([(changes > 0).sum(), (changes < 0).sum()]),
        "x": main_trial.x,
        "changes": changes[np.array(CHANGE_KS) - 1],
        "biases": np.array(biases),
        "everywhere": np.array(
            [_risks_beyond_target(*trial, seed, replicate_number) for trial in SITUATIONS]
        ),
    }


def _bias_left_by_plug_in(n: int, seed: int, replicate_number: int) -> float:
    """Return the conditional bias minus S without shrinkage, for n points and 5n/8 intervals."""
    rng = replicate_rng(f"kearns plug-in {n}", seed, replicate_number)
    trial = Trial.draw(KearnsProblem(noise=NOISE), n, [PLUG_IN_COUNTS[n]], rng)
    return float((trial.conditional_risk - trial.empirical_error - trial.penalty(0))[0])


def _risks_beyond_target(
    n_intervals: int, n: int, noise: float, seed: int, replicate_number: int
) -> np.ndarray:
    """Return the risks of rules with d to 2d intervals, where the target has d intervals."""
    rng, ks = (
        replicate_rng(f"kearns {noise} {n} {n_intervals}", seed, replicate_number),
        [int(n_intervals * factor) for factor in RELATIVE_KS],
    )
    return Trial.draw(KearnsProblem(noise=noise, n_intervals=n_intervals), n, ks, rng).risks


@experiment(_replicate_1, replicates=2000, quick=100, unit="trials")
def kearns_figure_1(draws: Draws) -> FindingParts:
    """Daudin and Mary-Huard, Figure 1: risks of k intervals, and the bias.

    Daudin, Mary-Huard: Model selection in classification: the swapping method, §3.2

    the document draws these curves and prints no numbers.

    the earlier run printed .122 for CER − EER at noise .2; the .274 − .148 of its first table
    stands in its place.
    """
    risks = draws["risks"]
    risks_at_k = {
        f"k = {k}: {name}": risks[:, i, k - 1]
        for k in RISKS_AT_K
        for i, name in enumerate(("EER", "CER", "TER"))
    }
    yield _table_with_earlier_means(
        f"mean risks, n = {N}, noise {NOISE}", risks_at_k, *RISKS_AT_K.values()
    )
    biases_at_target = {
        f"noise {noise}: {name}": draws["biases"][:, j, i]
        for j, noise in enumerate(BIASES_BY_NOISE)
        for i, name in enumerate(("S", "CER − EER"))
    }
    title = f"estimated and conditional bias at k = {N_TARGET_INTERVALS}, n = {N}"
    yield _table_with_earlier_means(title, biases_at_target, *BIASES_BY_NOISE.values())

    empirical_risks, conditional_risks, true_risks = np.moveaxis(risks, 1, 0)
    lines_of_rates = (
        mean_line("empirical error rate, EER", KS, empirical_risks, "k-", 2.4),
        mean_line("conditional error rate, CER", KS, conditional_risks, "k:"),
        mean_line("true error rate, TER", KS, true_risks, "k-"),
    )
    yield Panel("error rates", AXIS_LABEL, "rate", lines_of_rates)
    biases = {
        "estimated, S": draws["S"],
        "conditional, CER − EER": conditional_risks - empirical_risks,
        "plug-in, S with n0 = 0": draws["S, n0 = 0"],
    }
    bias_line = mean_line("true, TER − EER", KS, true_risks - empirical_risks, "k-", 2.4)
    bias_lines = (*mean_lines(KS, biases, ("k:", "k-", "C1--")), bias_line)
    yield Panel("bias of the empirical error rate", AXIS_LABEL, "bias", bias_lines)

    yield Panel(
        "points whose label decides their prediction, first trial",
        "x",
        AXIS_LABEL,
        tuple(
            Series(
                f"k = {k}: φ(x|1) − φ(x|0) = {sign:+d}",
                draws["x"][0, places],
                k + 0 * places,
                f"C{i}{marker}",
            )
            for i, k in enumerate(CHANGE_KS)
            for sign, marker in ((1, "^"), (-1, "v"))
            if len(places := np.flatnonzero(draws["changes"][0, i] == sign))
        ),
    )

    risks_from_target, parallel_claim = (
        risks[:, :, N_TARGET_INTERVALS - 1 :],
        Claim("below", PARALLEL_SHARE),
    )
    yield Statement.from_quantities(
        "the curves of conditional and true risk are nearly parallel for k >= "
        f"{N_TARGET_INTERVALS}: TER − CER moves by less than a tenth of what CER − EER moves",
        Quantity.from_statistic("share", _range_ratio, risks_from_target, parallel_claim, digits=3),
    )
    risks_by_situation = {
        f"d = {d}, n = {n}, noise {noise}": draws["everywhere"][:, situation_index]
        for situation_index, (d, n, noise) in enumerate(SITUATIONS)
    }
    yield Statement.from_quantities(
        "this behaviour is observed for any η, d and n: the same share from k = d to 2d",
        *(
            Quantity.from_statistic(
                situation_name, _range_ratio, situation_risks, parallel_claim, digits=3
            )
            for situation_name, situation_risks in risks_by_situation.items()
        ),
    )
    estimated_bias, conditional_bias = draws["biases"].T
    excess_bias = estimated_bias - conditional_bias
    excess_by_noise = [
        {f"S − (CER − EER) at noise {noise}": excess_at_noise}
        for noise, excess_at_noise in zip(NOISE_LEVELS, excess_bias, strict=True)
    ]
    excess_differences = {"its excess over that at noise 0.2": excess_bias[0] - excess_bias[1]}
    zero_claim = Claim("near", 0.0, INVISIBLE_DIFFERENCE)
    for text, quantities, claim in (
        ("S overestimates the conditional bias at noise 0.2", excess_by_noise[1], ABOVE_ZERO),
        ("this overestimation is higher at noise 0.1", excess_differences, ABOVE_ZERO),
        (
            f"it vanishes at noise 0.3: no more than {INVISIBLE_DIFFERENCE} is left",
            excess_by_noise[2],
            zero_claim,
        ),
        ("it becomes an underestimation at noise 0.4", excess_by_noise[3], BELOW_ZERO),
    ):
        yield Statement.from_quantities(text, quantities, claim=claim)
    yield Statement.from_quantities(
        "plugging in the estimate of p leads to an inconsistent estimation of the bias: with n0 = "
        f"0 and 5n/8 intervals more than {UNEXPLAINED_BIAS} of it stays unexplained at every n",
        {
            f"CER − EER − S, n = {n}": draws["unexplained"][:, i]
            for i, n in enumerate(PLUG_IN_COUNTS)
        },
        claim=Claim("above", UNEXPLAINED_BIAS),
    )
    n_plus, n_minus = draws["signs"].T
    yield Statement.from_quantities(
        "a changed decision contributes with a sign − or +, usually +",
        {"share of +": n_plus / (n_plus + n_minus)},
        claim=Claim("above", 0.5),
        remark=f"{n_plus.sum()} changes with +, {n_minus.sum()} with −, at every k of all trials",
    )


def _table_with_earlier_means(
    title: str, values: Draws, *earlier_means: Sequence[float]
) -> PaperTable:
    """Return a table of our means with the means of an earlier 2000 trials as reference."""
    pairs = zip(values.items(), chain(*earlier_means), strict=True)
    reference_values = {
        name: (mean, std_error_of_printed_mean(quantity_values, N_EARLIER_TRIALS, 3))
        for (name, quantity_values), mean in pairs
    }
    return PaperTable.from_values(
        title, f"{N_EARLIER_TRIALS} trials of this recipe", values, reference_values
    )


def _range_ratio(trial_risks: np.ndarray) -> float:
    """Return the range of TER − CER over k as a share of the range of the bias CER − EER."""
    empirical_risks, conditional_risks, true_risks = trial_risks.mean(axis=0)
    # The denominator is bounded below, because a few trials may have no bias at all.
    range_of_bias = float(np.ptp(conditional_risks - empirical_risks))
    return float(np.ptp(true_risks - conditional_risks)) / max(range_of_bias, 1e-12)


SHOWN_KS = (1, 4, 10, 20, 40, 60)
# An error rate below this maximum counts as zero.
ZERO_ERROR_LIMIT = 0.001
# The figure shows this number of trials.
N_SHOWN_TRIALS = 3


def _replicate_2(seed: int, replicate_number: int) -> Draws:
    """Compute the empirical risk and the swapping criterion by k, for 100 points with noise .2."""
    trial = draw_kearns_trial(NOISE, N, seed, replicate_number)
    return {"apparent": trial.empirical_error, "criterion": trial.criterion()}


@experiment(_replicate_2, replicates=2000, quick=100, unit="trials")
def kearns_figure_2(draws: Draws) -> FindingParts:
    """Daudin and Mary-Huard, Figure 2: the swapping criterion along k.

    Daudin, Mary-Huard: Model selection in classification: the swapping method, §3.2

    the document draws these curves and prints no numbers.
    """
    empirical_risks, criterion = draws["apparent"], draws["criterion"]
    curves = {"empirical": empirical_risks, "empirical + S": criterion}
    shown_values = {
        f"k = {k}: {name}": values[:, k - 1] for k in SHOWN_KS for name, values in curves.items()
    }
    yield PaperTable.from_values(
        f"mean error rates, n = {N}, noise {NOISE}", "document", shown_values
    )
    trial_lines = tuple(
        Series(f"{name}, trial {trial_index + 1}", KS, values[trial_index], f"{colour}{style}")
        for trial_index, style in enumerate(("-", "--", ":")[: len(criterion)])
        for name, values, colour in (("empirical", empirical_risks, "k"), ("S", criterion, "C0"))
    )
    yield Panel(f"{N_SHOWN_TRIALS} trials", AXIS_LABEL, "error rate", trial_lines)
    means = mean_lines(KS, curves, ("k-", "C0-"))
    yield Panel("mean of all trials", AXIS_LABEL, "error rate", means)

    def k_of_least_mean(trial_criteria: np.ndarray) -> float:
        return float(KS[trial_criteria.mean(axis=0).argmin()])

    def criterion_differences(*k_pairs: tuple[int, int]) -> dict[str, np.ndarray]:
        return {
            f"criterion at k = {larger_k} − at k = {smaller_k}": criterion[:, larger_k - 1]
            - criterion[:, smaller_k - 1]
            for larger_k, smaller_k in k_pairs
        }

    yield Statement.from_quantities(
        f"the empirical error rate decreases to zero: below {ZERO_ERROR_LIMIT} at k = "
        f"{MAX_INTERVALS}",
        {"its mean there": empirical_risks[:, -1]},
        claim=Claim("below", ZERO_ERROR_LIMIT),
    )
    yield Statement.from_quantities(
        f"the criterion decreases until k is about {N_TARGET_INTERVALS}",
        criterion_differences((1, 4), (4, N_TARGET_INTERVALS)),
        Quantity.from_statistic(
            "k of its least mean",
            k_of_least_mean,
            criterion,
            Claim("near", N_TARGET_INTERVALS, 2),
            digits=1,
        ),
    )
    yield Statement.from_quantities(
        f"the criterion then grows for k > {N_TARGET_INTERVALS}",
        criterion_differences(
            *((high, low) for low, high in pairwise((N_TARGET_INTERVALS, 20, 40, MAX_INTERVALS)))
        ),
    )
