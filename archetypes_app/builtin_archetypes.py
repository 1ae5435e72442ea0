"""Every built-in archetype: 36 of the first catalogue and five extensions.

Terminals keep reads only, so do those that only advise; whoever can act reaches the safety-guardian, whatever tools
a category gains.
"""

from __future__ import annotations

from archetypes_app.archetype_data.capital_markets import CAPITAL_MARKETS
from archetypes_app.archetype_data.definition import BuiltinArchetype
from archetypes_app.archetype_data.development import DEVELOPMENT
from archetypes_app.archetype_data.execution import EXECUTION
from archetypes_app.archetype_data.extension import EXTENSION
from archetypes_app.archetype_data.golem import GOLEM
from archetypes_app.archetype_data.infrastructure import INFRASTRUCTURE
from archetypes_app.archetype_data.monitoring import MONITORING
from archetypes_app.archetype_data.observer import OBSERVER
from archetypes_app.archetype_data.research import RESEARCH
from archetypes_app.archetype_data.strategy import STRATEGY
from archetypes_app.archetype_data.vaults import VAULTS

CORE_ARCHETYPES: tuple[BuiltinArchetype, ...] = (
    *EXECUTION,
    *RESEARCH,
    *STRATEGY,
    *DEVELOPMENT,
    *INFRASTRUCTURE,
    *CAPITAL_MARKETS,
    *MONITORING,
    *VAULTS,
    *GOLEM,
    *OBSERVER,
)

BUILTIN_ARCHETYPES: tuple[BuiltinArchetype, ...] = (*CORE_ARCHETYPES, *EXTENSION)

__all__ = ["BUILTIN_ARCHETYPES", "CORE_ARCHETYPES", "BuiltinArchetype"]
