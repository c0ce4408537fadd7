"""Which learner meets which problem, and on how many rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

__all__ = ["FULL", "HARD", "MEANS", "PAIRS", "SCORES", "SHORT", "Cell", "told"]


@dataclass(frozen=True, order=True)
class Cell:
    """One learner, tuned on n rows of one problem, by the usual loss or the one that is named.

    `scores` are told besides. Each of them is read as a cell of its own, which was tuned `by` the
    loss.
    """

    problem: str
    n: int
    learner: str
    loss: str = ""
    scores: tuple[str, ...] = ()
    by: str = ""

    def __str__(self) -> str:
        loss = f", {self.loss}" * bool(self.loss) + f" tuned by {self.by}" * bool(self.by)
        return f"{self.problem}, n={self.n}, {self.learner}{loss}"

    @property
    def alone(self) -> Cell:
        """The same as far as its loss goes."""
        return replace(self, scores=())


def told(cells: Iterable[Cell]) -> Iterator[Cell]:
    """The cells and those of the scores that are told besides."""
    for cell in cells:
        yield cell.alone
        yield from (replace(cell.alone, loss=score, by=cell.loss) for score in cell.scores)


FULL = (
    Cell("simple", 30, "knn"),
    Cell("simple", 50, "lda"),
    Cell("simple", 200, "knn"),
    Cell("difficult", 50, "knn"),
    Cell("difficult", 100, "tree"),
    Cell("difficult", 100, "lda"),
    Cell("highleyman", 50, "knn"),
    Cell("highleyman", 200, "knn"),
    Cell("kearns", 100, "tree"),
    Cell("kearns", 200, "knn"),
    Cell("sparse", 60, "ridge"),
    Cell("sparse", 100, "l1"),
    Cell("noise", 50, "knn"),
    Cell("noise", 200, "knn"),
    Cell("noise", 100, "ridge"),
    Cell("imbalanced", 100, "knn"),
    Cell("imbalanced", 200, "lda"),
    Cell("heavy-tails", 50, "ridge"),
    Cell("heavy-tails", 200, "ridge"),
    Cell("heavy-tails", 100, "knn"),
    Cell("label-noise", 100, "knn"),
    Cell("label-noise", 1000, "knn"),
    Cell("patients", 120, "knn"),
    Cell("patients", 400, "knn"),
    Cell("corners", 60, "knn"),
    Cell("corners", 120, "lda"),
)
HARD = (  # trees whose risk varies with the rows they were trained on more than most
    Cell("simple", 50, "tree"),
    Cell("label-noise", 100, "tree"),
    Cell("corners", 100, "tree"),
    Cell("noise", 100, "tree"),
    Cell("kearns", 200, "tree"),
    Cell("xor", 60, "tree"),
    Cell("xor", 200, "tree"),
)
PAIRS = tuple(  # named losses have the intervals of pairs alone, which are quick
    replace(cell, loss="squared" if cell.problem == "heavy-tails" else "zero-one")
    for cell in (*FULL, *HARD)
)
OF_SCORES = {
    "auc": ("knn", "lda", "ridge", "tree"),
    "brier": ("knn", "lda", "tree"),
    "log": ("lda",),
    "cost": ("knn", "lda", "ridge", "tree"),
    "average-precision": ("knn", "lda", "ridge", "tree"),
    "balanced-accuracy": ("knn", "lda", "ridge", "tree"),
    "f1": ("knn", "lda", "ridge", "tree"),
    "mcc": ("knn", "lda", "ridge", "tree"),
    "kappa": ("knn", "lda", "ridge", "tree"),
}
RATED = (
    ("simple", 60, "knn"),
    ("simple", 200, "lda"),
    ("noise", 60, "ridge"),
    ("noise", 200, "knn"),
    ("imbalanced", 120, "knn"),
    ("imbalanced", 200, "lda"),
    ("wide", 60, "lda"),
    ("wide", 100, "ridge"),
    ("xor", 100, "knn"),
    ("xor", 100, "tree"),
    ("label-noise", 100, "lda"),
    ("patients", 120, "knn"),
)
EACH = (  # chosen by the score itself
    *(Cell(*rated, loss) for loss, who in OF_SCORES.items() for rated in RATED if rated[2] in who),
    Cell("heavy-tails", 60, "ridge", "absolute"),
    Cell("heavy-tails", 100, "knn", "absolute"),
    Cell("linear", 60, "ridge", "r2"),
    Cell("linear", 100, "knn", "r2"),
    Cell("linear", 200, "ridge", "r2"),
    Cell("heavy-tails", 60, "ridge", "r2"),
    Cell("heavy-tails", 100, "knn", "r2"),
)
LABELS = ("cost", "balanced-accuracy", "f1", "mcc", "kappa")  # told of several classes, too
RANKS = ("auc", "average-precision", *LABELS)
CHANCES = ("brier", "log", *RANKS)
VALUES = ("absolute", "r2")
BESIDES = (  # all scores of one choice: several classes, weights, groups, further learners
    Cell("corners", 120, "lda", "zero-one", ("brier", "log", *LABELS)),
    Cell("corners", 160, "knn", "zero-one", ("brier", *LABELS)),
    Cell("corners", 100, "tree", "zero-one", ("brier", *LABELS)),
    Cell("weighted", 100, "tree", "zero-one", ("brier", *RANKS)),
    Cell("weighted", 100, "ridge", "zero-one", RANKS),
    Cell("weighted", 200, "logistic", "zero-one", CHANCES),
    Cell("patients", 240, "lda", "zero-one", CHANCES),
    Cell("patients", 240, "tree", "zero-one", ("brier", *RANKS)),
    Cell("sparse", 40, "ridge", "zero-one", RANKS),  # 200 columns
    Cell("sparse", 40, "knn", "zero-one", ("brier", *RANKS)),
    Cell("xor", 100, "svm", "zero-one", RANKS),
    Cell("highleyman", 100, "qda", "zero-one", CHANCES),
    Cell("label-noise", 100, "boosting", "zero-one", CHANCES),
    Cell("difficult", 100, "forest", "zero-one", ("brier", *RANKS)),
    Cell("heavy-tails", 100, "tree", "squared", VALUES),
    Cell("linear", 100, "svm", "squared", VALUES),
)
TABLES = (  # drawn without replacement from tables; the other rows are the truth
    Cell("digits", 100, "knn", "zero-one", ("brier", *LABELS)),
    Cell("digits", 150, "lda", "zero-one", ("brier", "log", *LABELS)),
    Cell("digits", 100, "svm", "zero-one", LABELS),
    Cell("odd-digits", 100, "logistic", "zero-one", CHANCES),
    Cell("odd-digits", 150, "tree", "zero-one", ("brier", *RANKS)),
    Cell("odd-digits", 100, "forest", "zero-one", ("brier", *RANKS)),
    Cell("diabetes", 60, "ridge", "squared", VALUES),
    Cell("diabetes", 60, "knn", "squared", VALUES),
    Cell("satellite", 150, "knn", "zero-one", ("brier", *LABELS)),
    Cell("satellite", 300, "lda", "zero-one", ("brier", "log", *LABELS)),
    Cell("satellite", 200, "tree", "zero-one", ("brier", *LABELS)),
    Cell("a1a", 150, "ridge", "zero-one", RANKS),
    Cell("a1a", 200, "knn", "zero-one", ("brier", *RANKS)),
    Cell("a1a", 150, "boosting", "zero-one", CHANCES),
    Cell("yeast", 150, "knn", "zero-one", ("brier", *LABELS)),
    Cell("yeast", 200, "svm", "zero-one", LABELS),
    Cell("ozone", 150, "lda", "zero-one", CHANCES),
    Cell("ozone", 150, "tree", "zero-one", ("brier", *RANKS)),
    Cell("ozone-level", 100, "ridge", "squared", VALUES),
    Cell("ozone-level", 100, "tree", "squared", VALUES),
)
SCORES = (*EACH, *BESIDES, *TABLES)
AVERAGED = ("auc", "average-precision", "balanced-accuracy", "f1", "kappa", "mcc", "r2")


def _averages(score: str) -> tuple[str, ...]:
    """Return the words of a score's averages; ranks by models of several folds are not pooled."""
    by_folds, pooled = f"{score} by folds", f"{score} pooled"
    return (by_folds,) if score in RANKS[:2] else (by_folds, pooled)


def _with_averages(cell: Cell) -> Cell:
    """Return the cell with the averages of each of its scores, or of the score it is chosen by."""
    if cell.loss in AVERAGED:
        first, *others = _averages(cell.loss)
        return replace(cell, loss=first, scores=tuple(others))
    kept = (each for score in cell.scores if score in AVERAGED for each in _averages(score))
    return replace(cell, scores=tuple(kept))


MEANS = tuple(
    _with_averages(cell) for cell in SCORES if cell.loss in AVERAGED or {*cell.scores} & {*AVERAGED}
)
SHORT = (Cell("simple", 30, "knn"), Cell("noise", 30, "knn"), Cell("heavy-tails", 50, "ridge"))
