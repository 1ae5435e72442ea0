"""`manage.py reset_second_factor USERNAME`: forget the devices of an owner who lost theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from permits_app.approvals.second_factor import forget_devices
from permits_app.approvals.second_factor_notices import BY_OPERATOR, FactorChange, tell_change
from tools_app.core import clock
from tools_app.core.stored_json import read_stored
from tools_app.core.transaction_retry import retry_aborted


@dataclass(frozen=True, slots=True)
class _ResetOptions:
    """Whose, and why."""

    username: str
    reason: str


class Command(BaseCommand):
    """For who runs the server; the audit log of every golem the owner has tells of it."""

    help = "Forget an owner's second factor, so that they can set up another with their password."

    def add_arguments(self, parser: CommandParser) -> None:
        """Whose, and why."""
        parser.add_argument("username", help="whose second factor it is")
        parser.add_argument("--reason", required=True, help="why, for the audit log")

    def handle(self, *args: object, **options: Any) -> None:  # Any: Django hands on what it parsed
        """Forget and tell."""
        given = read_stored(_ResetOptions, options)
        owner = get_user_model()._default_manager.filter(username=given.username).first()
        if owner is None:
            raise CommandError(f"there is no account {options['username']!r}")
        removed = _reset(owner, given.reason)
        self.stdout.write(f"{removed} device(s) forgotten")


@retry_aborted
def _reset(owner: object, reason: str) -> int:
    with transaction.atomic():
        removed = forget_devices(user=owner)
        tell_change(
            owner,
            FactorChange.RESET,
            now=clock.now(),
            data={"reason": reason, "devices": str(removed)},
            actor=BY_OPERATOR,
        )
    return removed
