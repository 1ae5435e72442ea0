"""The `memory_*` tools that write, each under a permit and in one database transaction with its use.

None of them loads the embedding model: the memory worker adds vectors within a minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from django.db import transaction
from pydantic import BeforeValidator, Field

from memory_app.actions.consolidate import consolidate
from memory_app.actions.manage_insight import Operation, check_change, find_insight, manage_insight
from memory_app.insights import show_percent
from memory_app.tools.families import InsightSubject, TokenPair, from_agent, memory
from tools_app.core.errors import InvalidParams
from tools_app.toolkit.capability import Capability
from tools_app.toolkit.context import WriteContext
from tools_app.toolkit.enums import ActionClass, TickBudget
from tools_app.toolkit.params import ChainId, Flag, ShortText, check_whole
from tools_app.toolkit.plan import LocalEffect

Change = Annotated[
    Operation, Field(description="ADD a new insight, UPVOTE or DOWNVOTE one, or EDIT one that you wrote.")
]
InsightId = Annotated[str, Field(pattern=r"^[0-9a-f-]{36}$", description="The id that memory_get_insights answered.")]
EpisodeCount = Annotated[
    int, Field(ge=3, le=100, description="Most episodes of this cycle, 3 to 100."), BeforeValidator(check_whole)
]
ClusterSize = Annotated[
    int, Field(ge=3, le=100, description="Least episodes alike, 3 to 100."), BeforeValidator(check_whole)
]


@dataclass(frozen=True, slots=True)
class ManagedInsight:
    """Confidence as decimal text between 0 and 1; `confidence_before` is empty for a new insight; `note` says why
    nothing moved, where nothing did.
    """

    insight_id: str
    operation: str
    confidence_before: str | None
    confidence_after: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class ConsolidatedMemory:
    """What one cycle did; nothing was kept when `dry_run`."""

    episodes_processed: int
    clusters_found: int
    insights_created: int
    insights_reinforced: int
    insights_contradicted: int
    heuristics_tuned: int
    dry_run: bool


def preview_insight_change(
    ctx: WriteContext,
    operation: Operation,
    insight_id: str | None,
    content: str | None,
    category: str | None,
    chain_id: int | None,
    token_pair: str | None,
    reason: str | None,
) -> LocalEffect:
    """Which insight would change. Raises InvalidParams, InsightNotFound."""
    wanted = _read_id(insight_id)
    check_change(operation=operation, insight_id=wanted, content=content)
    if operation is Operation.ADD:
        return LocalEffect("Add an insight", {"content": content, "category": category})
    row = find_insight(golem_id=ctx.golem.id, insight_id=wanted)
    return LocalEffect(
        f"{operation.value.capitalize()} insight {row.pk}",
        {"insight_id": str(row.pk), "confidence_before": show_percent(row.confidence_percent), "content": content},
    )


@memory.local_write(
    budget=TickBudget.FAST,
    in_database=True,
    preview=preview_insight_change,
    action_class=ActionClass.READ_ONLY,
    snippet="manage_insight: add an insight of your own, or confirm, contradict or reword one.",
    guidelines=("Downvote an insight that an outcome contradicted; do not add the same again in other words.",),
)
def memory_manage_insight(
    ctx: WriteContext,
    capability: Capability,
    operation: Change,
    insight_id: InsightId | None = None,
    content: ShortText | None = None,
    category: InsightSubject | None = None,
    chain_id: ChainId | None = None,
    token_pair: TokenPair | None = None,
    reason: ShortText | None = None,
) -> ManagedInsight:
    """Add, confirm, contradict or reword an insight; confidence starts at 0.3.

    Use when an outcome taught something the golem should find again. Does not tune anything: only consolidated
    outcomes do. Does not let your votes move what outcomes showed, an owner wrote or you said yourself. Does not
    reword what was drawn from outcomes, and changes no limit.
    """
    with transaction.atomic():
        change = manage_insight(
            golem_id=ctx.golem.id,
            operation=operation,
            insight_id=_read_id(insight_id),
            content=content,
            category=category,
            chain_id=chain_id,
            tokens=token_pair.split("/") if token_pair else (),
            reason=reason or "",
            actor=f"golem:{ctx.golem.id}",
            now=ctx.now,
            provenance=from_agent(ctx, capability),
        )
    return ManagedInsight(
        insight_id=str(change.insight_id),
        operation=change.operation.value,
        confidence_before=None if change.before is None else show_percent(change.before),
        confidence_after=show_percent(change.after),
        note=change.note,
    )


def preview_consolidation(ctx: WriteContext, max_episodes: int, min_cluster_size: int, dry_run: bool) -> LocalEffect:
    """What the cycle would do, from a run that is rolled back."""
    found = consolidate(
        golem_id=ctx.golem.id, now=ctx.now, max_episodes=max_episodes, min_cluster_size=min_cluster_size, dry_run=True
    )
    return LocalEffect(
        f"Draw insights from {found.clusters_found} clusters of {found.episodes_processed} episodes",
        {"clusters_found": found.clusters_found, "insights_created": found.insights_created, "dry_run": dry_run},
    )


@memory.local_write(
    action_type="consolidate_memory",
    budget=TickBudget.SLOW,
    in_database=True,
    preview=preview_consolidation,
    action_class=ActionClass.READ_ONLY,
    snippet="consolidate_memory: draw insights from clusters of like outcomes now instead of at the next four hours.",
    guidelines=(
        "Try dry_run first to see what would be drawn; calling it oftener moves no heuristic further than a tenth "
        "in four hours.",
    ),
)
def memory_consolidate(
    ctx: WriteContext,
    capability: Capability,
    max_episodes: EpisodeCount = 100,
    min_cluster_size: ClusterSize = 3,
    dry_run: Flag = False,
) -> ConsolidatedMemory:
    """Cluster the newest verified outcomes, draw insights, and tune slippage where five or more agree.

    Use after a run of like actions. Does not move a heuristic more than a tenth in four hours, does not use what
    agents wrote, and never asks for more slippage than you do.
    """
    with transaction.atomic():
        done = consolidate(
            golem_id=ctx.golem.id,
            now=ctx.now,
            max_episodes=max_episodes,
            min_cluster_size=min_cluster_size,
            dry_run=dry_run,
            actor=f"golem:{ctx.golem.id}",
        )
    return ConsolidatedMemory(
        episodes_processed=done.episodes_processed,
        clusters_found=done.clusters_found,
        insights_created=done.insights_created,
        insights_reinforced=done.insights_reinforced,
        insights_contradicted=done.insights_contradicted,
        heuristics_tuned=done.heuristics_tuned,
        dry_run=dry_run,
    )


def _read_id(insight_id: str | None) -> UUID | None:
    try:
        return UUID(insight_id) if insight_id else None
    except ValueError:
        raise InvalidParams("insight_id is no id", fields={"insight_id": "an id of memory_get_insights"}) from None
