"""Experiments for Mehta (2010): three-way splits, extreme rules, rare classes, ROC curves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtr

from truerisk import RocCurve
from truerisk.datasets import load, make_simple
from truerisk.experiments.experiment import (
    Draws,
    Sample,
    experiment,
    nearest_neighbour_family,
    replicate_rng,
)
from truerisk.experiments.figures import (
    FindingParts,
    MeansGrid,
    Panel,
    PaperTable,
    Series,
    mean_lines,
)
from truerisk.experiments.statements import Claim, Quantity, Statement
from truerisk.methods import KFold, LeaveOneOut, ThreeWay
from truerisk.models import Memoriser

# ---------------------------------------------------------------- the three-way split

# This is the number of rows of a sample, here and below.
N = 100
# The number of fresh rows, which are used only to measure the true risk.
N_FRESH = 4000
LARGEST_K = 31
KS = range(1, LARGEST_K + 1, 2)
# The candidate at this index has k = 9. Its risk is estimated as that of a fixed rule, which was
# not chosen on the data.
FIXED_CANDIDATE = 4
# An estimate counts as correct if it is within this share of the true risk.
NEAR_RISK_SHARE = 0.1
FOLD_METHODS = {"10-fold": KFold(10), "leave-one-out": LeaveOneOut()}
ESTIMATE_NAMES = ("validation", "test", *FOLD_METHODS)


def _replicate_three_way(seed: int, replicate_number: int) -> Draws:
    """Choose k of nearest neighbours by a three-way split of 100 rows, and by cross-validation.

    For each way of splitting, the estimated error of the selected rule is returned, with its true
    risk.
    """
    rng = replicate_rng("mehta three-way", seed, replicate_number)
    fold_seed = int(rng.integers(2**63))
    sample, family = (
        Sample.draw(make_simple, (N, N_FRESH), rng, shuffle=True),
        nearest_neighbour_family(KS),
    )
    three_way = sample.evaluate(ThreeWay(), family, fold_seed)
    assert three_way.procedure is not None
    outer_split = three_way.units[0]
    training_rows = three_way.plan.train_rows(
        int(three_way.plan.fit[three_way.plan.questions("outer")[0]])
    )[0]
    # Each k is fitted twice: to the training rows of the three-way split, and to the whole sample.
    three_way_risks, full_sample_risks = sample.errors(family, training_rows, np.arange(N)).T
    fold_risks = np.array(
        [sample.risks(method, family, fold_seed) for method in FOLD_METHODS.values()]
    )
    chosen_risk = three_way_risks[outer_split.candidate]
    return {
        "error": np.array(
            [outer_split.inner_risk, three_way.procedure.value, *fold_risks.min(axis=1)]
        ),
        "risk": np.array([chosen_risk, chosen_risk, *full_sample_risks[fold_risks.argmin(axis=1)]]),
        "fixed": fold_risks[:, FIXED_CANDIDATE],
        "true of fixed": full_sample_risks[FIXED_CANDIDATE],
    }


@experiment(_replicate_three_way, replicates=1000, quick=50)
def mehta_three_way(draws: Draws) -> FindingParts:
    """Mehta (2010): the three-way split beside cross-validation.

    {N} rows of two Gaussians, 50/25/25; k nearest neighbours, odd k up to {LARGEST_K}

    the document describes procedures and prints no numbers.
    """
    errors, risks = (
        dict(zip(ESTIMATE_NAMES, draws[draw_name].T, strict=True))
        for draw_name in ("error", "risk")
    )
    three_way_risk, ten_fold_risk = risks["test"], risks["10-fold"]
    selected_rule_values = {
        "validation error of the selected": errors["validation"],
        "test error of the refitted": errors["test"],
        "true risk of the refitted": three_way_risk,
    }
    for estimate_name in FOLD_METHODS:
        selected_rule_values[f"{estimate_name}: error of the selected"] = errors[estimate_name]
        selected_rule_values[f"{estimate_name}: its true risk, all rows"] = risks[estimate_name]
    yield PaperTable.from_values("the selected rule", "document", selected_rule_values)
    # The following numbers are for k = 9, without a selection.
    fold_risks, true_risk = draws["fixed"], draws["true of fixed"]
    squared_deviations, squared_errors = (
        (fold_risks - centre.mean(axis=0)) ** 2 for centre in (fold_risks, true_risk)
    )
    squared_own_errors = (fold_risks - true_risk[:, None]) ** 2
    excess_over_mean = (squared_own_errors - squared_errors).mean(axis=1)
    fixed_rule_values = {
        f"{estimate_name}: {name}": values[:, fold_index]
        for fold_index, estimate_name in enumerate(FOLD_METHODS)
        for name, values in (
            ("mean", fold_risks),
            ("squared error for the mean risk", squared_errors),
            ("squared error for its own risk", squared_own_errors),
        )
    } | {"true risk": true_risk}
    yield PaperTable.from_values(
        f"k = {KS[FIXED_CANDIDATE]}, nothing selected", "document", fixed_rule_values, digits=5
    )

    differences = {
        f"{estimate_name} error": errors[estimate_name] - risks[estimate_name]
        for estimate_name in ESTIMATE_NAMES
    }
    yield Statement.from_quantities(
        "the validation error of the selected rule is no unbiased estimate: it flatters",
        {"true risk − validation error": -differences["validation error"]},
    )
    yield Statement.from_quantities(
        "the test error of the refitted rule estimates its true risk: within a tenth of it",
        {"test error − true risk": differences["test error"]},
        claim=Claim("near", 0.0, NEAR_RISK_SHARE * float(three_way_risk.mean())),
    )
    yield Statement.from_quantities(
        "divided into three parts the data may not suffice to fit the models",
        {
            "true risk − that of the rule 10-fold selects and fits on all rows": three_way_risk
            - ten_fold_risk
        },
    )
    squared_differences = differences["test error"] ** 2 - differences["10-fold error"] ** 2
    yield Statement.from_quantities(
        "nor to obtain a good estimate of the test error",
        {
            "squared error of the test error − that of the least 10-fold error, selection "
            "included": squared_differences
        },
        digits=5,
    )
    yield Statement.from_quantities(
        "10-fold cross-validation may be pessimistic, for its smaller training sets",
        {"10-fold − true risk of the rule on all rows": fold_risks[:, 0] - true_risk},
    )
    for text, difference in {
        "leave-one-out may have the higher variance": {
            "variance of leave-one-out − that of 10-fold": np.diff(squared_deviations)[:, 0]
        },
        "10-fold tends to provide the better estimate": {
            "squared error of leave-one-out − that of 10-fold": np.diff(squared_errors)[:, 0]
        },
        "both estimate the mean over training sets better than the risk of the given rule": {
            "squared error for its own risk − that for the mean risk": excess_over_mean
        },
    }.items():
        yield Statement.from_quantities(text, difference, digits=5)

    box_values = {
        f"{estimate_name} error": errors[estimate_name] for estimate_name in ESTIMATE_NAMES
    }
    box_values |= {"true risk, three parts": three_way_risk, "true risk, 10-fold": ten_fold_risk}
    yield Panel.box_plot("errors of the selected rule, and its true risk", "error", box_values)
    yield Panel.box_plot(
        "how far each error is from its rule's true risk", "error − true risk", differences
    )


# ---------------------------------------------------------------- extreme rules, rare classes

N_TEST = 1000
# The share of rows with label 1. The memoriser predicts 0 for every new row, so that its test
# error is this share.
POSITIVE_SHARE = 0.3
# The share of the rare class, and the number of rows of the data set that contains it.
RARE, N_RARE = 0.01, 20_000
# This is the difference of the class means.
MEAN_DIFFERENCE = 2.0
BETAS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005)
ERROR_TOLERANCE = 0.01
RARE_CLASS_RATES = ("risk", "true positive rate", "true negative rate", "precision")


def _replicate_rules(seed: int, replicate_number: int) -> Draws:
    """Compute the errors of a constant rule, of the memoriser and of threshold rules.

    The threshold rules predict a rare class, to which 1 % of the rows belong. A threshold rule is
    f(x) = 1 if g(x) ≥ β (equation 3), where g is the true probability of the rare class.
    """
    rng = replicate_rng("mehta rules", seed, replicate_number)
    x, y = rng.uniform(size=N + N_TEST), rng.uniform(size=N + N_TEST) < POSITIVE_SHARE
    memoriser_predictions = Memoriser().fit(x[:N, None], y[:N]).predict(x[:, None])
    is_rare = rng.uniform(size=N_RARE) < RARE
    z = rng.standard_normal(N_RARE) + MEAN_DIFFERENCE * is_rare
    odds = RARE / (1 - RARE) * np.exp(MEAN_DIFFERENCE * z - MEAN_DIFFERENCE**2 / 2)
    is_called_rare = odds / (1 + odds) >= np.array(BETAS)[:, None]
    n_hits, n_false_alarms = (
        (is_called_rare & is_rare).sum(axis=1),
        (is_called_rare & ~is_rare).sum(axis=1),
    )
    return {
        "constant": _errors_and_positive_shares(~y, y),
        "memoriser": _errors_and_positive_shares(memoriser_predictions != y, y),
        "risk of 0": is_rare.mean(),
        "risk": (is_called_rare != is_rare).mean(axis=1),
        "true positive rate": n_hits / is_rare.sum(),
        "true negative rate": 1 - n_false_alarms / (~is_rare).sum(),
        "precision": n_hits / np.maximum(n_hits + n_false_alarms, 1),
    }


def _errors_and_positive_shares(is_wrong: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return training and test error, and the shares of positive training and test rows."""
    return np.array([values.mean() for values in (is_wrong[:N], is_wrong[N:], y[:N], y[N:])])


@experiment(_replicate_rules, replicates=1000, quick=50)
def mehta_rules(draws: Draws) -> FindingParts:
    """Mehta (2010): the constant, the memoriser, and rare classes.

    {N} rows to learn, {N_TEST} to test, {POSITIVE_SHARE:.0%} positive; then {RARE:.0%} positive of
    {N_RARE} rows, two Gaussians {MEAN_DIFFERENCE:g} apart

    the document prints no numbers; the shares, sizes and Gaussians are ours.

    probabilities are those of the true densities: nothing is fitted, the threshold β alone varies.
    """
    constant_results, memoriser_results = draws["constant"], draws["memoriser"]
    errors = {
        f"{rule}: {sample_name} error": draws[rule][:, sample_index]
        for rule in ("constant", "memoriser")
        for sample_index, sample_name in enumerate(("training", "test"))
    }
    exact_errors = dict(
        zip(errors, (1 - POSITIVE_SHARE, 1 - POSITIVE_SHARE, 0.0, POSITIVE_SHARE), strict=True)
    )
    yield PaperTable.from_values(
        f"{POSITIVE_SHARE:.0%} of the rows are positive", "exact", errors, exact_errors
    )
    columns = [f"β = {beta:g}" for beta in BETAS]
    values_by_rate = {name: draws[name] for name in RARE_CLASS_RATES}
    rates_by_threshold = {name: rates.T for name, rates in values_by_rate.items()}
    yield MeansGrid.from_values(f"{RARE:.0%} of the rows are positive", columns, rates_by_threshold)

    def largest_difference(name: str, values: np.ndarray) -> Quantity:
        return Quantity.from_exact_value(name, np.abs(values).max(), Claim("below", 1e-12))

    yield Statement.from_quantities(
        "of the constant 1 training and test error are the fractions of negative examples, and "
        f"alike: within {ERROR_TOLERANCE} on average",
        largest_difference(
            "largest training error − fraction", constant_results[:, 0] + constant_results[:, 2] - 1
        ),
        largest_difference(
            "largest test error − fraction", constant_results[:, 1] + constant_results[:, 3] - 1
        ),
        {"test − training error": constant_results[:, 1] - constant_results[:, 0]},
        claim=Claim("near", 0.0, ERROR_TOLERANCE),
    )
    yield Statement.from_quantities(
        "of the memoriser the training error is 0",
        largest_difference("largest training error", memoriser_results[:, 0]),
    )
    yield Statement.from_quantities(
        "its test error is the fraction of negative examples",
        largest_difference(
            "largest difference", memoriser_results[:, 1] - (1 - memoriser_results[:, 3])
        ),
        remark="it is that of the positive ones: on fresh points it says 0",
    )
    yield Statement.from_quantities(
        "the empirical risk of a function chosen by the sample is optimistic",
        {"test − training error": memoriser_results[:, 1] - memoriser_results[:, 0]},
    )
    risk, true_positive_rate, true_negative_rate, _ = values_by_rate.values()
    yield Statement.from_quantities(
        f"with {RARE:.0%} positive rows the constant 0 has a true risk of only {RARE}",
        {"its error": draws["risk of 0"]},
        claim=Claim("near", RARE, 0.0005),
    )
    yield Statement.from_quantities(
        "at β = .5 a rule misses most of the rare class",
        {"true positive rate at β = .5": true_positive_rate[:, 0]},
        claim=Claim("below", 0.5),
    )
    gains = {
        "gain of true positives": np.diff(true_positive_rate),
        "loss of true negatives": -np.diff(true_negative_rate),
    }
    yield Statement.from_quantities(
        "a lower β gains correctness on positives and gives up correctness on negatives",
        {
            f"{name}, {columns[j + 1]} beside {BETAS[j]:g}": values[:, j]
            for name, values in gains.items()
            for j in range(len(BETAS) - 1)
        },
    )
    rare_beta_index = BETAS.index(RARE)
    rate_label = f"true positive rate at β = {RARE:g}"
    yield Statement.from_quantities(
        "seeking the minimum true risk is problematic: the β that finds most positives has the "
        "larger risk",
        {f"risk at β = {RARE:g} − at .5": risk[:, rare_beta_index] - risk[:, 0]},
        Quantity.mean(rate_label, true_positive_rate[:, rare_beta_index], Claim("above", 0.5)),
    )

    positions, fine_positions = np.arange(1.0, len(BETAS) + 1), np.linspace(1, len(BETAS), 121)
    exact_rates = _exact_rates(np.exp(np.interp(fine_positions, positions, np.log(BETAS))))
    _, hit_rates, true_negative_rates, _ = _exact_rates(np.geomspace(1e-7, 1 - 1e-7, 201))
    curve_lines = (
        Series(
            "thresholds β", true_positive_rate.mean(axis=0), true_negative_rate.mean(axis=0), "ko"
        ),
        Series("every threshold", hit_rates, true_negative_rates, "k-"),
        Series("no discrimination", np.array([0.0, 1.0]), np.array([1.0, 0.0]), "k:"),
    )
    yield Panel("as the document draws it", "true positive rate", "true negative rate", curve_lines)
    # Points are means over the data sets, lines are exact.
    points = (
        Series(name, positions, rates.mean(axis=0), style)
        for (name, rates), style in zip(
            values_by_rate.items(), ("ko", "C0o", "C1s", "C2^"), strict=True
        )
    )
    lines = (
        Series("", fine_positions, rates, style)
        for rates, style in zip(exact_rates, ("k-", "C0-", "C1--", "C2:"), strict=True)
    )
    names = tuple(f"{beta:g}" for beta in BETAS)
    yield Panel(f"{RARE:.0%} positive", "threshold β", "rate", (*lines, *points), names=names)


def _exact_rates(betas: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return risk, true positive rate, true negative rate and precision at the thresholds."""
    log_odds = np.log(betas / (1 - betas)) - np.log(RARE / (1 - RARE))
    z = log_odds / MEAN_DIFFERENCE + MEAN_DIFFERENCE / 2
    hit_rate, alarm_rate = ndtr(MEAN_DIFFERENCE - z), ndtr(-z)
    hits, alarms = RARE * hit_rate, (1 - RARE) * alarm_rate
    return RARE - hits + alarms, hit_rate, 1 - alarm_rate, hits / (hits + alarms)


# ---------------------------------------------------------------- ROC curves of spam

# This is the number of test rows out of 4601.
N_TEST_MESSAGES = 1536
REPORTED_RATES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
# ROC curves are drawn through their values at these true positive rates.
RATE_GRID = np.linspace(0, 1, 201)
# The keys are thresholds β, the values are plot markers.
MARKERS_BY_BETA = {0.9: "ks", 0.5: "ko", 0.1: "k^", 0.02: "kv"}
# A model counts as competitive with another one if its true positive rate is lower by at most
# this difference.
COMPETITIVE_DIFFERENCE = 0.01
HORRIBLE_RATE, HIGH_RATE_INDEX, MASSIVE_GAIN = 0.5, REPORTED_RATES.index(0.95), 0.25
N_LEAVES = 17
# Weight of a good message relative to that of a spam message when the weighted tree is fitted.
GOOD_MAIL_WEIGHT = 5.0
MODEL_NAMES = ("GAM", "tree", "weighted tree")


@lru_cache(maxsize=1)
def _load_messages() -> tuple[np.ndarray, np.ndarray]:
    bundle = load("spam")
    return np.log(bundle.X + 0.1), bundle.y


def _make_model(name: str) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import SplineTransformer, StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    if name == "GAM":
        splines = SplineTransformer(n_knots=4, degree=3)
        return make_pipeline(splines, StandardScaler(), LogisticRegression(C=0.02, max_iter=1000))
    class_weight = {0: GOOD_MAIL_WEIGHT, 1: 1.0} if name == "weighted tree" else None
    return DecisionTreeClassifier(
        max_leaf_nodes=N_LEAVES, class_weight=class_weight, random_state=0
    )


def _replicate_spam(seed: int, replicate_number: int) -> Draws:
    """Fit three models to 3065 random messages, and compute their ROC curves on the other 1536."""
    X, y = _load_messages()
    test, train = np.split(
        replicate_rng("mehta spam", seed, replicate_number).permutation(len(y)), [N_TEST_MESSAGES]
    )
    fitted_models = (_make_model(name).fit(X[train], y[train]) for name in MODEL_NAMES)
    curves = [
        RocCurve.from_scores(y[test], model.predict_proba(X[test])[:, 1], positive=1)
        for model in fitted_models
    ]
    return {
        "AUC": np.array([curve.auc for curve in curves]),
        "true negative rate": 1
        - np.array([_interpolate_rate(curve.tpr, curve.fpr, REPORTED_RATES) for curve in curves]),
        "true positive rate": np.array(
            [
                _interpolate_rate(curve.fpr[::-1], curve.tpr[::-1], 1 - np.array(REPORTED_RATES))
                for curve in curves
            ]
        ),
        "curve": 1
        - np.array([_interpolate_rate(curve.tpr, curve.fpr, RATE_GRID) for curve in curves]),
        "at β": np.array(
            [
                [(point.sensitivity, point.specificity) for point in map(curve.at, MARKERS_BY_BETA)]
                for curve in curves
            ]
        ),
        "share of spam": np.array(y[test].mean()),
    }


def _interpolate_rate(
    given_rate: np.ndarray, wanted_rate: np.ndarray, query_rates: Sequence[float] | np.ndarray
) -> np.ndarray:
    """Return one rate of a ROC curve at given values of the other rate.

    The curve is interpolated linearly between its thresholds.
    """
    distinct_given_rates, first_positions = np.unique(given_rate, return_index=True)
    return np.interp(query_rates, distinct_given_rates, wanted_rate[first_positions])


def precision(tpr: np.ndarray, tnr: np.ndarray, spam_share: np.ndarray) -> np.ndarray:
    """Return the precision: the share of spam among the messages that are called spam.

    `spam_share` is the share of spam among all messages.
    """
    true_positive_share = spam_share * tpr
    return np.asarray(true_positive_share / (true_positive_share + (1 - spam_share) * (1 - tnr)))


@experiment(_replicate_spam, replicates=25, quick=2, unit="splits", check=_load_messages)
def mehta_spam(draws: Draws) -> FindingParts:
    """Mehta (2010): ROC curves of three models of the spam data.

    4601 messages, 57 features; an additive logistic model of splines (GAM), and trees of {N_LEAVES}
    leaves, one with good mail weighted {GOOD_MAIL_WEIGHT:g} times

    the document's picture names GAM and calls the other two 'just some models'; here they are
    trees. Its own split and fits are not given.

    the splits overlap, so the standard errors say how far the mean over all splits of these 4601
    messages is known, not the rates of other mail.

    frequencies are taken as log(x + 0.1); between two thresholds a curve is a line, as drawn.
    """
    tnr, tpr = draws["true negative rate"], draws["true positive rate"]
    auc_values = dict(zip(MODEL_NAMES, draws["AUC"].T, strict=True))
    yield PaperTable.from_values("area under the curve", "document", auc_values)
    for rate_name, condition_name, rates in (
        ("negative", "positive", tnr),
        ("positive", "negative", tpr),
    ):
        title = f"true {rate_name} rate where the true {condition_name} rate is to be"
        rows = dict(zip(MODEL_NAMES, rates.transpose(1, 2, 0), strict=True))
        yield MeansGrid.from_values(title, (f"{rate:g}" for rate in REPORTED_RATES), rows)

    all_spam_index, tree_models = len(REPORTED_RATES) - 1, tuple(enumerate(MODEL_NAMES))[1:]
    yield Statement.from_quantities(
        "for any true negative rate GAM dominates the other two or is competitive: its true "
        f"positive rate is not lower by {COMPETITIVE_DIFFERENCE}",
        {
            f"GAM − {name} at {REPORTED_RATES[rate_index]:g}": tpr[:, 0, rate_index]
            - tpr[:, j, rate_index]
            for j, name in tree_models
            for rate_index in range(all_spam_index)
        },
        claim=Claim("above", -COMPETITIVE_DIFFERENCE),
    )
    worst_rates = dict(zip(MODEL_NAMES, tnr[:, :, all_spam_index].T, strict=True))
    yield Statement.from_quantities(
        "where every spam must be found all models have horrible true negative rates: below "
        f"{HORRIBLE_RATE}",
        worst_rates,
        claim=Claim("below", HORRIBLE_RATE),
    )
    yield Statement.from_quantities(
        "giving up just a little on true positives improves massively on true negatives: "
        f"{REPORTED_RATES[HIGH_RATE_INDEX]:g} instead of 1 by more than {MASSIVE_GAIN}",
        {
            name: tnr[:, j, HIGH_RATE_INDEX] - worst_rates[name]
            for j, name in enumerate(MODEL_NAMES)
        },
        claim=Claim("above", MASSIVE_GAIN),
    )
    yield Statement.from_quantities(
        "by the area under the curve GAM is the model to select",
        {f"GAM − {name}": auc_values["GAM"] - auc_values[name] for _, name in tree_models},
    )

    # As in the document, true negative rates are drawn over true positive rates.
    # A second panel shows precision over recall.
    spam_share, axis_ends = draws["share of spam"][:, None, None], np.array([0.0, 1.0])
    curve, (sensitivities, specificities) = draws["curve"], np.moveaxis(draws["at β"], -1, 0)

    def curves_with_marks(
        x: np.ndarray, values: np.ndarray, marker_heights: np.ndarray
    ) -> tuple[Series, ...]:
        values_by_model = dict(zip(MODEL_NAMES, values.transpose(1, 0, 2), strict=True))
        marks = (
            Series(
                f"β = {beta:g}",
                sensitivities[:, :, i].mean(axis=0),
                marker_heights[:, :, i].mean(axis=0),
                style,
            )
            for i, (beta, style) in enumerate(MARKERS_BY_BETA.items())
        )
        return *mean_lines(x, values_by_model, ("C0-", "C1--", "C2:")), *marks

    chance_line = Series("no discrimination", axis_ends, 1 - axis_ends, "k:", 0.8)
    roc_lines = (*curves_with_marks(RATE_GRID, curve, specificities), chance_line)
    yield Panel(
        "ROC curves, mean over splits", "true positive rate", "true negative rate", roc_lines
    )
    all_spam_line = Series("share of spam", axis_ends, np.full(2, spam_share.mean()), "k:", 0.8)
    # Recall 0 is left out: if no message is called spam, the precision is 0/0.
    recall, precisions = RATE_GRID[1:], precision(RATE_GRID[1:], curve[:, :, 1:], spam_share)
    precision_lines = (
        *curves_with_marks(recall, precisions, precision(sensitivities, specificities, spam_share)),
        all_spam_line,
    )
    yield Panel(
        "the same, by precision", "recall (true positive rate)", "precision", precision_lines
    )
