"""The JSON of one real swap, as production wrote it: what the factories of permits start from."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import JSONField, Model

from memory_app.models import Episode
from permits_app.models import ActionPermit, OutboundTransaction, OutcomeRecord, SpendEntry

FILE: Final = Path(__file__).with_name("recorded_swap.json")
_ACCOUNT: Final = "0x" + "aC" * 20
"""Stands for the golem's account."""


def record(permit: ActionPermit) -> None:
    """Write down the JSON columns of a committed permit and of the rows it left."""
    rows: list[Model] = [
        permit,
        SpendEntry.objects.get(permit=permit),
        OutboundTransaction.objects.filter(permit=permit).latest("nonce"),
        OutcomeRecord.objects.get(permit=permit),
        Episode.objects.get(permit_id=permit.pk),
    ]
    found = {
        row._meta.object_name: {
            each.name: getattr(row, each.attname)
            for each in row._meta.concrete_fields
            if isinstance(each, JSONField) and getattr(row, each.attname)
        }
        for row in rows
    }
    text = json.dumps(found, cls=DjangoJSONEncoder, indent=1, sort_keys=True)
    for spelled in (permit.signer, permit.signer.lower()):
        text = text.replace(spelled, _ACCOUNT)
    FILE.write_text(text + "\n", encoding="utf-8")


def recorded(model: type[Model], column: str, *, account: str, told: Any = None) -> Any:
    """What production wrote into a column, for `account`, with what is `told` in the place of what stands there."""
    found = json.loads(_read().replace(_ACCOUNT, account))[model._meta.object_name][column]
    return merge(found, told) if told is not None else found


def merge(known: Any, told: Any) -> Any:
    """`known` with the values of `told`, key by key; lists and plain values are replaced."""
    if isinstance(known, Mapping) and isinstance(told, Mapping):
        kept = {key: copy.deepcopy(value) for key, value in known.items() if key not in told}
        return kept | {key: merge(known.get(key), value) for key, value in told.items()}
    return told


@lru_cache(maxsize=1)
def _read() -> str:
    return FILE.read_text(encoding="utf-8")
