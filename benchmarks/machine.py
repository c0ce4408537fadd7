"""One BLAS thread, and the facts without which a number of seconds says nothing."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

__all__ = ["facts", "one_blas_thread"]

VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
PACKAGES = ("truerisk", "numpy", "scipy", "scikit-learn")


def one_blas_thread() -> None:
    """Ask for it; counts only before numpy is imported, and is inherited by child processes."""
    os.environ.update(dict.fromkeys(VARIABLES, "1"))


def facts() -> dict[str, str]:
    """What is printed above the table."""
    versions = {name: _version(name) for name in PACKAGES}
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **versions,
        "BLAS threads": _blas_threads(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _blas_threads() -> str:
    """As the loaded libraries say, not as was asked."""
    import numpy as np  # noqa: F401  (loads its BLAS)
    from threadpoolctl import threadpool_info

    counts = {str(pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas"}
    return ", ".join(sorted(counts)) or "unknown"
