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
from truerisk.experiments.kearns import NOISES, Trial, kearns_trial
from truerisk.experiments.statements import ABOVE, BELOW, Claim, Quantity, Statement

SIZES = (20, 100, 500)
# These are indices of noise levels in NOISES.
ALL_NOISES, LEAST_NOISE, MORE_NOISE, LOW_NOISES, HIGH_NOISES = (
    range(4),
    range(1),
    range(1, 4),
    range(3),
    range(3, 4),
)
TRIALS = 1000
N0S = (5, 10, 20)
RULES = ("oracle", "LOO", "LOO, largest k", *(f"S, n0={n0}" for n0 in N0S))
ORACLE, LOO, LOO_LARGEST, S_5, S, S_20 = range(len(RULES))
TIES = {LOO: "smallest", LOO_LARGEST: "largest"}
# The gain is claimed to lie between 20 and 80 per cent.
GAIN_CLAIM = Claim("near", 50.0, 30.0)
TINY_GAIN_CLAIM = Claim("near", 5.0, 5.0)
# Similar true risks differ by at most this: half of S's gain over LOO, where there is a gain.
SIMILAR_RISK_DIFFERENCE = 0.002
STYLES = {ORACLE: "C0o-", LOO: "C1s--", S: "C2^:"}
# The document's figure uses the noise at this index of NOISES.
FIGURE_NOISE_INDEX = 1

# Gains of S over LOO in percent, from 1000 or more trials of the same recipe.
GAINS = {
    (100, LOO): (21.0, 16.0, 8.0, 0.5),
    (500, LOO_LARGEST): (56.0, 39.0, 28.0, -4.0),
    (20, LOO): (-21.0, None, None, None),
}
# Pairs: true risk by LOO − true risk by S, and its standard error.
# They are for n = 100, and LOO resolves ties to the smallest k.
DIFFERENCES = ((0.0040, 0.0006), (0.0054, 0.0007), (0.0026, 0.0006), (0.0001, 0.0003))


def _replicate(seed: int, number: int) -> Draws:
    """Compute the choices of all rules for four noise levels and three sizes, with k up to 60."""
    trials = [[kearns_trial(noise, n, seed, number) for noise in NOISES] for n in SIZES]
    choices = np.array([[_choices(trial) for trial in row] for row in trials], dtype=float)
    return dict(zip(("k", "true", "estimate"), np.moveaxis(choices, 2, 0), strict=True))


def _choices(drawn: Trial) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for every rule the chosen k, the true risk of this k, and the rule's estimate."""
    loo_errors, criteria = drawn.leave_one_out, [drawn.criterion(n0) for n0 in N0S]
    curves = [drawn.true_risk, loo_errors, loo_errors, *criteria]
    chosen_positions = [index_of_first_minimum(curve) for curve in curves]
    chosen_positions[LOO_LARGEST] = len(loo_errors) - 1 - index_of_first_minimum(loo_errors[::-1])
    chosen_indices = np.array(chosen_positions)
    estimates = np.array(
        [curve[position] for curve, position in zip(curves, chosen_positions, strict=True)]
    )
    return chosen_indices + 1, drawn.true_risk[chosen_indices], estimates


def gain(true: np.ndarray, cv: int) -> tuple[float, float]:
    """Return the gain of S over cross-validation in percent of the possible gain, and its error.

    The gain is 100 (L_CV − L_S) / (L_CV − L_O) of the mean risks. Its standard error comes from the
    delta method.
    """
    gain_of_s, possible_gain = true[:, cv] - true[:, S], true[:, cv] - true[:, ORACLE]
    if possible_gain.mean() == 0:
        return 0.0, float("inf")
    ratio = gain_of_s.mean() / possible_gain.mean()
    residual = (gain_of_s - ratio * possible_gain) / possible_gain.mean()
    return 100 * float(ratio), 100 * float(residual.std(ddof=1) / np.sqrt(len(true)))


@experiment(_replicate, replicates=TRIALS, quick=50, unit="trials")
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
    excess, bias = true_risks - true_risks[..., [ORACLE]], estimates_of_rules - true_risks
    risk_differences = {cv: true_risks[..., cv] - true_risks[..., S] for cv in TIES}
    by_noise = {f"noise {noise}": risk_differences[LOO][:, 1, j] for j, noise in enumerate(NOISES)}
    title = "true risk by leave-one-out − true risk by S, n = 100, ties to the smallest k"
    earlier_differences = dict(zip(by_noise, DIFFERENCES, strict=True))
    yield PaperTable.from_values(title, "same recipe", by_noise, earlier_differences)

    def gains(cv: int, noises: range, claim: Claim) -> list[Quantity]:
        quantities = _values_by_name("gain", true_risks, noises)
        return [
            Quantity(noise_label, *gain(quantity_values, cv), len(quantity_values), claim, 1)
            for noise_label, quantity_values in quantities.items()
        ]

    for (n, cv), earlier_percents in GAINS.items():
        at_n, our_gains, references = np.moveaxis(true_risks[:, SIZES.index(n)], 1, 0), {}, {}
        for noise_label, quantity_values, earlier_percent in zip(
            by_noise, at_n, earlier_percents, strict=True
        ):
            value, std_error = gain(quantity_values, cv)
            our_gains[noise_label] = Quantity("", value, std_error, len(quantity_values))
            # The reference comes from at least as many trials as ours, and is rounded.
            references[noise_label] = (
                earlier_percent,
                float(np.hypot(std_error * np.sqrt(len(quantity_values) / TRIALS), 0.5)),
            )
        title = f"gain of S over leave-one-out in percent, n = {n}, ties of LOO to the {TIES[cv]} k"
        yield PaperTable.from_values(title, "same recipe", our_gains, references, digits=1)
    points = {
        f"n = {n}, {RULES[rule]}: {name}": quantity_values[:, i, FIGURE_NOISE_INDEX, rule]
        for i, n in enumerate(SIZES)
        for rule in (ORACLE, LOO, S)
        for name, quantity_values in (
            ("k", k),
            ("true risk", true_risks),
            ("estimate", estimates_of_rules),
        )
        if (rule, name) != (ORACLE, "estimate")
    }
    yield PaperTable.from_values(
        f"the points of the figure, noise {NOISES[FIGURE_NOISE_INDEX]}", "document", points
    )

    for cv, ties in TIES.items():
        tie_text = f"(ties of LOO to the {ties} k)"
        yield Statement.from_quantities(
            f"up to noise .3 the gain of S over LOO lies between 20 % and 80 % {tie_text}",
            *gains(cv, LOW_NOISES, GAIN_CLAIM),
        )
        yield Statement.from_quantities(
            f"S outperforms LOO up to noise .3 {tie_text}",
            _values_by_name("true risk by LOO − by S", risk_differences[cv], LOW_NOISES),
        )
        yield Statement.from_quantities(
            f"at noise .4 the gain exists but is tiny: from 0 to 10 % {tie_text}",
            *gains(cv, HIGH_NOISES, TINY_GAIN_CLAIM),
        )
    # Quantiles are computed over the same trials.
    for cv, ties in TIES.items():
        pairs = _values_by_name("quantile by S − by LOO", excess[..., [S, cv]])
        yield Statement.from_quantities(
            "the 95 % quantile of the excess over the oracle is always lower for S "
            f"(ties of LOO to the {ties} k)",
            *(
                Quantity.from_statistic(name, _quantile_gap, quantity_values, BELOW, digits=3)
                for name, quantity_values in pairs.items()
            ),
        )
    yield Statement.from_quantities(
        f"n0 from 5 to 20 gives similar results: mean true risks within {SIMILAR_RISK_DIFFERENCE} "
        "of n0 = 10",
        *(
            _values_by_name(f"{RULES[rule]} − n0=10", true_risks[..., rule] - true_risks[..., S])
            for rule in (S_5, S_20)
        ),
        claim=Claim("near", 0.0, SIMILAR_RISK_DIFFERENCE),
    )
    n0_differences, n0_label = (
        true_risks[..., S_20] - true_risks[..., S_5],
        "true risk with n0 = 20 − with 5",
    )
    loo_label, s_label = (f"{RULES[rule]}: estimate − true risk" for rule in (LOO, S))
    loo_bias, s_bias = bias[..., LOO], bias[..., S]
    for text, label, quantity_values, noises, claim in (
        (
            "for a high level of noise n0 should be large",
            n0_label,
            n0_differences,
            HIGH_NOISES,
            BELOW,
        ),
        (
            "for a low level of noise n0 should be small",
            n0_label,
            n0_differences,
            LEAST_NOISE,
            ABOVE,
        ),
        (
            "LOO is always optimistic about the rule that it chose",
            loo_label,
            loo_bias,
            ALL_NOISES,
            BELOW,
        ),
        ("S is pessimistic up to noise .1", s_label, s_bias, LEAST_NOISE, ABOVE),
        ("S is optimistic from noise .2 on", s_label, s_bias, MORE_NOISE, BELOW),
    ):
        yield Statement.from_quantities(
            text, _values_by_name(label, quantity_values, noises), claim=claim
        )
    bias_pairs = _values_by_name("|bias| of S − of LOO", bias[..., [S, LOO]])
    yield Statement.from_quantities(
        "S estimates the true risk of its choice better than LOO",
        *(
            Quantity.difference_of_biases(name, quantity_values)
            for name, quantity_values in bias_pairs.items()
        ),
    )

    sizes = np.array(SIZES)
    k, true_risks, estimates_of_rules, excess = (
        quantity_values[:, :, FIGURE_NOISE_INDEX]
        for quantity_values in (k, true_risks, estimates_of_rules, excess)
    )

    def lines(values: np.ndarray, *rules: int) -> tuple[Series, ...]:
        return tuple(
            mean_line(RULES[rule_index], sizes, values[..., rule_index], STYLES[rule_index])
            for rule_index in rules
        )

    yield Panel("mean number of intervals", "n", "k", lines(k, ORACLE, LOO, S))
    errors_by_rule = {
        f"{RULES[rule]}, its estimate": estimates_of_rules[..., rule] for rule in (LOO, S)
    }
    estimates = mean_lines(sizes, errors_by_rule, ("C1s-.", "C2^-."))
    yield Panel("mean true risk", "n", "risk", lines(true_risks, ORACLE, LOO, S) + estimates)
    difference_line = (mean_line("", sizes, true_risks[..., S] - true_risks[..., LOO], "C2^-"),)
    yield Panel(
        "the same data: S (n0 = 10) less LOO", "n", "difference in true risk", difference_line
    )
    distances = lines(np.abs(k - k[..., [ORACLE]]), LOO, S)
    yield Panel("mean distance from the oracle's k", "n", "|k − k of the oracle|", distances)

    quantile_lines, quantile = [], partial(np.quantile, q=0.95)
    for rule in (LOO, S):
        quantities = (
            Quantity.from_statistic("", quantile, quantity_values)
            for quantity_values in excess[..., rule].T
        )
        quantile_lines.append(Series.from_quantities(RULES[rule], sizes, quantities, STYLES[rule]))
    yield Panel("95 % quantile of the excess risk", "n", "excess", tuple(quantile_lines))


def _quantile_gap(excess_pair: np.ndarray) -> float:
    s_quantile, loo_quantile = np.quantile(excess_pair, 0.95, axis=0)
    return float(s_quantile - loo_quantile)


def _values_by_name(
    words: str, values: np.ndarray, noises: range = ALL_NOISES
) -> dict[str, np.ndarray]:
    """Return the values for every size and for these noise levels, under names that say both."""
    return {
        f"{words}, n = {n}, noise {NOISES[j]}": values[:, i, j]
        for i, n in enumerate(SIZES)
        for j in noises
    }
