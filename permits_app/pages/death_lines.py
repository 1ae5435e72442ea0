"""Says what a golem's page tells of its announced end."""

from __future__ import annotations

from datetime import datetime

from archetypes_app.models import Golem
from permits_app.halts.deaths import find_open_death
from permits_app.models import Death
from permits_app.models.death import DeathState
from permits_app.pages.leftover_dust_lines import say_left
from tools_app.wording.formats import format_age


def describe_death(golem: Golem, *, now: datetime) -> str:
    """What its page says of the open end, or of the one it was retired by; empty without one."""
    if golem.retired_at is not None:
        over = Death.objects.filter(golem=golem, state=DeathState.RETIRED).order_by("-ended_at").first()
        if over is None:
            return ""
        dust = "; ".join(": ".join(say_left(each)) for each in over.left)
        said = f" It left {dust}." if dust else ""
        return f"It ended: {over.reason}.{said} Its last export: {over.export_file} ({over.export_sha256})."
    death = find_open_death(golem.pk)
    if death is None:
        return ""
    if death.state == DeathState.ANNOUNCED and death.due_at > now:
        return f"It ends {format_age(death.due_at, now=now)}: {death.reason}. Then everything is taken out."
    if death.left:
        named = "; ".join(": ".join(say_left(each)) for each in death.left)
        return f"It ends: {death.reason}. This is not out yet: {named}."
    return f"It ends: {death.reason}. Everything is being taken out; only the steps out of it are signed."
