"""A golem's state in one badge, the same on every page: halted here, halted on its contract, or its phase."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.utils.safestring import SafeString

from archetypes_app.models import Golem
from permits_app.halts.deaths import list_ending
from permits_app.models import CageMirror
from permits_app.permits.request_stages import find_mirrors
from tools_app.pages.html import show_badge


@dataclass(frozen=True, slots=True)
class GolemState:
    """`contract` is None where no contract judges the golem, else whether it is halted on chain."""

    is_halted: bool
    contract: bool | None
    can_act: bool
    phase: str
    is_retired: bool
    is_ending: bool

    @property
    def word(self) -> str:
        """What people are told."""
        if self.is_retired:
            return "retired"
        if self.is_ending:
            return "ends: look at it"
        if self.is_halted:
            return {None: "halted", True: "halted, on chain too", False: "halted here, contract open"}[self.contract]
        if self.contract:
            return "halted on chain"
        return self.phase if self.can_act else "only reads"

    @property
    def is_stopped(self) -> bool:
        """Nothing of it is executed, by this server's word or by the contract's."""
        return self.is_halted or bool(self.contract)

    @property
    def is_at_work(self) -> bool:
        """It may act: nothing stops it, and it has an account."""
        return not self.is_stopped and self.can_act

    def show(self) -> SafeString:
        """As a badge."""
        if self.is_retired:
            return show_badge(self.word, "quiet")
        if self.is_stopped or self.is_ending:
            return show_badge(self.word, "bad")
        return show_badge(self.word, "" if self.can_act else "quiet")


def read_states(golems: Iterable[Golem]) -> dict[object, GolemState]:
    """The state of each of `golems`, by golem, in two queries."""
    rows = list(golems)
    mirrors = find_mirrors({golem.pk for golem in rows})
    ending = list_ending({golem.pk for golem in rows})
    return {golem.pk: _describe(golem, mirrors, golem.pk in ending) for golem in rows}


def read_state(golem: Golem) -> GolemState:
    """The state of one."""
    return read_states([golem])[golem.pk]


def say_contract(state: GolemState) -> str:
    """What the contract does while this server does something else; empty where they agree or there is none."""
    if state.contract and not state.is_halted:
        return "The contract is halted on chain: no batch of the session key runs, although this server did not halt."
    if state.is_halted and state.contract is False:
        return (
            "This server signs nothing, but the contract on chain is still open: whoever holds the session key could"
            " use it elsewhere. Its owners halt the contract with their signature."
        )
    return ""


def _describe(golem: Golem, mirrors: Mapping[UUID, CageMirror], is_ending: bool) -> GolemState:
    mirror = mirrors.get(golem.pk)
    halted = None if mirror is None else bool(mirror.state.get("is_halted"))
    return GolemState(
        golem.is_halted, halted, bool(golem.address), golem.phase, golem.retired_at is not None, is_ending
    )
