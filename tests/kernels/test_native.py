"""truerisk.kernels: the compiled module, and the reason where it is missing."""

from __future__ import annotations

import subprocess
import sys
import textwrap

from truerisk.kernels import available, why_not


def test_kernels_are_available_in_a_built_package():
    """In a built package the compiled kernels are available and there is no reason against them."""
    assert available(), why_not()
    assert why_not() is None


def test_native_without_the_compiled_module_refuses_with_a_remedy():
    """Without its compiled part the package imports, reports why, and refuses with a remedy."""
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
