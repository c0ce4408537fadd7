"""truerisk.kernels: the compiled module, and the reason where it is missing."""

import subprocess
import sys
import textwrap

import numpy as np

from truerisk.kernels import is_available, unavailability_reason
from truerisk.kernels.integer_arrays import check_bounds, to_integer_array


def test_kernels_are_available_in_a_built_package():
    assert is_available(), unavailability_reason()
    assert unavailability_reason() is None


def test_native_that_is_missing_refuses_with_a_remedy():
    script = """
        import sys

        class Absent:
            def find_spec(self, name, path=None, target=None):
                if name == "truerisk.kernels._native":
                    raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        sys.meta_path.insert(0, Absent())
        import truerisk
        from truerisk.exceptions import Refusal
        from truerisk.kernels import is_available, native_module, unavailability_reason

        assert not is_available()
        reason = unavailability_reason()
        assert "No module named 'truerisk.kernels._native'" in reason, reason
        try:
            native_module()
        except Refusal as refusal:
            assert unavailability_reason() in str(refusal)
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
    assert to_integer_array(array, "rows", n_dimensions=2) is array
    assert to_integer_array([], "rows", n_dimensions=1).size == 0
    check_bounds(np.array([], dtype=int), "rows", 0, 3, "the last row")
