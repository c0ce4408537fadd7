"""Which learner meets which problem, and on how many rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["FULL", "HARD", "PAIRS", "SCORES", "SHORT", "Cell"]


@dataclass(frozen=True, order=True)
class Cell:
    """One learner, tuned on n rows of one problem, by the usual loss or the one that is named."""

    problem: str
    n: int
    learner: str
    loss: str = ""

    def __str__(self) -> str:
        return f"{self.problem}, n={self.n}, {self.learner}" + (f", {self.loss}" * bool(self.loss))


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
    "auc": ("knn", "lda", "ridge", "tree", "forest"),
    "brier": ("knn", "lda", "tree", "forest"),
    "log": ("lda",),
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
    ("difficult", 100, "forest"),
    ("label-noise", 100, "lda"),
    ("patients", 120, "knn"),
)
SCORES = (
    *(Cell(*rated, loss) for loss, who in OF_SCORES.items() for rated in RATED if rated[2] in who),
    Cell("heavy-tails", 60, "ridge", "absolute"),
    Cell("heavy-tails", 100, "knn", "absolute"),
    Cell("linear", 60, "ridge", "r2"),
    Cell("linear", 100, "knn", "r2"),
    Cell("linear", 200, "ridge", "r2"),
    Cell("heavy-tails", 60, "ridge", "r2"),
    Cell("heavy-tails", 100, "knn", "r2"),
)
SHORT = (Cell("simple", 30, "knn"), Cell("noise", 30, "knn"), Cell("heavy-tails", 50, "ridge"))
