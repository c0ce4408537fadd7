"""Engines, which compute the predictions of all candidates for a plan, whatever the method."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from truerisk.core.registry import is_present, make_attribute_error
from truerisk.kernels import unavailability_reason

# Type checkers see every class here. At run time a class is imported when it is first used.
if TYPE_CHECKING:
    from collections.abc import Callable

    from truerisk.contracts import Engine
    from truerisk.engines.choice import choose_engine as choose_engine
    from truerisk.engines.choice import registry as registry
    from truerisk.engines.discriminants.discriminant import (
        LinearDiscriminants as LinearDiscriminants,
    )
    from truerisk.engines.discriminants.fisher import FisherDiscriminants as FisherDiscriminants
    from truerisk.engines.discriminants.quadratic import (
        QuadraticDiscriminants as QuadraticDiscriminants,
    )
    from truerisk.engines.generic import Generic as Generic
    from truerisk.engines.interval.interval import Intervals as Intervals
    from truerisk.engines.linear.elastic_net import ElasticNets as ElasticNets
    from truerisk.engines.linear.kernel_ridge import KernelRidges as KernelRidges
    from truerisk.engines.linear.least_squares import LeastSquares as LeastSquares
    from truerisk.engines.logistic.paths import LogisticPaths as LogisticPaths
    from truerisk.engines.neighbours.knn import NearestNeighbours as NearestNeighbours
    from truerisk.engines.support_vectors.svm import SupportVectors as SupportVectors
    from truerisk.engines.trees.ensemble import Ensembles as Ensembles
    from truerisk.engines.trees.tree import Trees as Trees

__all__ = ["choose_engine", "names", "off", "registry"]


def names() -> list[str]:
    """Return the names of engines that the argument `engine=` accepts, except "auto".

    Returns
    -------
    list of str
        The names, in the order in which "auto" tries them.

    See Also
    --------
    truerisk.engines.off : Return the engines that are off.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.engines.names()[:2], tr.engines.names()[-1]
    (['knn', 'interval'], 'generic')
    """
    return import_module("truerisk.engines.choice").registry.names()


def off() -> tuple[list[str], str | None]:
    """Return the engines that are off, and why the compiled module that they need is missing.

    Returns
    -------
    names : list of str
        The engines that are off.
    reason : str or None
        The reason why the compiled module is missing; None if it is there.

    See Also
    --------
    truerisk.engines.names : List the names of engines.
    show_versions : Print versions and engines.

    Examples
    --------
    >>> import truerisk as tr
    >>> tr.engines.off()
    ([], None)
    """
    reason = unavailability_reason()
    if reason is None:
        return [], None
    registry = import_module("truerisk.engines.choice").registry
    installed_names = (
        name for name, engine_entry in registry.items() if is_present(engine_entry.module)
    )
    return [name for name in installed_names if registry.load(name).compiled], reason


# Python calls this function for names that the module does not define.
def __getattr__(name: str) -> Callable[..., Engine]:
    """Return the registry of engines or an engine class, both imported when first used."""
    # `import_module` is used because `from truerisk.engines import` would call this function again.
    choice_module = import_module("truerisk.engines.choice")
    if name in ("choose_engine", "registry"):
        return getattr(choice_module, name)
    if name in (engine_entries := choice_module.registry.entries_by_object_name()):
        return engine_entries[name].load()
    raise make_attribute_error(__name__, name, __dir__())


def __dir__() -> list[str]:
    """Return the names offered for completion: the functions and every engine class."""
    return sorted(
        {*__all__, *import_module("truerisk.engines.choice").registry.entries_by_object_name()}
    )
