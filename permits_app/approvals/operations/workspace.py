"""`workspace`: give a live golem's coding more freedom: less that waits, the network, another machine or folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.conf import settings
from django.core.exceptions import ValidationError

from archetypes_app.coding_form import list_loosened
from archetypes_app.models import CodingWorkspace, Golem
from archetypes_app.models.coding_workspace import SETTINGS, WorkspacePlace
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from tools_app.core import audit_log
from tools_app.core.errors import InvalidParams
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.enums import RiskTier

_MACHINE: Final = ("place", "host", "port", "username", "folder")


@dataclass(frozen=True, slots=True)
class _WorkspaceChange:
    """What was asked for, as its request keeps it: every setting by name."""

    before: dict[str, object]
    after: dict[str, object]


@dataclass(frozen=True, slots=True)
class _Network:
    """The setting that the operator may forbid."""

    allows_network: bool


class LoosenWorkspace:
    """`arguments`: every setting of the workspace, as it shall be."""

    name = "workspace"

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From the settings that hold to those asked for. Raises ChangeUnchanged, InvalidParams."""
        before = read_workspace(golem)
        after = CodingWorkspace(golem=golem, **{name: arguments[name] for name in SETTINGS})
        if before.settings == after.settings:
            raise ChangeUnchanged("its workspace is set so already")
        _check(after)
        return Proposal(
            "Change its coding workspace",
            {"before": before.settings, "after": after.settings},
            tuple(list_differences(before, after)),
            RiskTier.HIGH,
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """It is still set as it was when this was asked for, and the operator still allows what it needs."""
        kept = read_stored(_WorkspaceChange, change)
        if read_workspace(golem).settings != kept.before:
            raise ChangeStale("its workspace was changed since")
        if read_stored(_Network, kept.after).allows_network and not settings.GOLEM_CODING_ALLOWS_NETWORK:
            raise ChangeStale("this server's operator does not allow commands the network any more")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Write it; what was previewed before is void by the settings it was given under. Appends WorkspaceSet."""
        row, after = read_workspace(golem), read_stored(_WorkspaceChange, change).after
        for name in SETTINGS:
            setattr(row, name, after[name])
        row.save()
        audit_log.append(
            golem_id=golem.pk, event="WorkspaceSet", actor=actor, data={**change, "reason": reason}, now=now
        )
        return {"workspace": row.where}


def read_workspace(golem: Golem) -> CodingWorkspace:
    """The golem's row, or what holds without one."""
    return CodingWorkspace.objects.filter(golem=golem).first() or CodingWorkspace(golem=golem)


def list_differences(before: CodingWorkspace, after: CodingWorkspace) -> list[BeforeAndAfter]:
    """What changes, in the owner's words, and which of it loosens."""
    loosened = set(list_loosened(before.settings, after.settings))

    def note(name: str) -> str:
        return "loosens" if name in loosened else ""

    lines = []
    if before.needs_owner != after.needs_owner:
        words = (before.get_needs_owner_display(), after.get_needs_owner_display())
        lines.append(BeforeAndAfter("Waits for an owner", *words, note("needs_owner")))
    if before.allows_network != after.allows_network:
        reach = (_tell_network(before), _tell_network(after))
        lines.append(BeforeAndAfter("Commands here reach", *reach, note("allows_network")))
    if any(getattr(before, name) != getattr(after, name) for name in _MACHINE):
        there = "loosens: there the account is the only fence" if loosened & set(_MACHINE) else ""
        lines.append(BeforeAndAfter("It works on", before.where, after.where, there))
    if before.host_key != after.host_key:
        lines.append(BeforeAndAfter("Host key", before.host_key or "none", after.host_key or "none", note("host_key")))
    return lines


def _tell_network(row: CodingWorkspace) -> str:
    return "the network, this server's own services included" if row.allows_network else "no network"


def _check(after: CodingWorkspace) -> None:
    if after.allows_network and not settings.GOLEM_CODING_ALLOWS_NETWORK:
        raise InvalidParams(
            "this server's operator allows commands no network", fields={"allows_network": "leave it off"}
        )
    try:
        after.clean_fields(exclude=["golem"])
    except ValidationError as error:
        fields = {name: "; ".join(told) for name, told in error.message_dict.items()}
        raise InvalidParams("the workspace is not set like this", fields=fields) from None
    missing = [name for name in (*_MACHINE, "host_key") if not getattr(after, name)]
    if after.place == WorkspacePlace.SSH and missing:
        raise InvalidParams("another machine needs more", fields=dict.fromkeys(missing, "another machine needs this"))
