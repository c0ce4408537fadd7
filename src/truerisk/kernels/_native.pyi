import numpy as np
from numpy.typing import NDArray

def votes_for_every_k(
    neighbours: NDArray[np.int32],
    codes: NDArray[np.int32],
    ks: NDArray[np.int32],
    n_classes: int,
    predicted: NDArray[np.int32],
) -> None: ...
