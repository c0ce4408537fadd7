"""Experiment for Figure 3 of Daudin and Mary-Huard: k chosen by swapping, leave-one-out, oracle."""

from __future__ import annotations

from functools import partial

import numpy as np

from truerisk.experiments.experiment import Draws, experiment, index_of_first_minimum
from truerisk.experiments.figures import (
    FindingParts,
    Panel,
    PaperTable,
    Series,
    mean_line,
    mean_lines,
)
from truerisk.experiments.kearns import NOISE_LEVELS, Trial, draw_kearns_trial
from truerisk.experiments.statements import ABOVE_ZERO, BELOW_ZERO, Claim, Quantity, Statement

POINT_COUNTS = (20, 100, 500)
# Positions of noise levels in `NOISE_LEVELS`, for statements on some of the levels only.
(
    ALL_NOISE_INDICES,
    LEAST_NOISE_INDICES,
    MORE_NOISE_INDICES,
    LOW_NOISE_INDICES,
    HIGH_NOISE_INDICES,
) = (
    range(4),
    range(1),
    range(1, 4),
    range(3),
    range(3, 4),
)
# A further situation has this number of target intervals, and the largest number of points.
MANY_INTERVALS = 100
N_TRIALS = 1000
N0_VALUES = (5, 10, 20)
RULE_NAMES = ("oracle", "LOO", "LOO, largest k", *(f"S, n0={n0}" for n0 in N0_VALUES))
ORACLE, LOO, LOO_LARGEST_K, S_5, S, S_20 = range(len(RULE_NAMES))
LOO_TIE_RULES = {LOO: "smallest", LOO_LARGEST_K: "largest"}
# The document claims that the gain of swapping (S) over LOO is between 20 and 80 per cent.
GAIN_CLAIM = Claim("near", 50.0, 30.0)
TINY_GAIN_CLAIM = Claim("near", 5.0, 5.0)
# True risks count as similar if they differ by at most this. It is half of the decrease of the
# true risk by S instead of LOO, where there is a decrease.
SIMILAR_RISK_DIFFERENCE = 0.002
LINE_STYLES = {ORACLE: "C0o-", LOO: "C1s--", S: "C2^:"}
# The document's figure uses the noise level at this position in `NOISE_LEVELS`.
FIGURE_NOISE_INDEX = 1

# Gains of swapping (S) over LOO in percent, from 1000 or more trials of the same recipe.
EARLIER_GAINS = {
    (100, LOO): (21.0, 16.0, 8.0, 0.5),
    (500, LOO_LARGEST_K): (56.0, 39.0, 28.0, -4.0),
    (20, LOO): (-21.0, None, None, None),
}
# The difference of the true risks of two choices of k (that by LOO minus that by S), with its
# standard error, for every noise level.
# The number of points is 100, and LOO chooses the smallest k among tied ones.
EARLIER_DIFFERENCES = ((0.0040, 0.0006), (0.0054, 0.0007), (0.0026, 0.0006), (0.0001, 0.0003))


def _replicate(seed: int, replicate_number: int) -> Draws:
    """Compute the choices of all rules for four noise levels and three sizes, with k up to 60."""
    trials = [
        [draw_kearns_trial(noise, n, seed, replicate_number) for noise in NOISE_LEVELS]
        for n in POINT_COUNTS
    ]
    choices = np.array([[_choose_k_by_rule(trial) for trial in row] for row in trials], dtype=float)
    risks_of_many = [
        _choose_k_by_rule(
            draw_kearns_trial(noise, POINT_COUNTS[-1], seed, replicate_number, MANY_INTERVALS)
        )[1]
        for noise in NOISE_LEVELS
    ]
    draws = dict(zip(("k", "true", "estimate"), np.moveaxis(choices, 2, 0), strict=True))
    return {**draws, "true, d = 100": np.array(risks_of_many)}


def _choose_k_by_rule(trial: Trial) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the k that each selection rule chooses, and the true and estimated risk of this k."""
    loo_errors, criteria = trial.leave_one_out_error, [trial.criterion(n0) for n0 in N0_VALUES]
    curves = [trial.true_risk, loo_errors, loo_errors, *criteria]
    chosen_k_indices = [index_of_first_minimum(curve) for curve in curves]
    chosen_k_indices[LOO_LARGEST_K] = len(loo_errors) - 1 - index_of_first_minimum(loo_errors[::-1])
    chosen_indices = np.array(chosen_k_indices)
    estimates = np.array(
        [curve[k_index] for curve, k_index in zip(curves, chosen_k_indices, strict=True)]
    )
    return chosen_indices + 1, trial.true_risk[chosen_indices], estimates


def percent_gain(true_risks: np.ndarray, loo_rule: int) -> tuple[float, float]:
    """Return the gain of S over cross-validation as a percentage, and its standard error.

    The percentage is that of the possible gain, which is the gain of the oracle over
    cross-validation. The gain is 100 (L_CV − L_S) / (L_CV − L_O) of the mean risks. Its standard
    error comes from the delta method.
    """
    gain_of_s, possible_gain = (
        true_risks[:, loo_rule] - true_risks[:, S],
        true_risks[:, loo_rule] - true_risks[:, ORACLE],
    )
    if possible_gain.mean() == 0:
        return 0.0, float("inf")
    ratio = gain_of_s.mean() / possible_gain.mean()
    residual = (gain_of_s - ratio * possible_gain) / possible_gain.mean()
    return 100 * float(ratio), 100 * float(residual.std(ddof=1) / np.sqrt(len(true_risks)))


@experiment(_replicate, replicates=N_TRIALS, quick=50, unit="trials")
def kearns_figure_3(draws: Draws) -> FindingParts:
    """Daudin and Mary-Huard, Figure 3: choosing k by swapping.

    Daudin, Mary-Huard: Model selection in classification: the swapping method, §3.2

    every k up to 60 (20 for n = 20); S with n0 = 10 unless said. Equal criteria choose the
    smallest k where nothing else is said. The document states neither. With ties of LOO to the
    largest k the document's gains appear at n = 500, and S loses at n = 20.

    of equally good functions the one with the fewest intervals is taken, then the one that stays
    longest from the left, then the one that starts with 0. The document states no rule.
    """
    k, true_risks, estimates_of_rules = draws["k"], draws["true"], draws["estimate"]
    excess_risks, biases = true_risks - true_risks[..., [ORACLE]], estimates_of_rules - true_risks
    risk_differences = {
        loo_rule: true_risks[..., loo_rule] - true_risks[..., S] for loo_rule in LOO_TIE_RULES
    }
    differences_by_noise = {
        f"noise {noise}": risk_differences[LOO][:, 1, j] for j, noise in enumerate(NOISE_LEVELS)
    }
    title = "true risk by leave-one-out − true risk by S, n = 100, ties to the smallest k"
    earlier_differences = dict(zip(differences_by_noise, EARLIER_DIFFERENCES, strict=True))
    yield PaperTable.from_values(title, "same recipe", differences_by_noise, earlier_differences)

    def gains(loo_index: int, noise_indices: range, claim: Claim) -> list[Quantity]:
        quantities = _values_by_name("gain", true_risks, noise_indices)
        return [
            Quantity(
                noise_label,
                *percent_gain(quantity_values, loo_index),
                len(quantity_values),
                claim,
                1,
            )
            for noise_label, quantity_values in quantities.items()
        ]

    for (n, loo_rule), earlier_percents in EARLIER_GAINS.items():
        risks_at_n, our_gains, reference_gains = (
            np.moveaxis(true_risks[:, POINT_COUNTS.index(n)], 1, 0),
            {},
            {},
        )
        for noise_label, quantity_values, earlier_percent in zip(
            differences_by_noise, risks_at_n, earlier_percents, strict=True
        ):
            value, std_error = percent_gain(quantity_values, loo_rule)
            our_gains[noise_label] = Quantity("", value, std_error, len(quantity_values))
            # The reference comes from at least as many trials as ours, and is rounded.
            reference_gains[noise_label] = (
                earlier_percent,
                float(np.hypot(std_error * np.sqrt(len(quantity_values) / N_TRIALS), 0.5)),
            )
        title = (
            f"gain of S over leave-one-out in percent, n = {n}, ties of LOO to the "
            f"{LOO_TIE_RULES[loo_rule]} k"
        )
        yield PaperTable.from_values(title, "same recipe", our_gains, reference_gains, digits=1)
    risks_of_many = draws["true, d = 100"]
    for loo_rule, tie_rule in LOO_TIE_RULES.items():
        percents = [percent_gain(values, loo_rule) for values in np.moveaxis(risks_of_many, 1, 0)]
        yield PaperTable.from_values(
            f"the same gain with d = {MANY_INTERVALS} intervals, n = {POINT_COUNTS[-1]}, ties of "
            f"LOO to the {tie_rule} k",
            "document",
            {
                noise_label: Quantity("", *percent, len(risks_of_many))
                for noise_label, percent in zip(differences_by_noise, percents, strict=True)
            },
            digits=1,
        )
    figure_values = {
        f"n = {n}, {RULE_NAMES[rule]}: {name}": quantity_values[:, i, FIGURE_NOISE_INDEX, rule]
        for i, n in enumerate(POINT_COUNTS)
        for rule in (ORACLE, LOO, S)
        for name, quantity_values in (
            ("k", k),
            ("true risk", true_risks),
            ("estimate", estimates_of_rules),
        )
        if (rule, name) != (ORACLE, "estimate")
    }
    yield PaperTable.from_values(
        f"the points of the figure, noise {NOISE_LEVELS[FIGURE_NOISE_INDEX]}",
        "document",
        figure_values,
    )

    for loo_rule, tie_rule in LOO_TIE_RULES.items():
        tie_text = f"(ties of LOO to the {tie_rule} k)"
        yield Statement.from_quantities(
            f"up to noise .3 the gain of S over LOO lies between 20 % and 80 % {tie_text}",
            *gains(loo_rule, LOW_NOISE_INDICES, GAIN_CLAIM),
        )
        yield Statement.from_quantities(
            f"S outperforms LOO up to noise .3 {tie_text}",
            _values_by_name(
                "true risk by LOO − by S", risk_differences[loo_rule], LOW_NOISE_INDICES
            ),
        )
        yield Statement.from_quantities(
            f"at noise .4 the gain exists but is tiny: from 0 to 10 % {tie_text}",
            *gains(loo_rule, HIGH_NOISE_INDICES, TINY_GAIN_CLAIM),
        )
        yield Statement.from_quantities(
            f"d = {MANY_INTERVALS} leads to similar findings: S outperforms LOO up to noise .3 at "
            f"n = {POINT_COUNTS[-1]} {tie_text}",
            {
                f"true risk by LOO − by S, noise {NOISE_LEVELS[j]}": risks_of_many[:, j, loo_rule]
                - risks_of_many[:, j, S]
                for j in LOW_NOISE_INDICES
            },
        )
    # The quantiles by S and by LOO are computed over the same trials.
    for loo_rule, tie_rule in LOO_TIE_RULES.items():
        excess_pairs = _values_by_name("quantile by S − by LOO", excess_risks[..., [S, loo_rule]])
        yield Statement.from_quantities(
            "the 95 % quantile of the excess over the oracle is always lower for S "
            f"(ties of LOO to the {tie_rule} k)",
            *(
                Quantity.from_statistic(
                    name, _quantile_difference, quantity_values, BELOW_ZERO, digits=3
                )
                for name, quantity_values in excess_pairs.items()
            ),
        )
    yield Statement.from_quantities(
        f"n0 from 5 to 20 gives similar results: mean true risks within {SIMILAR_RISK_DIFFERENCE} "
        "of n0 = 10",
        *(
            _values_by_name(
                f"{RULE_NAMES[rule]} − n0=10", true_risks[..., rule] - true_risks[..., S]
            )
            for rule in (S_5, S_20)
        ),
        claim=Claim("near", 0.0, SIMILAR_RISK_DIFFERENCE),
    )
    n0_differences, n0_label = (
        true_risks[..., S_20] - true_risks[..., S_5],
        "true risk with n0 = 20 − with 5",
    )
    loo_label, s_label = (f"{RULE_NAMES[rule]}: estimate − true risk" for rule in (LOO, S))
    loo_bias, s_bias = biases[..., LOO], biases[..., S]
    for text, label, quantity_values, noise_indices, claim in (
        (
            "for a high level of noise n0 should be large",
            n0_label,
            n0_differences,
            HIGH_NOISE_INDICES,
            BELOW_ZERO,
        ),
        (
            "for a low level of noise n0 should be small",
            n0_label,
            n0_differences,
            LEAST_NOISE_INDICES,
            ABOVE_ZERO,
        ),
        (
            "LOO is always optimistic about the rule that it chose",
            loo_label,
            loo_bias,
            ALL_NOISE_INDICES,
            BELOW_ZERO,
        ),
        ("S is pessimistic up to noise .1", s_label, s_bias, LEAST_NOISE_INDICES, ABOVE_ZERO),
        ("S is optimistic from noise .2 on", s_label, s_bias, MORE_NOISE_INDICES, BELOW_ZERO),
    ):
        yield Statement.from_quantities(
            text, _values_by_name(label, quantity_values, noise_indices), claim=claim
        )
    bias_pairs = _values_by_name("|bias| of S − of LOO", biases[..., [S, LOO]])
    yield Statement.from_quantities(
        "S estimates the true risk of its choice better than LOO",
        *(
            Quantity.from_bias_difference(name, quantity_values)
            for name, quantity_values in bias_pairs.items()
        ),
    )

    n_points = np.array(POINT_COUNTS)
    k, true_risks, estimates_of_rules, excess_risks = (
        quantity_values[:, :, FIGURE_NOISE_INDEX]
        for quantity_values in (k, true_risks, estimates_of_rules, excess_risks)
    )

    def lines_of_rules(values: np.ndarray, *rules: int) -> tuple[Series, ...]:
        return tuple(
            mean_line(
                RULE_NAMES[rule_index], n_points, values[..., rule_index], LINE_STYLES[rule_index]
            )
            for rule_index in rules
        )

    yield Panel("mean number of intervals", "n", "k", lines_of_rules(k, ORACLE, LOO, S))
    estimates_by_rule = {
        f"{RULE_NAMES[rule]}, its estimate": estimates_of_rules[..., rule] for rule in (LOO, S)
    }
    estimate_lines = mean_lines(n_points, estimates_by_rule, ("C1s-.", "C2^-."))
    yield Panel(
        "mean true risk", "n", "risk", lines_of_rules(true_risks, ORACLE, LOO, S) + estimate_lines
    )
    difference_line = (mean_line("", n_points, true_risks[..., S] - true_risks[..., LOO], "C2^-"),)
    yield Panel(
        "the same data: S (n0 = 10) less LOO", "n", "difference in true risk", difference_line
    )
    distance_lines = lines_of_rules(np.abs(k - k[..., [ORACLE]]), LOO, S)
    yield Panel("mean distance from the oracle's k", "n", "|k − k of the oracle|", distance_lines)

    quantile_lines, quantile_95 = [], partial(np.quantile, q=0.95)
    for rule in (LOO, S):
        quantities = (
            Quantity.from_statistic("", quantile_95, quantity_values)
            for quantity_values in excess_risks[..., rule].T
        )
        quantile_lines.append(
            Series.from_quantities(RULE_NAMES[rule], n_points, quantities, LINE_STYLES[rule])
        )
    yield Panel("95 % quantile of the excess risk", "n", "excess", tuple(quantile_lines))


def _quantile_difference(excess_pairs: np.ndarray) -> float:
    s_quantile, loo_quantile = np.quantile(excess_pairs, 0.95, axis=0)
    return float(s_quantile - loo_quantile)


def _values_by_name(
    name_prefix: str, values: np.ndarray, noise_indices: range = ALL_NOISE_INDICES
) -> dict[str, np.ndarray]:
    """Return the values by number of points and by noise level, under names that contain both."""
    return {
        f"{name_prefix}, n = {n}, noise {NOISE_LEVELS[j]}": values[:, i, j]
        for i, n in enumerate(POINT_COUNTS)
        for j in noise_indices
    }
