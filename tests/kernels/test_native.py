"""truerisk.kernels: the compiled module, and the reason where it is missing."""

import subprocess
import sys
import textwrap

import numpy as np

from truerisk.kernels import available, why_not
from truerisk.kernels.integer_arrays import check_bounds, integers


def test_kernels_are_available_in_a_built_package():
    assert available(), why_not()
    assert why_not() is None


def test_native_that_is_missing_refuses_with_a_remedy():
    script = """
        import sys

        class Absent:
            def find_spec(self, name, path=None, target=None):
                if name == "truerisk.kernels._native":
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        sys.meta_path.insert(0, Absent())
        import truerisk
        from truerisk.core.errors import Refusal
        from truerisk.kernels import available, native, why_not

        assert not available()
        assert "No module named 'truerisk.kernels._native'" in why_not(), why_not()
        try:
            native()
        except Refusal as refusal:
            assert why_not() in str(refusal)
            assert "make setup" in str(refusal)
        else:
            raise AssertionError("there is a module, and it was hidden")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_integers_takes_an_array_as_it_is():
    """An array of integers is not copied; without entries any type will do."""
    array = np.array([[3, 1]], dtype=np.int32)
    assert integers(array, "rows", n_dimensions=2) is array
    assert integers([], "rows", n_dimensions=1).size == 0
    check_bounds(np.array([], dtype=int), "rows", 0, 3, "the last row")
