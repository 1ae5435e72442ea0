"""System checks at start-up: the shipped graph, the stored graph, names in the shipped data, and requirements."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.checks import CheckMessage, Error, Info, Tags, register
from django.core.checks import Warning as CheckWarning
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from archetypes_app.delegation import find_violations
from archetypes_app.golem_setup_facts import list_absent_requirements
from archetypes_app.models import ToolOverride
from archetypes_app.stored_delegation_graph import find_stored_violations, read_builtin_nodes
from tools_app.toolkit.enums import Requirement
from tools_app.toolkit.registry import REGISTRY


@register()
def check_builtin_graph(app_configs: object, **kwargs: object) -> Sequence[CheckMessage]:
    """The delegation graph this version ships keeps every rule, with the tools that are registered."""
    return [
        Error(f"built-in delegation graph: {error.detail}", hint="mend archetypes_app/archetype_data", id="golem.E301")
        for error in find_violations(read_builtin_nodes())
    ]


@register()
def check_requirements(app_configs: object, **kwargs: object) -> Sequence[CheckMessage]:
    """What this server does not have set up, and the tools no golem has because of it.

    Informational: a server without them is a sound one. Each golem's own warnings name what it is missing.
    """
    return [
        Info(
            f"{requirement.value} is not set up on this server, so these tools are left out: {', '.join(names)}",
            hint=_HINTS[requirement],
            id="golem.I301",
        )
        for requirement in list_absent_requirements()
        if (names := sorted(tool.name for tool in REGISTRY if requirement in tool.requires))
    ]


@register(Tags.database)
def check_stored_graph(app_configs: object, databases: object = None, **kwargs: object) -> Sequence[CheckMessage]:
    """The stored graph keeps every rule, and every override names a tool (`manage.py check --database default`)."""
    if not databases:
        return []
    try:
        if _waits_for_migrations():
            return []
        violations = find_stored_violations()
        unknown = sorted(
            {name for name in ToolOverride.objects.values_list("tool_name", flat=True) if name not in REGISTRY}
        )
    except DatabaseError as error:
        return [CheckWarning(f"the stored archetypes cannot be read: {error}", id="golem.W303")]
    return [
        *(
            Error(f"stored delegation graph: {error.detail}", hint="edit it in the admin", id="golem.E302")
            for error in violations
        ),
        *(CheckWarning(f"an override names {name!r}, and no tool is called that", id="golem.W304") for name in unknown),
    ]


def _waits_for_migrations() -> bool:
    """Whether the tables are not what this version reads: `migrate` checks before it makes them so."""
    executor = MigrationExecutor(connection)
    newest = [node for node in executor.loader.graph.leaf_nodes() if node[0] == "archetypes_app"]
    return bool(executor.migration_plan(newest))


_HINTS = {
    Requirement.WALLET: "give the golem a wallet",
    Requirement.MEMORY: "set GOLEM_MEMORY_ENABLED=1",
    Requirement.SMART_WALLET: "a smart wallet is each golem's own: a Safe or a cage behind its signer",
}
