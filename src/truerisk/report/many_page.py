"""The page of a comparison over many data sets."""

from __future__ import annotations

from collections.abc import Iterator

from truerisk.comparison.many_comparison import (
    ManyComparison,
    p_text,
    pairs_table,
    splits_table,
)
from truerisk.core.formats import clean, first_few
from truerisk.report.figure import FigureTable
from truerisk.report.layout import CLOSING, Headline, Page, Section
from truerisk.report.many_figures import draw_effects, draw_ranks, draw_values
from truerisk.report.methods_text import Repeat

RANKS = (
    "Demšar J (2006). Statistical comparisons of classifiers over multiple data sets. Journal "
    "of Machine Learning Research 7:1–30."
)
F = (
    "Iman RL, Davenport JM (1980). Approximations of the critical region of the Friedman "
    "statistic. Communications in Statistics A 9:571–595."
)
HOLM = (
    "Holm S (1979). A simple sequentially rejective multiple test procedure. Scandinavian "
    "Journal of Statistics 6:65–70."
)
PAIRS = (
    "Benavoli A, Corani G, Mangili F (2016). Should we really use post-hoc tests based on "
    "mean-ranks? Journal of Machine Learning Research 17(5):1–10."
)
SHIFT = (
    "Hodges JL, Lehmann EL (1963). Estimates of location based on rank tests. Annals of "
    "Mathematical Statistics 34:598–611."
)
BAYES = (
    "Benavoli A, Corani G, Demšar J, Zaffalon M (2017). Time for a change: a tutorial for "
    "comparing multiple classifiers through Bayesian analysis. Journal of Machine Learning "
    "Research 18(77):1–36."
)

SPLITS = (
    "Corani G, Benavoli A, Demšar J, Mangili F, Zaffalon M (2017). Statistical comparison of "
    "classifiers through Bayesian hierarchical modelling. Machine Learning 106:1817–1837."
)


PAIRS_CAPTION = (
    "Data sets on which a is better, tied and worse; the difference; the p-value and Holm's "
    "correction of it; probabilities that on most data sets a or b is better by more than "
    "{:.15g}, or neither"
)


def draw_many(many: ManyComparison) -> Page:
    """Return the page of a comparison."""
    n, k = len(many.data_sets), len(many.methods)
    name = clean(many.name, 80)
    took = f"{many.n_compared} of {len(many.data_sets)} data sets compared"
    values = {
        "eyebrow": "comparison",
        "title": f"{name + ': ' if name else ''}{k} methods on {n} data sets",
        "facts": [
            clean(many.quantity, 60),
            f"{clean(many.terms.better, 10)} is better",
            took if many.left_out else f"{many.n_compared} data sets",
            f"level {1 - many.terms.confidence_level:.3g}",
        ],
        "headline": list(_headline(many)),
        "conclusion": [clean(sentence, 4000) for sentence in many.conclusion],
        "sections": tuple(_sections(many)),
        "pairs": FigureTable.from_rows(*pairs_table(many.pairs)),
        "pairs_caption": PAIRS_CAPTION.format(many.terms.rope),
        "splits": FigureTable.from_rows(*splits_table(many.pairs)) if _knows_splits(many) else None,
        "splits_caption": (
            "From single splits (hierarchical correlated t test), for another data set: the "
            "probability that each outcome is the likeliest, and the mean probability of each"
        ),
        "methods": " ".join(_methods(many)),
        "references": _references(many),
        "repeat": _repeat(many),
        "notes": [clean(note, 1000) for note in many.notes[:40]],
    }
    return Page("many.html", values)


def _headline(many: ManyComparison) -> Iterator[Headline]:
    if not many.is_ranked:
        return
    best, rank = many.ordered[0]
    yield Headline("Best average rank", clean(best, 40), f"average rank {rank:.2f}", "report")
    test = many.friedman
    yield Headline("All alike?", p_text(test.p_value), f"Friedman's test, {test}")
    apart = sum(pair.p_holm < many.terms.alpha for pair in many.pairs)
    yield Headline("Told apart", f"{apart} of {len(many.pairs)}", "pairs, after Holm")
    cd = f"{many.critical_difference:.2f}"
    yield Headline("Critical difference", cd, "of average ranks (Nemenyi)")


def _sections(many: ManyComparison) -> Iterator[Section]:
    ranks = draw_ranks(many)
    if ranks is None:
        yield Section("numbers", "Values", "", (draw_values(many),))
    else:
        lead = "Ranks within each data set, 1 for the best, averaged over data sets."
        yield Section("numbers", "Ranks and values", lead, (ranks, draw_values(many)))
        lead = "How much two methods differ, and how sure that is."
        yield Section("pairs", "Two methods at a time", lead, (draw_effects(many),))
    yield from CLOSING


def _knows_splits(many: ManyComparison) -> bool:
    """Return True if results of single splits were used."""
    return any(pair.hierarchical is not None for pair in many.pairs)


# ---------------------------------------------------------------- what was done, in words


def _methods(many: ManyComparison) -> Iterator[str]:
    """Yield the sentences of the methods paragraph."""
    k, n = len(many.methods), len(many.data_sets)
    names = first_few([clean(name, 40) for name in many.methods], 12)
    yield (
        f"We compared {k} methods ({names}) on {n} data sets by their {clean(many.quantity, 60)}."
    )
    yield _missing_cells(many)
    if many.is_ranked:
        yield _tests(many)
        if _knows_splits(many):
            yield (
                "The results of single splits entered a hierarchical model with correlated splits "
                "(the correlated t test of Corani and others), whose posterior was summed on a "
                "grid."
            )
        test = many.friedman
        yield (
            f"{test}, p = {test.p_value:.3g}; chi-square({test.df}) = {test.chi_square:.2f}, "
            f"p = {test.chi_p_value:.3g}."
        )
    version = clean(many.versions.get("truerisk", "of unknown version"), 40)
    yield f"Computed with truerisk {version}, seed {many.terms.random_state}."


def _missing_cells(many: ManyComparison) -> str:
    cells = sum(value is None for row in many.values for value in row)
    if not cells:
        return "Every method had a value on every data set."
    total = len(many.data_sets) * len(many.methods)
    if many.terms.missing == "last":
        rule = (
            "a method without a value was ranked last, and differences were taken where both had "
            "one"
        )
    else:
        rule = f"only the {many.n_compared} data sets with values of all methods took part"
    return f"{cells} of {total} values were missing; {rule}."


def _tests(many: ManyComparison) -> str:
    by = (
        "differences of average ranks"
        if many.terms.pairwise == "ranks"
        else "Wilcoxon's signed-rank test with zeros by Pratt's rule"
    )
    against = "" if many.terms.control is None else f" against {clean(many.terms.control, 40)}"
    return (
        "Average ranks were tested by Friedman's test in the form of Iman and Davenport, corrected "
        f"for ties, and pairs{against} by {by}, with Holm's correction over {len(many.pairs)} "
        "tests. Differences are Hodges–Lehmann estimates with the interval of the signed-rank "
        "test; probabilities are those of the Bayesian signed-rank test (prior of strength 0.5 at "
        f"zero, 50,000 draws) with values within {many.terms.rope:.15g} taken as practically the "
        "same."
    )


def _references(many: ManyComparison) -> list[str]:
    """Return the references of the paragraph."""
    if not many.is_ranked:
        return []
    own = [PAIRS] if many.terms.pairwise == "wilcoxon" else []
    return [RANKS, F, HOLM, *own, SHIFT, BAYES, *([SPLITS] if _knows_splits(many) else [])]


def _repeat(many: ManyComparison) -> Repeat:
    """Return the call; the values themselves are on the page."""
    given = [
        f"better={clean(many.terms.better, 20)!r}",
        f"rope={many.terms.rope:.15g}",
        f"missing={clean(many.terms.missing, 20)!r}",
        f"pairwise={clean(many.terms.pairwise, 20)!r}",
        *([] if many.terms.control is None else [f"control={clean(many.terms.control, 60)!r}"]),
        f"confidence_level={many.terms.confidence_level:.15g}",
        f"random_state={many.terms.random_state}",
    ]
    if _knows_splits(many):
        given.insert(0, "correlation=...")
    call = "\n".join(["tr.compare_many(", "    scores,", *(f"    {one}," for one in given), ")"])
    return Repeat.from_call(call, {}, many.versions)
