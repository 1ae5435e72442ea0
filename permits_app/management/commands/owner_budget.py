"""`manage.py owner_budget`: what all golems of one owner may spend together within 24 h; set it, see it, or end it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from permits_app.limits.ledger import sum_days
from permits_app.limits.owner_budget import list_golems_of, set_budget
from permits_app.models import OwnerBudget
from tools_app.core import clock
from tools_app.core.stored_json import read_stored
from tools_app.core.typed_numbers import UnclearNumber, read_typed_number
from tools_app.core.units import format_micro_usd, usd_to_micro

MOST_USD = 10**9


@dataclass(frozen=True, slots=True)
class _BudgetOptions:
    """Whose budget, and what it becomes."""

    username: str
    usd: str | None
    none: bool


class Command(BaseCommand):
    """Beside each golem's own limits: what leaves by one golem is missing for the others."""

    help = "Set (--usd), end (--none) or show the daily budget over all golems of a person."

    def add_arguments(self, parser: CommandParser) -> None:
        """Whose, and what."""
        parser.add_argument("username", help="whose golems they are")
        parser.add_argument("--usd", help="dollars in 24 hours, such as 2500 or 99.50")
        parser.add_argument("--none", action="store_true", help="no budget beside each golem's own limits")

    def handle(self, *args: object, **options: Any) -> None:  # Any: Django hands on what it parsed
        """Set it, and show what holds."""
        given = read_stored(_BudgetOptions, options)
        person = get_user_model()._default_manager.filter(username=given.username).first()
        if person is None:
            raise CommandError(f"there is no person {options['username']!r}")
        if given.usd is not None and given.none:
            raise CommandError("either --usd or --none")
        if given.usd is not None or given.none:
            micro = self._read(given.usd) if given.usd is not None else None
            set_budget(person=person, per_day_micro_usd=micro, actor="operator:command", now=clock.now())
        budget = OwnerBudget.objects.filter(person=person).first()
        if budget is None:
            self.stdout.write(f"{person.username} has no budget over golems")
            return
        used = sum(sum_days(golem_ids=list_golems_of(budget), now=clock.now()).values())
        self.stdout.write(
            f"{person.username}: {format_micro_usd(budget.per_day_micro_usd)} in 24 hours over"
            f" {len(list_golems_of(budget))} golems, {format_micro_usd(used)} of it used or held"
        )

    def _read(self, text: str) -> int:
        try:
            amount = read_typed_number(text, most_decimals=6, before="$")
        except UnclearNumber as error:
            raise CommandError(str(error)) from None
        if amount > MOST_USD:
            raise CommandError(f"from 0 to {MOST_USD:,} dollars")
        return usd_to_micro(amount)
