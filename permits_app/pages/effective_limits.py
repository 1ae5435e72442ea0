"""Every limit of one golem as it holds now, with where its value comes from: this server, its owner, or a profile."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.db import models

from archetypes_app.models import Golem
from archetypes_app.profiles import list_effective_profiles, writes_per_hour_cap
from permits_app.models import PolicyCage, SpendingLimits
from permits_app.models.spending import AllowlistMode
from tools_app.core.units import format_micro_usd
from tools_app.wording.formats import format_percent, format_span

FROM_SERVER: Final = "default of this server"
FROM_OWNER: Final = "set for this golem"
_ALLOWED: Final = {
    AllowlistMode.STRICT: "only what is listed",
    AllowlistMode.WARN: "all; what is not listed is noted in the permit",
    AllowlistMode.OFF: "off",
}

_OF_THE_ROW_ITSELF: Final = frozenset({"id", "golem", "created_at", "updated_at"})


@dataclass(frozen=True, slots=True)
class EffectiveLimit:
    """One limit: the column it is in, its words, its value for people, and its source.

    `default` is what a new golem has. `row` is "limits", "cage" or "golem".
    """

    row: str
    name: str
    words: str
    value: str
    default: str
    source: str


def list_effective_limits(golem: Golem) -> tuple[EffectiveLimit, ...]:
    """The golem's limits, cage and permit life; a golem without rows has the defaults. Changes nothing."""
    limits = SpendingLimits.objects.filter(golem=golem).first() or SpendingLimits(golem=golem)
    cage = PolicyCage.objects.filter(golem=golem).first() or PolicyCage(golem=golem)
    found = [*_describe_row("limits", limits), *_describe_row("cage", cage)]
    found += _describe_fields("golem", golem, [Golem._meta.get_field("permit_ttl_seconds")])
    return tuple(_cap_writes(golem, limit) for limit in found)


def _cap_writes(golem: Golem, limit: EffectiveLimit) -> EffectiveLimit:
    cap = writes_per_hour_cap(golem) if limit.name == "writes_per_hour" else None
    if cap is None or int(limit.value) <= cap:
        return limit
    names = ", ".join(profile.name for profile in list_effective_profiles(golem) if profile.is_conservative)
    return EffectiveLimit(
        limit.row, limit.name, limit.words, str(cap), limit.default, f"capped by the profile {names}; {limit.source}"
    )


def _describe_row(row: str, record: models.Model) -> Iterable[EffectiveLimit]:
    fields = [field for field in record._meta.concrete_fields if field.name not in _OF_THE_ROW_ITSELF]
    return _describe_fields(row, record, fields)


def _describe_fields(
    row: str,
    record: models.Model,
    fields: Iterable[models.Field[Any, Any]],  # Any: a column may hold anything
) -> Iterable[EffectiveLimit]:
    for field in fields:
        if not field.has_default():
            continue
        value, default = field.value_from_object(record), field.get_default()
        yield EffectiveLimit(
            row=row,
            name=field.name,
            words=str(field.help_text or field.verbose_name),
            value=_show(field.name, value),
            default=_show(field.name, default),
            source=FROM_SERVER if value == default else FROM_OWNER,
        )


def _show(name: str, value: Any) -> str:  # Any: a value of any column
    if isinstance(value, bool):
        return "on" if value else "off"
    if name.endswith("_micro_usd"):
        return format_micro_usd(int(value))
    if name.endswith("_bps"):
        return format_percent(int(value))
    if name.endswith("_seconds"):
        return format_span(int(value))
    if name == "allowlist_mode":
        return _ALLOWED[AllowlistMode(value)]
    return str(value)
