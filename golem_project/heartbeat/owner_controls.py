"""Lets an owner set a golem's heartbeat, say a word to it, and ask for a tick now."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Final

from django.db import connection, transaction

from archetypes_app.models import Golem, Heartbeat
from golem_project.heartbeat import tick_claims
from golem_project.heartbeat.errors import HeartbeatOff, SteersPending
from golem_project.heartbeat.liquidity_rule import parse_liquidity_rule
from golem_project.heartbeat.schedule import first_tick
from golem_project.heartbeat.strategies.catalog import parse_strategies
from tools_app.core import audit_log
from tools_app.core.errors import InvalidParams
from tools_app.core.transaction_retry import retry_aborted

LONGEST_STEER: Final = 500
MOST_STEERS: Final = 5


def save_heartbeat(*, heartbeat: Heartbeat, was_on: bool, now: datetime) -> None:
    """Store what an owner set. One that is turned on ticks within its first interval, away from the others.

    Raises InvalidParams for a liquidity rule or a strategy that is not complete.
    """
    parse_liquidity_rule(heartbeat.liquidity_rule)
    parse_strategies(heartbeat.strategies)
    if heartbeat.is_on and not was_on:
        heartbeat.next_tick_at = first_tick(
            golem_id=heartbeat.golem_id, theta_seconds=heartbeat.base_interval_seconds, now=now
        )
    if heartbeat._state.adding:
        heartbeat.save(force_insert=True)
        return
    # A tick may be running: only what an owner sets is written.
    fields = ["is_on", "planner", "rules_stand_in", "base_interval_seconds", "liquidity_rule", "strategies"]
    heartbeat.save(update_fields=[*fields, "updated_at", *(["next_tick_at"] if heartbeat.is_on and not was_on else [])])


@retry_aborted
def steer_golem(*, golem: Golem, text: str, actor: str, now: datetime) -> None:
    """The owner's words for the next tick, which thinks at its hardest because of them. Appends GolemSteered.

    Raises InvalidParams, HeartbeatOff, SteersPending.
    """
    words = text.strip()
    if not words or len(words) > LONGEST_STEER:
        raise InvalidParams(
            f"say between 1 and {LONGEST_STEER} characters", fields={"text": f"{len(words)} characters"}
        )
    with transaction.atomic():
        heartbeat = Heartbeat.objects.select_for_update(no_key=True).filter(golem=golem).first()
        if heartbeat is None or not heartbeat.is_on:
            raise HeartbeatOff(f"the heartbeat of {golem.name} is off; nobody would read this")
        if len(heartbeat.pending_steers) >= MOST_STEERS:
            raise SteersPending(
                f"{MOST_STEERS} words wait for the next tick already",
                most=MOST_STEERS,
                resets_at=heartbeat.next_tick_at.isoformat(),
            )
        word = {"text": words, "actor": actor, "at": now.isoformat()}
        with connection.cursor() as cursor:
            cursor.execute(_APPEND_SQL, {"word": json.dumps([word]), "golem": golem.pk})
        audit_log.append(
            golem_id=golem.pk,
            event="GolemSteered",
            actor=actor,
            data={"text": words},
            now=now,
            heartbeat_tick=golem.heartbeat_tick,
        )


_APPEND_SQL = f"""
UPDATE {Heartbeat._meta.db_table} SET pending_steers = pending_steers || %(word)s::jsonb WHERE golem_id = %(golem)s
"""  # noqa: S608  (the table's own name)


def tick_soon(*, golem: Golem, now: datetime) -> None:
    """Make the golem due at once. Raises HeartbeatOff."""
    if not tick_claims.make_due(golem_id=golem.pk, now=now):
        raise HeartbeatOff(f"the heartbeat of {golem.name} is off")
