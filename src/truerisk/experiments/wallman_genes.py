"""Experiment on Wallman's §6: genes chosen on all rows before the folds, or within each fold."""

from __future__ import annotations

import numpy as np

from truerisk.experiments.experiment import Draws, Sample, experiment, stream, two_classes
from truerisk.experiments.figures import FindingParts, MeansGrid, Panel, mean_lines
from truerisk.experiments.statements import Claim, Quantity, Statement
from truerisk.extend import Family
from truerisk.methods import Apparent, KFold

ROWS = N, N_FRESH = 50, 500
GENES = 500
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, GENES)
# The values are numbers of genes whose class means differ by 1.
PROBLEMS = {"no gene tells": 0, "ten genes tell": 10}
APPARENT, OUTSIDE, INSIDE, TRUE = ESTIMATES = (
    "its own rows",
    "folds, genes chosen on all rows",
    "folds, genes chosen in each",
    "fresh rows",
)
LINE_STYLES = "C4v:", "C1s--", "C0o-", "k^-."
SUBSTANTIAL_BIAS, BIAS_TOLERANCE = 0.05, 0.02


def _replicate(seed: int, replicate_number: int) -> Draws:
    """Estimate the error of 3-NN on the k best genes, chosen on all rows or in each fold, by k."""
    from sklearn.feature_selection import SelectKBest
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import Pipeline

    draws: dict[str, np.ndarray] = {}
    rule, genes = KNeighborsClassifier(3), SelectKBest()
    family_inside = Family.from_grid(
        Pipeline([("genes", genes), ("rule", rule)]), {"genes__k": SIZES}
    )
    for problem, n_informative in PROBLEMS.items():
        columns = GENES, n_informative
        sample = Sample.draw_alternating(
            ROWS, columns, 1.0, stream(problem, seed, replicate_number)
        )
        X, y = sample.data.X[:N], sample.data.y[:N]
        tables = [two_classes(SelectKBest(k=k).fit_transform(X, y), y) for k in SIZES]
        risks_outside = [
            Sample(table, N).risks(KFold(10), Family.from_grid(rule), replicate_number)
            for table in tables
        ]
        errors = (
            sample.risks(Apparent(), family_inside, replicate_number),
            np.concatenate(risks_outside),
            sample.risks(KFold(10), family_inside, replicate_number),
            sample.errors(family_inside).ravel(),
        )
        draws |= {
            f"{problem}: {estimate_name}": estimate_errors
            for estimate_name, estimate_errors in zip(ESTIMATES, errors, strict=True)
        }
    return draws


@experiment(_replicate, replicates=200, quick=10)
def wallman_genes(draws: Draws) -> FindingParts:
    """Wallman (2005), §6: genes chosen before the folds.

    {N} rows of {GENES} genes, three nearest neighbours on those of largest F; the rule errs on its
    own rows, in ten folds, and on {N_FRESH} fresh rows
    """
    names, gene_positions = tuple(map(str, SIZES)), np.arange(1.0, len(SIZES) + 1)
    apparent_gaps, outside_gaps, inside_gaps = [], [], []
    for problem in PROBLEMS:
        errors_by_estimate = {
            estimate_name: draws[f"{problem}: {estimate_name}"] for estimate_name in ESTIMATES
        }
        hidden_errors = errors_by_estimate[TRUE] - errors_by_estimate[OUTSIDE]
        apparent_gaps.append(
            _mean_differences(problem, errors_by_estimate[TRUE] - errors_by_estimate[APPARENT])
        )
        outside_gaps.append(_mean_differences(problem, hidden_errors[:, :-1]))
        inside_gaps.append(
            {
                f"{problem}: estimate − true": (
                    errors_by_estimate[INSIDE] - errors_by_estimate[TRUE]
                ).mean(axis=1)
            }
        )
        yield MeansGrid.from_values(
            problem,
            names,
            {estimate_name: errors_by_estimate[estimate_name].T for estimate_name in ESTIMATES},
            digits=3,
        )
        error_lines = mean_lines(gene_positions, errors_by_estimate, LINE_STYLES)
        steps = tuple(
            map(
                _describe_step,
                SIZES,
                *(
                    errors_of_estimate.T
                    for errors_of_estimate in (*errors_by_estimate.values(), hidden_errors)
                ),
            )
        )
        axis_labels = "number of genes", "mean error"
        yield Panel(problem, *axis_labels, error_lines, names=names, limits=(0.0, 0.6), steps=steps)
    yield Statement.from_quantities(
        "§2.2.1: the apparent error suffers from substantial optimistic bias: a twentieth or "
        "more, whatever the number of genes",
        *apparent_gaps,
        claim=Claim("above", SUBSTANTIAL_BIAS),
    )
    yield Statement.from_quantities(
        "§6: bias occurs when cross-validation is used for feature selection, if improper test "
        "procedures are used: genes chosen on all rows",
        *outside_gaps,
    )
    yield Statement.from_quantities(
        "§2.2.2: the error of cross-validation is approximately unbiased where each fold "
        "chooses its genes: within a fiftieth, on average over their numbers",
        *inside_gaps,
        claim=Claim("near", 0.0, BIAS_TOLERANCE),
    )


def _mean_differences(problem: str, differences: np.ndarray) -> dict[str, np.ndarray]:
    genes = ("1 gene" if k == 1 else f"{k} genes" for k in SIZES)
    pairs = zip(genes, differences.T, strict=False)
    return {
        f"{problem}, {gene_label}: true − estimate": difference for gene_label, difference in pairs
    }


def _describe_step(k: int, *errors: np.ndarray) -> str:
    """Return a sentence about the errors with k genes; ± is one standard error."""
    means = (Quantity.mean("", 100 * error_rates) for error_rates in errors)
    own_error_text, outside_error_text, inside_error_text, fresh_error_text, hidden_error_text = (
        f"{q.value:.1f} ± {q.std_error:.1f}" for q in means
    )
    remark = f"Choosing on all rows hides {hidden_error_text} points of it."
    return (
        f"{k} of {GENES} genes: the rule errs on {own_error_text} % of its own rows; in folds on "
        f"{outside_error_text} % where the genes were chosen on all rows, on {inside_error_text} % "
        f"where each fold chooses its own; and on {fresh_error_text} % of fresh rows. "
        + (remark if k < GENES else "All genes are kept: nothing is chosen, and nothing hidden.")
    )
