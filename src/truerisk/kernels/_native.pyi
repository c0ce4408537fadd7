import numpy as np
from numpy.typing import NDArray

def votes_for_every_k(
    neighbours: NDArray[np.int32],
    codes: NDArray[np.int32],
    ks: NDArray[np.int32],
    n_classes: int,
    predicted: NDArray[np.int32],
) -> None: ...
def interval_labels(
    wrong: NDArray[np.int64], ks: NDArray[np.int64], out: NDArray[np.int8]
) -> None: ...
def interval_margins(
    wrong: NDArray[np.int64], ks: NDArray[np.int64], out: NDArray[np.int64]
) -> None: ...
def interval_changed(
    wrong: NDArray[np.int64],
    ks: NDArray[np.int64],
    group: NDArray[np.int64],
    instead: NDArray[np.int64],
    asks_next: NDArray[np.int8],
    out: NDArray[np.int8],
) -> None: ...

class Nearest:
    def __init__(self, block: int, length: int) -> None: ...
    def add(self, rough: NDArray[np.float32], first: int, slack: NDArray[np.float64]) -> None: ...
    def finish(
        self,
        queries: NDArray[np.float64],
        rows: NDArray[np.float64],
        slack: NDArray[np.float64],
        index: NDArray[np.int32],
        squared: NDArray[np.float64],
    ) -> None: ...

def smallest_of_block(
    given: NDArray[np.float64], index: NDArray[np.int32], value: NDArray[np.float64]
) -> None: ...
def walk_plan(*arguments: object) -> None: ...
def logistic_path_dense(*arguments: object) -> None: ...
def logistic_path_sparse(*arguments: object) -> None: ...
def logistic_lbfgs(*arguments: object) -> None: ...
def svm_paths(*arguments: object) -> None: ...
def svm_products(*arguments: object) -> None: ...
def svm_products_between(*arguments: object) -> None: ...
def svm_products_in_order(*arguments: object) -> None: ...
def svm_gaussian_solved(*arguments: object) -> None: ...
def svm_gaussian_answered(*arguments: object) -> None: ...
def svm_polynomial(*arguments: object) -> None: ...
def svm_steps_of_each(*arguments: object) -> None: ...
def svm_answers(*arguments: object) -> None: ...
def grow_trees(*arguments: object) -> None: ...
def row_sums(
    cells: NDArray[np.uint64],
    real: bool,
    factors: NDArray[np.uint64],
    sums: NDArray[np.uint64],
) -> bool: ...
def most_lines(content: NDArray[np.uint8]) -> int: ...
def cut_cells(
    content: NDArray[np.uint8],
    delimiter: int,
    longest: int,
    starts: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    lines: NDArray[np.uint32],
) -> int: ...
def numbers_of_cells(
    content: NDArray[np.uint8],
    starts: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    values: NDArray[np.float64],
) -> int: ...
def distinct_cells(
    content: NDArray[np.uint8],
    starts: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    seed: int,
    codes: NDArray[np.int32],
    firsts: NDArray[np.int32],
) -> int: ...
def solve_without(
    whole: NDArray[np.float64],
    blocks: NDArray[np.float64],
    minus: NDArray[np.int64],
    offsets: NDArray[np.int64],
    ridge: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    condition: NDArray[np.float64],
) -> None: ...
def products_of(
    table: NDArray[np.float64],
    rows: NDArray[np.int32],
    coefficients: NDArray[np.float64],
    which: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
