"""How a comparison over data sets was made, as a paragraph to paste, and how to make it again."""

from __future__ import annotations

from math import inf

from truerisk.core.present import clean
from truerisk.report.many_document import ManyDocument
from truerisk.report.methods_text import Repeat

__all__ = ["compared", "compared_again", "compared_on"]

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


def compared(document: ManyDocument) -> str:
    """The methods paragraph."""
    said = [_which(document), _missing(document), _tests(document), _splits(document)]
    return " ".join([one for one in said if one] + [_found(document)])


def _which(document: ManyDocument) -> str:
    k, n = len(document.methods), len(document.data_sets)
    names = ", ".join(document.shown(j, 40) for j in range(min(k, 12)))
    more = f" and {k - 12} more" if k > 12 else ""
    return (
        f"We compared {k} methods ({names}{more}) on {n} data sets by their "
        f"{clean(document.quantity, 60)}."
    )


def _missing(document: ManyDocument) -> str:
    cells = sum(value is None for row in document.values for value in row)
    if not cells:
        return "Every method had a value on every data set."
    total = len(document.data_sets) * len(document.methods)
    if document.missing == "last":
        rule = (
            "a method without a value was ranked last, and differences were taken where both had "
            "one"
        )
    else:
        rule = f"only the {document.n_compared} data sets with values of all methods took part"
    return f"{cells} of {total} values were missing; {rule}."


def _tests(document: ManyDocument) -> str:
    by = (
        "differences of average ranks"
        if document.pairwise == "ranks"
        else "Wilcoxon's signed-rank test with zeros by Pratt's rule"
    )
    against = "" if document.control is None else f" against {clean(document.control, 40)}"
    return (
        "Average ranks were tested by Friedman's test in the form of Iman and Davenport, corrected "
        f"for ties, and pairs{against} by {by}, with Holm's correction over {len(document.pairs)} "
        "tests. Differences are Hodges–Lehmann estimates with the interval of the signed-rank "
        "test; probabilities are those of the Bayesian signed-rank test (prior of strength 0.5 at "
        f"zero, 50,000 draws) with values within {document.rope:g} taken as practically the same."
    )


def _splits(document: ManyDocument) -> str:
    if all(pair.by_splits is None for pair in document.pairs):
        return ""
    return (
        "The results of single splits entered a hierarchical model with correlated splits (the "
        "correlated t test of Corani and others), whose posterior was summed on a grid."
    )


def _found(document: ManyDocument) -> str:
    f, first, second, p = document.f
    chi, df, chi_p = document.chi_square
    shown = "∞" if f == inf else f"{f:.2f}"
    version = clean(document.versions.get("truerisk", "of unknown version"), 40)
    return (
        f"F({first}, {second}) = {shown}, p = {p:.3g}; chi-square({df}) = {chi:.2f}, "
        f"p = {chi_p:.3g}. Computed with truerisk {version}, seed {document.seed}."
    )


def compared_on(document: ManyDocument) -> list[str]:
    """What the paragraph rests on."""
    own = [PAIRS] if document.pairwise == "wilcoxon" else []
    by_splits = any(pair.by_splits is not None for pair in document.pairs)
    return [RANKS, F, HOLM, *own, SHIFT, BAYES, *([SPLITS] if by_splits else [])]


def compared_again(document: ManyDocument) -> Repeat:
    """The call; the values themselves are on the page."""
    given = [
        f"better={clean(document.better, 20)!r}",
        f"rope={document.rope:g}",
        f"missing={clean(document.missing, 20)!r}",
        f"pairwise={clean(document.pairwise, 20)!r}",
        *([] if document.control is None else [f"control={clean(document.control, 60)!r}"]),
        f"confidence_level={document.confidence:g}",
        f"random_state={document.seed}",
    ]
    if any(pair.by_splits is not None for pair in document.pairs):
        given.insert(0, "correlation=...")
    call = "\n".join(["tr.compare_many(", "    scores,", *(f"    {one}," for one in given), ")"])
    return Repeat(call, tuple((clean(n, 40), clean(v, 40)) for n, v in document.versions.items()))
