"""Result of a comparison of methods over many data sets, with a conclusion in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, field, fields
from typing import Annotated, Any, ClassVar

from truerisk.comparison.hierarchical import HierarchicalResult
from truerisk.comparison.method_pairs import MethodPair
from truerisk.comparison.ranks import Friedman
from truerisk.comparison.scores import RankOptions
from truerisk.core import formats, tables
from truerisk.core.errors import UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.tables import frame_from_columns, frame_from_rows
from truerisk.core.version import __version__
from truerisk.results.records import FINITE_RANGE, Column, Count, Record

FiniteFloat = Annotated[float, FINITE_RANGE]


@frozen
class ManyComparison(Record):
    """Result of `compare_many`: methods compared over data sets by their values.

    Two methods differ for all pairs at once (Nemenyi) if their average ranks differ by more than
    `critical_difference`.

    Parameters
    ----------
    quantity : str
        What the values are.
    data_sets : tuple of str
        Names of the data sets.
    methods : tuple of str
        Names of the methods.
    values : tuple of tuples of float or None
        The values, one tuple per data set with one value per method.
    ranks : tuple of float
        The average rank of each method; 1 is the best.
    friedman : Friedman
        The test of all methods at once.
    critical_difference : float
        The difference of average ranks that is significant for all pairs at once.
    pairs : tuple of MethodPair
        The comparisons of two methods each.
    terms : RankTerms
        The arguments of the comparison.
    n_compared : int
        The number of data sets that took part.
    conclusion : tuple of str
        The conclusion in sentences.
    left_out : tuple of str, optional
        Data sets that did not take part.
    notes : tuple of str, optional
        What was omitted, and what the data did not allow.
    name : str, optional
        Name of the comparison, for a page.
    versions : mapping of str to str, optional
        Versions of the packages.

    See Also
    --------
    compare_many : Compute such a comparison.
    Comparison : Comparison of two learners on one data set.

    Examples
    --------
    >>> import truerisk as tr
    >>> risks = {
    ...     "knn": [0.31, 0.22, 0.12, 0.40, 0.08, 0.25],
    ...     "forest": [0.24, 0.17, 0.11, 0.31, 0.04, 0.20],
    ...     "constant": [0.50, 0.45, 0.41, 0.48, 0.33, 0.50],
    ... }
    >>> found = tr.compare_many(risks)
    >>> found.ordered, found.n_compared
    ([('forest', 1.0), ('knn', 2.0), ('constant', 3.0)], 6)
    """

    schema: ClassVar[str] = "truerisk.many-comparison/2"
    derived: ClassVar[tuple[str, ...]] = ("alike",)

    quantity: str
    data_sets: Annotated[tuple[str, ...], Column("data sets", most=10_000)]
    methods: Annotated[tuple[str, ...], Column("methods", least=2, most=200)]
    values: Annotated[tuple[tuple[FiniteFloat | None, ...], ...], Column("data sets")]
    ranks: Annotated[tuple[FiniteFloat, ...], Column("methods")]
    friedman: Friedman
    critical_difference: FiniteFloat
    pairs: tuple[MethodPair, ...]
    terms: RankOptions
    n_compared: Count
    conclusion: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    name: str = ""
    versions: Mapping[str, str] = field(default_factory=lambda: {"truerisk": __version__})

    @property
    def flaw(self) -> tuple[str | int, ...] | None:
        """Name of an invalid field and its requirement, or None if all fields are valid.

        Records that were read from a file are checked by this property.
        """
        if len(set(self.methods)) < len(self.methods):
            return "methods", "methods of different names"
        for i, row in enumerate(self.values):
            if len(row) != len(self.methods):
                return "values", i, f"an array of {len(self.methods)} entries"
        for i, pair in enumerate(self.pairs):
            for method_field in ("a", "b"):
                if getattr(pair, method_field) not in self.methods:
                    return "pairs", i, method_field, "the name of a method"
        return None

    @property
    def is_ranked(self) -> bool:
        """True if there are enough data sets to rank methods over them."""
        return self.n_compared >= MIN_DATA_SETS

    @property
    def _value_table(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows of the table of values; the method with the best rank comes first."""
        columns = dict(zip(self.methods, zip(*self.values, strict=True), strict=True))
        rows = [
            [formats.escape_and_truncate(name, 60), *map(formats.format_number, columns[name])]
            for name, _ in self.ordered
        ]
        return ["method", *(formats.escape_and_truncate(name, 40) for name in self.data_sets)], rows

    @property
    def ordered(self) -> list[tuple[str, float]]:
        """Methods with their average ranks, the best method first."""
        return sorted(zip(self.methods, self.ranks, strict=True), key=lambda method: method[1])

    @property
    def alike(self) -> list[tuple[str, ...]]:
        """Largest groups of methods whose average ranks lie within one critical difference."""
        ranked_methods = self.ordered
        groups: list[tuple[str, ...]] = []
        n_grouped = 0
        for i, (_, rank) in enumerate(ranked_methods):
            similar_methods = [
                name
                for name, other_rank in ranked_methods[i:]
                if other_rank - rank <= self.critical_difference
            ]
            if len(similar_methods) > 1 and i + len(similar_methods) > n_grouped:
                groups.append(tuple(similar_methods))
                n_grouped = i + len(similar_methods)
        return groups

    def pair(self, a: str, b: str) -> MethodPair:
        """Return the comparison of two methods, in the order in which they were compared.

        Parameters
        ----------
        a : str
            Name of one method.
        b : str
            Name of the other method.

        Returns
        -------
        MethodPair
            The comparison of the two methods.
        """
        for pair in self.pairs:
            if {pair.a, pair.b} == {a, b} and a != b:
                return pair
        names = ", ".join(self.methods)
        raise UnknownName(f"{a!r} and {b!r} were not compared. Methods: {names}.")

    def to_frame(self) -> Any:
        """Return the values as a frame with a row per data set.

        Returns
        -------
        DataFrame
            A frame of pandas, or of polars if only that is installed.
        """
        columns = zip(*self.values, strict=True)
        table: dict[str, list[Any]] = {"data set": list(self.data_sets)}
        return frame_from_columns(
            table
            | {method: list(column) for method, column in zip(self.methods, columns, strict=True)}
        )

    def pairs_frame(self) -> Any:
        """Return a frame with one row per pair of methods.

        Returns
        -------
        DataFrame
            A frame of pandas, or of polars if only that is installed.
        """
        return frame_from_rows([_pair_row(pair) for pair in self.pairs])

    def __str__(self) -> str:
        notes = [f"note: {note}" for note in self.notes]
        if not self.is_ranked:
            values = tables.text_table(*self._value_table)
            return "\n".join([*self.conclusion, "", values, *notes])
        methods = tables.text_table(["method", "average rank"], self._average_rank_rows())
        pairs = tables.text_table(*pairs_table(self.pairs))
        friedman_test = self.friedman
        overall_text = (
            f"Friedman: chi-square({friedman_test.df}) = {friedman_test.chi_square:.2f}, "
            f"{format_p_value(friedman_test.chi_p_value)}; {friedman_test}, "
            f"{format_p_value(friedman_test.p_value)}; "
            f"critical difference {self.critical_difference:.2f}"
        )
        header, rows = splits_table(self.pairs)
        if rows:
            pairs += f"\n\nby single splits (hierarchical)\n{tables.text_table(header, rows)}"
        return "\n".join([*self.conclusion, "", methods, "", overall_text, "", pairs, *notes])

    def _average_rank_rows(self) -> list[list[str]]:
        return [
            [formats.escape_and_truncate(name, 60), f"{rank:.3f}"] for name, rank in self.ordered
        ]

    @override
    def blocks(self) -> list[tables.Block]:
        header, rows = ["method", "average rank"], self._average_rank_rows()
        if not self.is_ranked:
            header, rows = self._value_table
        blocks = tables.blocks_with_caption(self.conclusion, header, rows)
        pairs = [tables.Block("Pairs of methods", *pairs_table(self.pairs))] if self.pairs else []
        return [*blocks[:1], *pairs, *blocks[1:]]


def pairs_table(pairs: Sequence[MethodPair]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the table of results for pairs of methods."""
    header = ["a", "b", "better/tied/worse", "a − b", "interval", "p", "Holm", "P(better)",
            "P(same)", "P(worse)"]  # fmt: skip
    rows = [
        [
            formats.escape_and_truncate(pair.a, 40), formats.escape_and_truncate(pair.b, 40),
            f"{pair.wins}/{pair.ties}/{pair.losses}", formats.format_number(pair.difference),
            str(pair.interval or "none"), f"{pair.p_value:.3g}", f"{pair.p_holm:.3g}",
            formats.format_number(pair.better, 3), formats.format_number(pair.equivalent, 3),
            formats.format_number(pair.worse, 3),
        ]
        for pair in pairs
    ]  # fmt: skip
    return header, rows


def splits_table(pairs: Sequence[MethodPair]) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the table of results that use single splits.

    The table has one row for each pair of methods with such results.
    """
    header = [
        "a",
        "b",
        "P(better)",
        "P(same)",
        "P(worse)",
        "next better",
        "next same",
        "next worse",
    ]
    rows = [
        [formats.escape_and_truncate(pair.a, 40), formats.escape_and_truncate(pair.b, 40)]
        + [formats.format_number(probability, 3) for probability in astuple(pair.hierarchical)]
        for pair in pairs
        if pair.hierarchical is not None
    ]
    return header, rows


def _pair_row(pair: MethodPair) -> dict[str, Any]:
    """Return a pair as one row of a frame, with interval limits and split results as columns."""
    row = asdict(pair)
    interval, split_results = row.pop("interval"), row.pop("hierarchical") or {}
    limits = {
        limit_name: None if interval is None else interval[limit_name]
        for limit_name in ("low", "high")
    }
    names = [column.name for column in fields(HierarchicalResult)]
    return row | limits | {f"hierarchical_{name}": split_results.get(name) for name in names}


MIN_DATA_SETS = 5  # minimum number of data sets over which methods are ranked
PROBABLE_THRESHOLD = 0.95
MOST_PAIRS_NAMED = 6
BY_SPLITS_TEXT = "By their single splits, for another data set"


def conclusion_sentences(comparison: ManyComparison) -> Iterator[str]:
    """Yield sentences on ranks, the overall test, the pairs and practical equivalence.

    With few data sets there is only one sentence, which says that they are too few.
    """
    n_compared, n_data_sets, friedman_test = (
        comparison.n_compared,
        len(comparison.data_sets),
        comparison.friedman,
    )
    if not comparison.is_ranked:
        yield (
            f"{n_compared} data sets are too few to rank methods over them or to test their "
            f"differences: at least {MIN_DATA_SETS} are needed. The table has the values "
            f"({comparison.quantity}; {comparison.terms.better} is better)."
        )
    else:
        yield _best_method_sentence(comparison)
        differ_text = "do not differ by more than chance may make them"
        if friedman_test.p_value < comparison.terms.alpha:
            differ_text = "differ by more than chance"
        yield (
            f"The ranks {differ_text} (Friedman's test, {friedman_test}, "
            f"{format_p_value(friedman_test.p_value)})."
        )
        yield from _significance_sentences(comparison)
        # The probabilities come from the Bayesian signed-rank test, and, if results of single
        # splits are known, from the hierarchical test.
        values = [(pair, pair) for pair in comparison.pairs]
        split_results = [
            (pair, pair.hierarchical) for pair in comparison.pairs if pair.hierarchical
        ]
        yield from _probability_sentences(comparison, values, "On most data sets these", "probably")
        yield from _probability_sentences(
            comparison, split_results, f"{BY_SPLITS_TEXT} these", "likeliest"
        )
    if n_compared < n_data_sets:
        yield f"All of this rests on {n_compared} of {n_data_sets} data sets: see the notes."


def format_p_value(p_value: float) -> str:
    """Format a p-value for a sentence.

    >>> format_p_value(0.01162), format_p_value(3.2e-9), format_p_value(1.0)
    ('p = 0.0116', 'p < 0.0001', 'p = 1')
    """
    return "p < 0.0001" if p_value < 1e-4 else f"p = {p_value:.3g}"


def _best_method_sentence(comparison: ManyComparison) -> str:
    ranked_methods = comparison.ordered
    best_methods = [name for name, rank in ranked_methods if rank <= ranked_methods[0][1] + 1e-9]
    sentence_start = f"Of {len(ranked_methods)} methods on {comparison.n_compared} data sets"
    if len(best_methods) == len(ranked_methods):
        return f"{sentence_start}, all have the same average rank, {ranked_methods[0][1]:.2f}."
    if len(best_methods) > 1:
        names = f"{', '.join(best_methods[:-1])} and {best_methods[-1]}"
        return f"{sentence_start}, {names} share the best average rank, {ranked_methods[0][1]:.2f}."
    second_text = f"{ranked_methods[1][0]} with {ranked_methods[1][1]:.2f}"
    return (
        f"{sentence_start}, {best_methods[0]} has the best average rank, "
        f"{ranked_methods[0][1]:.2f}, "
        f"before {second_text}."
    )


def _significance_sentences(comparison: ManyComparison) -> Iterator[str]:
    alpha = comparison.terms.alpha
    pairs = sorted(
        (pair for pair in comparison.pairs if pair.p_holm < alpha), key=lambda pair: pair.p_holm
    )
    n_pairs = len(comparison.pairs)
    test_phrase = (
        f"Holm's correction over {n_pairs} pairs" if n_pairs > 1 else "The test of the one pair"
    )
    if not pairs:
        yield (
            f"{test_phrase} finds no two methods different, which does not show that they are "
            "alike."
        )
        return
    pairs_that_differ = [
        f"{pair.a if pair.favours_a else pair.b} is better than "
        f"{pair.b if pair.favours_a else pair.a} ({format_p_value(pair.p_holm)})"
        for pair in pairs
    ]
    yield f"{test_phrase} finds different: {_join_first_texts(pairs_that_differ)}."
    if len(pairs) < n_pairs:
        n_undecided = n_pairs - len(pairs)
        yield (
            f"{n_undecided} of the {n_pairs} pairs {'is' if n_undecided == 1 else 'are'} undecided."
        )


def _probability_sentences(
    comparison: ManyComparison,
    pair_results: Sequence[tuple[MethodPair, MethodPair | HierarchicalResult]],
    sentence_start: str,
    certainty_adverb: str,
) -> Iterator[str]:
    rope = comparison.terms.rope
    better_pairs = [
        (pair.a, pair.b, p.better) for pair, p in pair_results if p.better >= PROBABLE_THRESHOLD
    ]
    better_pairs += [
        (pair.b, pair.a, p.worse) for pair, p in pair_results if p.worse >= PROBABLE_THRESHOLD
    ]
    if better_pairs:
        margin_phrase = f"by more than {rope:.15g}" if rope else "at all"
        pairs = [
            f"{better_name} than {worse_name} ({_probability_text(p)})"
            for better_name, worse_name, p in better_pairs
        ]
        yield (
            f"{sentence_start} are {certainty_adverb} better {margin_phrase}: "
            f"{_join_first_texts(pairs)}."
        )
    equivalent_pairs = [
        (pair, p.equivalent) for pair, p in pair_results if p.equivalent >= PROBABLE_THRESHOLD
    ]
    if equivalent_pairs:
        pairs = [f"{pair.a} and {pair.b} ({_probability_text(p)})" for pair, p in equivalent_pairs]
        yield (
            f"{sentence_start} {certainty_adverb} differ by no more than {rope:.15g}: "
            f"{_join_first_texts(pairs)}."
        )


def _probability_text(probability: float) -> str:
    return "probability above 0.99" if probability > 0.99 else f"probability {probability:.2f}"


def _join_first_texts(texts: Sequence[str]) -> str:
    n_more = len(texts) - MOST_PAIRS_NAMED
    return "; ".join(texts[:MOST_PAIRS_NAMED]) + (f"; and {n_more} more" if n_more > 0 else "")
