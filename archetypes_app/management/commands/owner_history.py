"""`manage.py owner_history`: how many days the logs are kept that golems of one owner have followed."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from archetypes_app.log_retention import set_log_days
from tools_app.core.errors import InvalidParams
from tools_app.models import OwnerHistory


class Command(BaseCommand):
    """What others want as well is kept as long as the longest of them keeps it."""

    help = "Set (--days), end (--none) or show how long logs of a person's golems are kept."

    def add_arguments(self, parser: CommandParser) -> None:
        """Whose, and how long."""
        parser.add_argument("username", help="whose golems they are")
        parser.add_argument("--days", type=int, help="days, such as 14")
        parser.add_argument("--none", action="store_true", help="as long as this server keeps anybody's")

    def handle(self, *args: object, username: str, days: int | None, none: bool, **options: object) -> None:
        """Set it, and show what holds."""
        person = get_user_model()._default_manager.filter(username=username).first()
        if person is None:
            raise CommandError(f"there is no person {username!r}")
        if days is not None and none:
            raise CommandError("either --days or --none")
        try:
            if days is not None or none:
                set_log_days(person=person, days=days)
        except InvalidParams as error:
            raise CommandError(error.detail) from None
        kept = OwnerHistory.objects.filter(person=person).first()
        kept_days = settings.GOLEM_HISTORY_LOG_DAYS if kept is None else kept.log_days
        self.stdout.write(f"{person.username}: logs that golems have followed are kept for {kept_days} days")
