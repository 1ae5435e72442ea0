"""Finds out what is set up for a golem (wallet, memory, keys), which decides the tools that exist for it.

A fact that only a layer above knows (how a wallet signs) is a function handed down by wiring. What nobody handed down
is absent: a tool too few is safe.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache

from django.conf import settings

from archetypes_app.models import Golem
from tools_app.toolkit.enums import Need, Requirement
from tools_app.toolkit.outside_services import SERVICES
from tools_app.toolkit.registry import REGISTRY

RequirementFact = Callable[[Golem], bool]
"""Whether a golem has what a requirement names. May read one row; never the network."""

_facts: dict[Requirement, RequirementFact] = {}


def configure(facts: Mapping[Requirement, RequirementFact]) -> None:
    """Hand down the facts of the layers above. Called by wiring."""
    _facts.clear()
    _facts.update(facts)


def list_present_requirements(golem: Golem, services: Collection[str] = ()) -> frozenset[Need]:
    """What is set up for `golem`: its wallet, its memory, what the server lends it or its signer can do, and the
    `services` that its owner switched on.

    A fact handed down is asked only when some registered tool needs it, so that it costs nobody else a query.
    """
    present: set[Need] = {SERVICES[name].need for name in services if name in SERVICES}
    if golem.address:
        present.add(Requirement.WALLET)
    if golem.is_memory_enabled and settings.GOLEM_MEMORY_ENABLED:
        present.add(Requirement.MEMORY)
    present.update(need for need, fact in _facts.items() if need in list_needed_requirements() and fact(golem))
    return frozenset(present)


def list_every_need() -> frozenset[Need]:
    """All there is: the closed list, and every service that is declared."""
    return frozenset[Need]({*Requirement, *(service.need for service in SERVICES.values())})


@cache
def list_needed_requirements() -> frozenset[Need]:
    """Requirements that at least one registered tool has; the registry is frozen."""
    return frozenset(need for tool in REGISTRY for need in tool.requires)


def list_absent_requirements() -> list[Requirement]:
    """Requirements that no golem of this server can have; wallet and smart wallet are each golem's own, and services
    are its owner's to switch on.
    """
    present = {Requirement.WALLET}
    if Requirement.SMART_WALLET in _facts:
        present.add(Requirement.SMART_WALLET)
    if settings.GOLEM_MEMORY_ENABLED:
        present.add(Requirement.MEMORY)
    return sorted(set(Requirement) - present)
