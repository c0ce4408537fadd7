"""The page on outcomes in time is run by `make test-partners`, which installs scikit-survival."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("sksurv") else ["survival.md"]
