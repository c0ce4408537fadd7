"""A comparison of methods over many data sets: a frozen value with conclusions in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, field, fields
from typing import Annotated, Any, ClassVar

from truerisk.comparison.hierarchical import Hierarchical
from truerisk.comparison.method_pairs import MethodPair
from truerisk.comparison.ranks import Friedman
from truerisk.comparison.scores import RankTerms
from truerisk.core import formats, tables
from truerisk.core.errors import UnknownName
from truerisk.core.frozen import frozen
from truerisk.core.overrides import override
from truerisk.core.tables import frame_of, frame_of_rows
from truerisk.core.version import __version__
from truerisk.results.records import FINITE, Column, Count, Record

Number = Annotated[float, FINITE]


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
    values: Annotated[tuple[tuple[Number | None, ...], ...], Column("data sets")]
    ranks: Annotated[tuple[Number, ...], Column("methods")]
    friedman: Friedman
    critical_difference: Number
    pairs: tuple[MethodPair, ...]
    terms: RankTerms
    n_compared: Count
    conclusion: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    name: str = ""
    versions: Mapping[str, str] = field(default_factory=lambda: {"truerisk": __version__})

    @property
    def flaw(self) -> tuple[str | int, ...] | None:
        """Place and requirement of an invalid field in a record read from a file, or None."""
        if len(set(self.methods)) < len(self.methods):
            return "methods", "methods of different names"
        for i, row in enumerate(self.values):
            if len(row) != len(self.methods):
                return "values", i, f"an array of {len(self.methods)} entries"
        for i, pair in enumerate(self.pairs):
            for end in ("a", "b"):
                if getattr(pair, end) not in self.methods:
                    return "pairs", i, end, "the name of a method"
        return None

    @property
    def is_ranked(self) -> bool:
        """True if there are enough data sets to rank methods over them."""
        return self.n_compared >= FEWEST

    @property
    def _summary(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows of the table of values, with one row per method, the best rank first."""
        columns = dict(zip(self.methods, zip(*self.values, strict=True), strict=True))
        rows = [
            [formats.clean(name, 60), *map(formats.number, columns[name])]
            for name, _ in self.ordered
        ]
        return ["method", *(formats.clean(name, 40) for name in self.data_sets)], rows

    @property
    def ordered(self) -> list[tuple[str, float]]:
        """Methods with their average ranks, the best method first."""
        return sorted(zip(self.methods, self.ranks, strict=True), key=lambda method: method[1])

    @property
    def alike(self) -> list[tuple[str, ...]]:
        """Largest groups of methods whose ranks lie within one critical difference."""
        names = self.ordered
        groups: list[tuple[str, ...]] = []
        end = 0
        for i, (_, rank) in enumerate(names):
            reach = [name for name, other in names[i:] if other - rank <= self.critical_difference]
            if len(reach) > 1 and i + len(reach) > end:
                groups.append(tuple(reach))
                end = i + len(reach)
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
        return frame_of(table | {m: list(c) for m, c in zip(self.methods, columns, strict=True)})

    def pairs_frame(self) -> Any:
        """Return a frame with one row per pair of methods.

        Returns
        -------
        DataFrame
            A frame of pandas, or of polars if only that is installed.
        """
        return frame_of_rows([_flat(pair) for pair in self.pairs])

    def __str__(self) -> str:
        notes = [f"note: {note}" for note in self.notes]
        if not self.is_ranked:
            values = tables.text_table(*self._summary)
            return "\n".join([*self.conclusion, "", values, *notes])
        methods = tables.text_table(["method", "average rank"], self._ranked())
        pairs = tables.text_table(*pairs_table(self.pairs))
        test = self.friedman
        overall = (
            f"Friedman: chi-square({test.df}) = {test.chi_square:.2f}, {p_text(test.chi_p_value)}; "
            f"{test}, {p_text(test.p_value)}; critical difference {self.critical_difference:.2f}"
        )
        head, rows = splits_table(self.pairs)
        if rows:
            pairs += f"\n\nby single splits (hierarchical)\n{tables.text_table(head, rows)}"
        return "\n".join([*self.conclusion, "", methods, "", overall, "", pairs, *notes])

    def _ranked(self) -> list[list[str]]:
        return [[formats.clean(name, 60), f"{rank:.3f}"] for name, rank in self.ordered]

    @override
    def blocks(self) -> list[tables.Block]:
        head, rows = ["method", "average rank"], self._ranked()
        if not self.is_ranked:
            head, rows = self._summary
        return [tables.Block(" ".join(self.conclusion), head, rows)]


def pairs_table(pairs: Sequence[MethodPair]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the results for pairs of methods."""
    head = ["a", "b", "better/tied/worse", "a − b", "interval", "p", "Holm", "P(better)",
            "P(same)", "P(worse)"]  # fmt: skip
    rows = [
        [
            formats.clean(pair.a, 40), formats.clean(pair.b, 40),
            f"{pair.wins}/{pair.ties}/{pair.losses}", formats.number(pair.difference),
            str(pair.interval or "none"), f"{pair.p_value:.3g}", f"{pair.p_holm:.3g}",
            formats.number(pair.better, 3), formats.number(pair.equivalent, 3),
            formats.number(pair.worse, 3),
        ]
        for pair in pairs
    ]  # fmt: skip
    return head, rows


def splits_table(pairs: Sequence[MethodPair]) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the results by single splits, for pairs that have them."""
    head = ["a", "b", "P(better)", "P(same)", "P(worse)", "next better", "next same", "next worse"]
    rows = [
        [formats.clean(p.a, 40), formats.clean(p.b, 40)]
        + [formats.number(chance, 3) for chance in astuple(p.hierarchical)]
        for p in pairs
        if p.hierarchical is not None
    ]
    return head, rows


def _flat(pair: MethodPair) -> dict[str, Any]:
    """Return a pair as one row, with the interval's limits and split results as columns."""
    plain = asdict(pair)
    interval, by_splits = plain.pop("interval"), plain.pop("hierarchical") or {}
    ends = {end: None if interval is None else interval[end] for end in ("low", "high")}
    names = [column.name for column in fields(Hierarchical)]
    return plain | ends | {f"hierarchical_{name}": by_splits.get(name) for name in names}


FEWEST = 5  # minimum number of data sets over which methods are ranked
PROBABLE = 0.95
MOST_NAMED = 6
BY_SPLITS = "By their single splits, for another data set"


def concluded(comparison: ManyComparison) -> Iterator[str]:
    """Yield sentences on ranks, the overall test, the pairs and practical equivalence.

    With few data sets there is only one sentence, which says so.
    """
    n, total, test = comparison.n_compared, len(comparison.data_sets), comparison.friedman
    if not comparison.is_ranked:
        yield (
            f"{n} data sets are too few to rank methods over them or to test their differences: at "
            f"least {FEWEST} are needed. The table has the values ({comparison.quantity}; "
            f"{comparison.terms.better} is better)."
        )
    else:
        yield _best(comparison)
        differ = "do not differ by more than chance may make them"
        if test.p_value < comparison.terms.alpha:
            differ = "differ by more than chance"
        yield f"The ranks {differ} (Friedman's test, {test}, {p_text(test.p_value)})."
        yield from _significant(comparison)
        # Chances come from the Bayesian signed-rank test, and from single splits if they are known.
        values = [(pair, pair) for pair in comparison.pairs]
        splits = [(pair, pair.hierarchical) for pair in comparison.pairs if pair.hierarchical]
        yield from _by_chances(comparison, values, "On most data sets these", "probably")
        yield from _by_chances(comparison, splits, f"{BY_SPLITS} these", "likeliest")
    if n < total:
        yield f"All of this rests on {n} of {total} data sets: see the notes."


def p_text(p: float) -> str:
    """Format a p-value.

    >>> p_text(0.01162), p_text(3.2e-9), p_text(1.0)
    ('p = 0.0116', 'p < 0.0001', 'p = 1')
    """
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.3g}"


def _best(comparison: ManyComparison) -> str:
    ordered = comparison.ordered
    lowest = [name for name, rank in ordered if rank <= ordered[0][1] + 1e-9]
    of = f"Of {len(ordered)} methods on {comparison.n_compared} data sets"
    if len(lowest) == len(ordered):
        return f"{of}, all have the same average rank, {ordered[0][1]:.2f}."
    if len(lowest) > 1:
        names = f"{', '.join(lowest[:-1])} and {lowest[-1]}"
        return f"{of}, {names} share the best average rank, {ordered[0][1]:.2f}."
    second = f"{ordered[1][0]} with {ordered[1][1]:.2f}"
    return f"{of}, {lowest[0]} has the best average rank, {ordered[0][1]:.2f}, before {second}."


def _significant(comparison: ManyComparison) -> Iterator[str]:
    alpha = comparison.terms.alpha
    pairs = sorted((p for p in comparison.pairs if p.p_holm < alpha), key=lambda p: p.p_holm)
    m = len(comparison.pairs)
    test = f"Holm's correction over {m} pairs" if m > 1 else "The test of the one pair"
    if not pairs:
        yield f"{test} finds no two methods different, which does not show that they are alike."
        return
    pairs_that_differ = [
        f"{p.a if p.favours_a else p.b} is better than {p.b if p.favours_a else p.a} "
        f"({p_text(p.p_holm)})"
        for p in pairs
    ]
    yield f"{test} finds different: {_first_few(pairs_that_differ)}."
    if len(pairs) < m:
        left = m - len(pairs)
        yield f"{left} of the {m} pairs {'is' if left == 1 else 'are'} undecided."


def _by_chances(
    comparison: ManyComparison,
    chances: Sequence[tuple[MethodPair, MethodPair | Hierarchical]],
    opening: str,
    how: str,
) -> Iterator[str]:
    rope = comparison.terms.rope
    better = [(pair.a, pair.b, p.better) for pair, p in chances if p.better >= PROBABLE]
    better += [(pair.b, pair.a, p.worse) for pair, p in chances if p.worse >= PROBABLE]
    if better:
        region = f"by more than {rope:.15g}" if rope else "at all"
        pairs = [f"{a} than {b} ({_chance(p)})" for a, b, p in better]
        yield f"{opening} are {how} better {region}: {_first_few(pairs)}."
    alike = [(pair, p.equivalent) for pair, p in chances if p.equivalent >= PROBABLE]
    if alike:
        pairs = [f"{pair.a} and {pair.b} ({_chance(p)})" for pair, p in alike]
        yield f"{opening} {how} differ by no more than {rope:.15g}: {_first_few(pairs)}."


def _chance(p: float) -> str:
    return "probability above 0.99" if p > 0.99 else f"probability {p:.2f}"


def _first_few(texts: Sequence[str]) -> str:
    more = len(texts) - MOST_NAMED
    return "; ".join(texts[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
