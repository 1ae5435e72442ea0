"""What factories make has the shape of what production writes: a real swap over REST, field by field, in one run.

With `GOLEM_RECORD_FACTORIES=1` the swap's rows are written down for the factories, which take their JSON from them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from django.db.models import Model

from memory_app.models import Episode
from permits_app.actions.remember_outcome import remember_outcome
from permits_app.models import (
    ActionPermit,
    CapabilityGrant,
    NonceReservation,
    OutboundTransaction,
    OutcomeRecord,
    SpendEntry,
)
from tests import factories
from tests.adversary.conftest import SWAP, Adversary
from tests.adversary.conftest import adversary as adversary
from tests.factories.recorded import record
from tools_app.core import clock
from tools_app.core.models import AuditEntry

_OF_A_PERMIT = (
    ActionPermit,
    SpendEntry,
    CapabilityGrant,
    NonceReservation,
    OutboundTransaction,
    OutcomeRecord,
    Episode,
)
_KINDS = (
    ("address", re.compile(r"0x[0-9a-fA-F]{40}")),
    ("hash", re.compile(r"0x[0-9a-f]{64}")),
    ("bytes", re.compile(r"0x[0-9a-f]*")),
    ("integer", re.compile(r"-?\d+")),
    ("word", re.compile(r"[A-Za-z0-9_.:-]+")),
    ("words", re.compile(r".+", re.DOTALL)),
)
_SAYS_THE_SAME = frozenset(
    {
        "engine",
        "fidelity",
        "ground_truth_source",
        "state",
        "status",
        "tool_name",
        "action_type",
        "venue",
        "role",
        "hook",
    }
)
"""Labels of one vocabulary: a swap that went well says these words and no others."""


def test_a_committed_swap_of_the_factories_has_the_shape_of_a_real_one(adversary: Adversary) -> None:
    done = adversary.take(**{**SWAP, "venue": "uniswap"})
    assert done["status"] == "COMMITTED", done
    real = ActionPermit.objects.get(golem=adversary.live.golem)
    remember_outcome(permit_id=real.pk, now=clock.now(), use_model=False)
    if os.environ.get("GOLEM_RECORD_FACTORIES") == "1":
        record(real)
    golem = factories.make_golem(owner=factories.make_owner())
    made = factories.make_committed_permit(golem=golem, api_key=factories.make_api_key(golem=golem).key)
    different: dict[str, str] = {}
    for model in _OF_A_PERMIT:
        theirs, ours = _rows(model, real), _rows(model, made)
        assert theirs and ours, model
        different |= _compare(model.__name__, _fields(theirs), _fields(ours))
    told, said = (AuditEntry.objects.filter(golem_id=each.golem_id) for each in (real, made))
    events = {each.event for each in told if each.data.get("permit_id") == str(real.pk)}
    assert {each.event for each in said if "permit_id" in each.data} <= events
    assert different == {}, "\n".join(f"{place} {what}" for place, what in sorted(different.items()))


def _rows(model: type[Model], permit: ActionPermit) -> list[Any]:
    name = "pk" if model is ActionPermit else "permit_id"
    return list(model._default_manager.filter(**{name: permit.pk}))


def _fields(rows: list[Any]) -> list[dict[str, Any]]:
    return [{each.name: getattr(row, each.attname) for each in row._meta.concrete_fields} for row in rows]


def _compare(place: str, real: list[Any], made: list[Any]) -> dict[str, str]:
    """Where `made` says something that none of `real` says in that shape, or leaves out what all of them say."""
    found: dict[str, str] = {}
    if all(isinstance(each, Mapping) for each in (*real, *made)):
        always = set.intersection(*(set(each) for each in real))
        ever = set.union(*(set(each) for each in real))
        for each in made:
            for key in sorted(always - set(each)):
                found[f"{place}.{key}"] = "is missing"
            for key in sorted(set(each) - ever):
                found[f"{place}.{key}"] = "production has no such key"
        for key in sorted(ever):
            theirs = [each[key] for each in real if key in each]
            ours = [each[key] for each in made if key in each]
            if ours:
                found |= _compare(f"{place}.{key}", theirs, ours)
        return found
    if all(isinstance(each, list | tuple) for each in (*real, *made)):
        theirs, ours = ([one for each in rows for one in each] for rows in (real, made))
        return _compare(f"{place}[]", theirs, ours) if theirs and ours else {}
    kinds, wanted = {_kind(place, each) for each in made}, {_kind(place, each) for each in real}
    if not kinds <= wanted:
        found[place] = f"{sorted(kinds)}, production {sorted(wanted)}"
    return found


def _kind(place: str, value: Any) -> str:
    if isinstance(value, str) and value:
        if place.rpartition(".")[2] in _SAYS_THE_SAME:
            # A sentence may name the block it is about.
            return re.sub(r"\bblock \d+", "block N", value)
        return next(name for name, pattern in _KINDS if pattern.fullmatch(value))
    return "" if value == "" else type(value).__name__
