"""Groups, weights and fit parameters: who gets what, with and without metadata routing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Routed", "route", "router"]


@dataclass(frozen=True)
class Routed:
    """What goes where."""

    groups: Any
    sample_weight: Any
    fit: dict[str, Any]
    time: Any = None
    block: Any = None

    @property
    def of_rows(self) -> dict[str, Any]:
        """What says which rows belong together, and which come after others."""
        return {"groups": self.groups, "time": self.time, "block": self.block}


def route(
    search: Any, groups: Any, params: dict[str, Any], time: Any = None, block: Any = None
) -> Routed:
    """Split what `fit` was given into groups, the row weight, and other fit parameters.

    Times and places are the search's own: no estimator and no splitter is handed them.
    """
    from sklearn import get_config

    given = {name: value for name, value in params.items() if value is not None}
    if not get_config()["enable_metadata_routing"]:
        weight = given.pop("sample_weight", None)
        return Routed(groups, weight, given, time, block)
    from sklearn.utils.metadata_routing import process_routing

    offered = dict(given) if groups is None else {**given, "groups": groups}
    if not offered:
        return Routed(None, None, {}, time, block)
    routed = process_routing(search, "fit", **offered)
    fit = dict(routed.estimator.fit)
    weight = fit.pop("sample_weight", None)
    return Routed(groups, weight, fit, time, block)


def router(search: Any) -> Any:
    """`fit` hands fit parameters to the estimator, and groups to both splitting loops."""
    from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping

    own = MetadataRequest(owner=type(search).__name__)
    for name in ("time", "block"):
        own.fit.add_request(param=name, alias=True)
    mapped = MetadataRouter(owner=type(search).__name__).add(
        estimator=search.estimator,
        method_mapping=MethodMapping().add(caller="fit", callee="fit"),
    )
    mapped.add_self_request(own)
    for name in ("select_by", "outer") if search.cv is None else ("cv", "outer"):
        mapped.add(
            **{name: _splitter_request(getattr(search, name))},
            method_mapping=MethodMapping().add(caller="fit", callee="split"),
        )
    return mapped


def _splitter_request(method: Any) -> Any:
    """A splitter says itself what it takes; words and methods of ours take groups."""
    if hasattr(method, "get_metadata_routing"):
        return method
    from sklearn.utils.metadata_routing import MetadataRequest

    request = MetadataRequest(owner="truerisk method")
    request.split.add_request(param="groups", alias=True)
    return request
