"""The HTML page of a comparison of several methods over many data sets."""

from __future__ import annotations

from collections.abc import Iterator

from truerisk.comparison.many_comparison import (
    ManyComparison,
    format_p_value,
    pairs_table,
    splits_table,
)
from truerisk.core.formats import escape_and_truncate, join_first_words
from truerisk.report.figure import FigureTable
from truerisk.report.layout import CLOSING_SECTIONS, Headline, Page, Section
from truerisk.report.many_figures import draw_pair_differences, draw_ranks, draw_values_heat_map
from truerisk.report.methods_text import ReproductionInfo

RANKS_REFERENCE = (
    "Demšar J (2006). Statistical comparisons of classifiers over multiple data sets. Journal "
    "of Machine Learning Research 7:1–30."
)
F_TEST_REFERENCE = (
    "Iman RL, Davenport JM (1980). Approximations of the critical region of the Friedman "
    "statistic. Communications in Statistics A 9:571–595."
)
HOLM_REFERENCE = (
    "Holm S (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
    "Journal of Statistics 6:65–70."
)
PAIRED_TESTS_REFERENCE = (
    "Benavoli A, Corani G, Mangili F (2016). Should we really use post-hoc tests based on "
    "mean-ranks? Journal of Machine Learning Research 17(5):1–10."
)
HODGES_LEHMANN_REFERENCE = (
    "Hodges JL, Lehmann EL (1963). Estimates of location based on rank tests. Annals of "
    "Mathematical Statistics 34:598–611."
)
BAYES_REFERENCE = (
    "Benavoli A, Corani G, Demšar J, Zaffalon M (2017). Time for a change: a tutorial for "
    "comparing multiple classifiers through Bayesian analysis. Journal of Machine Learning "
    "Research 18(77):1–36."
)

CORRELATED_SPLITS_REFERENCE = (
    "Corani G, Benavoli A, Demšar J, Mangili F, Zaffalon M (2017). Statistical comparison of "
    "classifiers through Bayesian hierarchical modelling. Machine Learning 106:1817–1837."
)


PAIRS_CAPTION = (
    "Data sets on which a is better, tied and worse; the difference; the p-value and Holm's "
    "correction of it; probabilities that on most data sets a or b is better by more than "
    "{:.15g}, or neither"
)


def draw_comparison_page(comparison: ManyComparison) -> Page:
    """Return the HTML page of a comparison of methods over data sets."""
    n_data_sets, n_methods = len(comparison.data_sets), len(comparison.methods)
    name = escape_and_truncate(comparison.name, 80)
    compared_text = f"{comparison.n_compared} of {len(comparison.data_sets)} data sets compared"
    values = {
        "eyebrow": "comparison",
        "title": f"{name + ': ' if name else ''}{n_methods} methods on {n_data_sets} data sets",
        "facts": [
            escape_and_truncate(comparison.quantity, 60),
            f"{escape_and_truncate(comparison.terms.better, 10)} is better",
            compared_text if comparison.left_out else f"{comparison.n_compared} data sets",
            f"level {1 - comparison.terms.confidence_level:.3g}",
        ],
        "headline": list(_headline(comparison)),
        "conclusion": [escape_and_truncate(sentence, 4000) for sentence in comparison.conclusion],
        "sections": tuple(_sections(comparison)),
        "pairs": FigureTable.from_rows(*pairs_table(comparison.pairs)),
        "pairs_caption": PAIRS_CAPTION.format(comparison.terms.rope),
        "splits": FigureTable.from_rows(*splits_table(comparison.pairs))
        if _has_split_results(comparison)
        else None,
        "splits_caption": (
            "From single splits (hierarchical correlated t test), for another data set: the "
            "probability that each outcome is the likeliest, and the mean probability of each"
        ),
        "methods": " ".join(_methods_sentences(comparison)),
        "references": _references(comparison),
        "repeat": _repeat_info(comparison),
        "notes": [escape_and_truncate(note, 1000) for note in comparison.notes[:40]],
    }
    return Page("many.html", values)


def _headline(comparison: ManyComparison) -> Iterator[Headline]:
    if not comparison.is_ranked:
        return
    best_method, best_rank = comparison.ordered[0]
    yield Headline(
        "Best average rank",
        escape_and_truncate(best_method, 40),
        f"average rank {best_rank:.2f}",
        "report",
    )
    friedman_test = comparison.friedman
    yield Headline(
        "All alike?", format_p_value(friedman_test.p_value), f"Friedman's test, {friedman_test}"
    )
    n_significant_pairs = sum(pair.p_holm < comparison.terms.alpha for pair in comparison.pairs)
    yield Headline(
        "Told apart", f"{n_significant_pairs} of {len(comparison.pairs)}", "pairs, after Holm"
    )
    critical_difference_text = f"{comparison.critical_difference:.2f}"
    yield Headline("Critical difference", critical_difference_text, "of average ranks (Nemenyi)")


def _sections(comparison: ManyComparison) -> Iterator[Section]:
    ranks_figure = draw_ranks(comparison)
    if ranks_figure is None:
        yield Section("numbers", "Values", "", (draw_values_heat_map(comparison),))
    else:
        introduction = "Ranks within each data set, 1 for the best, averaged over data sets."
        yield Section(
            "numbers",
            "Ranks and values",
            introduction,
            (ranks_figure, draw_values_heat_map(comparison)),
        )
        introduction = "How much two methods differ, and how sure that is."
        yield Section(
            "pairs", "Two methods at a time", introduction, (draw_pair_differences(comparison),)
        )
    yield from CLOSING_SECTIONS


def _has_split_results(comparison: ManyComparison) -> bool:
    """Return True if the compared values include results of single cross-validation splits."""
    return any(pair.hierarchical is not None for pair in comparison.pairs)


# ---------------------------------------------------------------- methods paragraph


def _methods_sentences(comparison: ManyComparison) -> Iterator[str]:
    """Yield the sentences of the methods paragraph of a comparison."""
    n_methods, n_data_sets = len(comparison.methods), len(comparison.data_sets)
    names = join_first_words([escape_and_truncate(name, 40) for name in comparison.methods], 12)
    yield (
        f"We compared {n_methods} methods ({names}) on {n_data_sets} data sets by their "
        f"{escape_and_truncate(comparison.quantity, 60)}."
    )
    yield _missing_values_sentence(comparison)
    if comparison.is_ranked:
        yield _tests_sentences(comparison)
        if _has_split_results(comparison):
            yield (
                "The results of single splits entered a hierarchical model with correlated splits "
                "(the correlated t test of Corani and others), whose posterior was summed on a "
                "grid."
            )
        friedman_test = comparison.friedman
        yield (
            f"{friedman_test}, p = {friedman_test.p_value:.3g}; chi-square"
            f"({friedman_test.df}) = {friedman_test.chi_square:.2f}, "
            f"p = {friedman_test.chi_p_value:.3g}."
        )
    version = escape_and_truncate(comparison.versions.get("truerisk", "of unknown version"), 40)
    yield f"Computed with truerisk {version}, seed {comparison.terms.random_state}."


def _missing_values_sentence(comparison: ManyComparison) -> str:
    n_missing = sum(value is None for row in comparison.values for value in row)
    if not n_missing:
        return "Every method had a value on every data set."
    n_cells = len(comparison.data_sets) * len(comparison.methods)
    if comparison.terms.missing == "last":
        missing_rule_text = (
            "a method without a value was ranked last, and differences were taken where both had "
            "one"
        )
    else:
        missing_rule_text = (
            f"only the {comparison.n_compared} data sets with values of all methods took part"
        )
    return f"{n_missing} of {n_cells} values were missing; {missing_rule_text}."


def _tests_sentences(comparison: ManyComparison) -> str:
    test_text = (
        "differences of average ranks"
        if comparison.terms.pairwise == "ranks"
        else "Wilcoxon's signed-rank test with zeros by Pratt's rule"
    )
    control_text = (
        ""
        if comparison.terms.control is None
        else f" against {escape_and_truncate(comparison.terms.control, 40)}"
    )
    return (
        "Average ranks were tested by Friedman's test in the form of Iman and Davenport, corrected "
        f"for ties, and pairs{control_text} by {test_text}, with Holm's correction over "
        f"{len(comparison.pairs)} tests. Differences are Hodges–Lehmann estimates with the "
        "interval of the signed-rank test; probabilities are those of the Bayesian signed-rank "
        "test (prior of strength 0.5 at zero, 50,000 draws) with values within "
        f"{comparison.terms.rope:.15g} taken as practically the same."
    )


def _references(comparison: ManyComparison) -> list[str]:
    """Return the references of a comparison's methods paragraph."""
    if not comparison.is_ranked:
        return []
    pair_references = [PAIRED_TESTS_REFERENCE] if comparison.terms.pairwise == "wilcoxon" else []
    return [
        RANKS_REFERENCE,
        F_TEST_REFERENCE,
        HOLM_REFERENCE,
        *pair_references,
        HODGES_LEHMANN_REFERENCE,
        BAYES_REFERENCE,
        *([CORRELATED_SPLITS_REFERENCE] if _has_split_results(comparison) else []),
    ]


def _repeat_info(comparison: ManyComparison) -> ReproductionInfo:
    """Return the call and the package versions that are needed to repeat the comparison.

    The call compares the values that the page shows.
    """
    arguments = [
        f"better={escape_and_truncate(comparison.terms.better, 20)!r}",
        f"rope={comparison.terms.rope:.15g}",
        f"missing={escape_and_truncate(comparison.terms.missing, 20)!r}",
        f"pairwise={escape_and_truncate(comparison.terms.pairwise, 20)!r}",
        *(
            []
            if comparison.terms.control is None
            else [f"control={escape_and_truncate(comparison.terms.control, 60)!r}"]
        ),
        f"confidence_level={comparison.terms.confidence_level:.15g}",
        f"random_state={comparison.terms.random_state}",
    ]
    if _has_split_results(comparison):
        arguments.insert(0, "correlation=...")
    call = "\n".join(
        ["tr.compare_many(", "    scores,", *(f"    {argument}," for argument in arguments), ")"]
    )
    return ReproductionInfo.from_call(call, {}, comparison.versions)
