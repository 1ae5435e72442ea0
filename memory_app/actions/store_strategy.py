"""Save a named configuration as a new version with its diff. Advice to its own golem: no code takes a limit from it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction

from archetypes_app.models import Golem
from memory_app.directive_text import diff_texts
from memory_app.errors import DirectiveTooLarge, MemoryOwnerUnknown
from memory_app.json_text import dump_toml
from memory_app.models import Strategy
from memory_app.models.provenance import Trust
from memory_app.poison import describe_poison, find_poison
from memory_app.provenance import Provenance
from memory_app.text_cleaning import clean_text
from tools_app.core import audit_log
from tools_app.core.errors import InvalidParams
from tools_app.core.hashing import hash_canonical
from tools_app.core.transaction_retry import retry_aborted

LONGEST_DESCRIPTION = 4_000
MOST_STRATEGIES = 200
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")


@retry_aborted
def store_strategy(
    *,
    golem_id: UUID,
    name: str,
    parameters: Mapping[str, object],
    description: str,
    chains: Sequence[int] = (),
    token_pairs: Sequence[str] = (),
    provenance: Provenance,
    now: datetime,
) -> Strategy:
    """The new version; the newest one unchanged when it says the same. Locks the golem's row for one transaction.

    `parameters` are strings, whole numbers, booleans, lists and objects. A description that tries to steer is stored
    quarantined. Raises InvalidParams, DirectiveTooLarge for a 201st name, MemoryOwnerUnknown.
    """
    check_strategy_name(name)
    text = clean_text(description).strip()
    if not text or len(text) > LONGEST_DESCRIPTION:
        raise InvalidParams(
            "a strategy needs a description", fields={"description": f"1 to {LONGEST_DESCRIPTION} characters"}
        )
    with transaction.atomic():
        if not Golem.objects.select_for_update(no_key=True).filter(pk=golem_id).values_list("pk").first():
            raise MemoryOwnerUnknown(f"there is no golem {golem_id}")
        latest = get_strategy(golem_id=golem_id, name=name)
        fresh = Strategy(
            golem_id=golem_id,
            name=name,
            version=(latest.version if latest else 0) + 1,
            parameters=dict(parameters),
            description=text,
            chains=list(chains),
            token_pairs=list(token_pairs),
            created_at=now,
            **provenance.as_columns(),
        )
        before, after = render_strategy(latest) if latest else "", render_strategy(fresh)
        if latest is not None and before == after:
            return latest
        if latest is None and count_names(golem_id) >= MOST_STRATEGIES:
            raise DirectiveTooLarge(f"a golem keeps at most {MOST_STRATEGIES} strategies; revise one of them")
        fresh.diff = diff_texts(before, after, name=name, version=fresh.version)
        signs = find_poison(f"{description}\n{after}")
        if signs or provenance.trust is Trust.UNTRUSTED:
            fresh.is_quarantined = True
            fresh.quarantine_reason = describe_poison(signs) if signs else "its text came from an untrusted source"
        fresh.save(force_insert=True)
        audit_log.append(
            golem_id=golem_id,
            event="StrategyStored",
            actor=provenance.recorded_by,
            data={
                "strategy_id": str(fresh.pk),
                "name": name,
                "version": str(fresh.version),
                "text_hash": hash_canonical({"text": after}),
                "is_quarantined": fresh.is_quarantined,
            },
            now=now,
        )
    return fresh


def check_strategy_name(name: str) -> None:
    """Raises InvalidParams for what cannot be the name of a strategy, and so of a file."""
    if not _NAME.fullmatch(name):
        raise InvalidParams(
            "strategy_name: lower-case letters, digits, - and _, at most 80",
            fields={"strategy_name": "lower-case letters, digits, - and _, at most 80"},
        )


def get_strategy(*, golem_id: UUID, name: str) -> Strategy | None:
    """The newest version, or None."""
    return Strategy.objects.filter(golem_id=golem_id, name=name).order_by("-version").first()


def list_strategies(*, golem_id: UUID) -> list[Strategy]:
    """The newest version of every strategy, by name, quarantined ones too."""
    rows = Strategy.objects.filter(golem_id=golem_id).order_by("name", "-version").distinct("name")
    return list(rows)


def count_names(golem_id: UUID) -> int:
    """How many strategies the golem keeps."""
    return Strategy.objects.filter(golem_id=golem_id).values("name").distinct().count()


def render_strategy(strategy: Strategy) -> str:
    """A version as TOML; `strategy_files.parse_strategy` reads it back."""
    return dump_toml(
        {
            "name": strategy.name,
            "description": strategy.description,
            "chains": list(strategy.chains),
            "token_pairs": list(strategy.token_pairs),
            "parameters": strategy.parameters,
        }
    )
