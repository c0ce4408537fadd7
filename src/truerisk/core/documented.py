"""The link from the HTML representation of an estimator to its page of the documentation."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, metadata
from inspect import getmodule

from truerisk.core.identity import is_from


@cache
def documentation_url() -> str:
    """Return the address of the documentation in the package's metadata, or an empty text."""
    try:
        project_urls = metadata("truerisk").get_all("Project-URL") or []
    except PackageNotFoundError:  # The package runs from its sources.
        return ""
    urls_by_label = dict(line.split(", ", 1) for line in project_urls)
    return urls_by_label.get("Documentation", "")


class DocumentedEstimator:
    """Mixin for estimators that have a page in the documentation of this package.

    Their HTML representation links to this page if the project URLs in the metadata of the package
    have the label "Documentation".
    """

    def _get_doc_link(self) -> str:
        """Return the address of the page of this estimator's class, or an empty text."""
        site, class_name = documentation_url(), type(self).__name__
        if not site or not is_from(self, "truerisk"):
            return ""
        own_package = getattr(getmodule(type(self)), "__package__", "")
        for package in ("truerisk", own_package):
            if getattr(import_module(package), class_name, None) is type(self):
                return f"{site.rstrip('/')}/api/generated/{package}.{class_name}.html"
        return ""
