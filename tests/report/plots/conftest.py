"""Pictures are drawn without a window, and no figure outlives its test."""

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Every figure is closed."""
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


@pytest.fixture
def axes(closed: None) -> Any:
    """Axes of a figure of their own."""
    from matplotlib import pyplot as plt

    return plt.subplots()[1]
