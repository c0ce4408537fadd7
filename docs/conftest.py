"""The pages on other packages are run by `make test-partners`, which installs these packages."""

from importlib.util import find_spec

PACKAGES = {"survival.md": "sksurv", "skrub.md": "skrub", "conformal.md": "mapie"}
collect_ignore = [page for page, package in PACKAGES.items() if not find_spec(package)]
