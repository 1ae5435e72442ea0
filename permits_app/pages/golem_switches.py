"""Says a golem's two switches alike on every page: whether its agent keys spend and whether its heartbeat acts."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from tools_app.pages.html import show_badge


@dataclass(frozen=True, slots=True)
class Switches:
    """Each switch in words."""

    keys: str
    heartbeat: str


def say_switches(golem: Golem, *, is_beating: bool) -> Switches:
    """`is_beating` says whether its heartbeat is on at all."""
    acting = "heartbeat acts" if golem.is_live else "heartbeat rehearses"
    return Switches(
        keys="agent keys may spend" if golem.may_keys_spend else "agent keys only preview",
        heartbeat=acting if is_beating else "heartbeat off",
    )


def show_heartbeat(golem: Golem, *, is_beating: bool) -> SafeString:
    """Whether the heartbeat acts, as a badge."""
    if not is_beating:
        return show_badge("off")
    return show_badge("acts", "good") if golem.is_live else show_badge("rehearses", "info")


def show_keys(golem: Golem) -> SafeString:
    """Whether agent keys may spend, as a badge."""
    return show_badge("keys may spend", "good") if golem.may_keys_spend else show_badge("keys only preview", "info")
