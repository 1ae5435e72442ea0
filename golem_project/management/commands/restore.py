"""`manage.py restore FOLDER --keys OTHER`: into an empty database; every golem is held until its owner resumes it."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from golem_project.backups.errors import RestoreRefused
from golem_project.backups.restore_backup import finish_restore, restore_backup
from golem_project.doctor.database import say_what_tables_lack
from permits_app.actions.hold_restored import HeldGolem
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.units import format_micro_usd


class Command(BaseCommand):
    """What waits at the broker is of the time that is gone, and is dropped: its database number must be ours alone."""

    help = "Restore a backup into an empty database, hold every golem, and compare their accounts with the chain."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """What from."""
        parser.add_argument("folder", nargs="?", type=Path, help="what `backup` wrote")
        parser.add_argument("--keys", type=Path, help="where it wrote the keys; without it those of this server stay")
        parser.add_argument("--finish", action="store_true", help="go on with a restore that did not come to its end")

    def handle(self, *args: object, folder: Path | None, keys: Path | None, finish: bool, **options: object) -> None:
        """Restore, and tell what is unknown of each golem."""
        if finish == (folder is not None):
            raise CommandError("name the folder of a backup, or --finish")
        try:
            if folder is None:
                held = finish_restore(now=clock.now())
            else:
                lack = say_what_tables_lack()
                if lack:
                    raise RestoreRefused(f"nothing was changed: {lack}")
                restored = restore_backup(folder=folder, keys=keys, now=clock.now())
                self.stdout.write(f"restored the backup of {restored.made_at.isoformat()}, version {restored.version}")
                held = restored.held
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from error
        for each in held:
            self.stdout.write(self._describe(each))
        left = [each.name for each in held if not each.is_compared]
        if left:
            raise CommandError(
                f"{len(left)} golems could not be compared with their chain, and no process starts until they are: "
                "once its node answers, run `manage.py restore --finish`"
            )

    def _describe(self, held: HeldGolem) -> str:
        if not held.is_compared:
            return f"{held.name}: held; not compared ({held.trouble})"
        if not held.gaps:
            return f"{held.name}: held; its accounts sent nothing that is not known here"
        gaps = ", ".join(f"{gap.count} from nonce {gap.first} of {gap.address} on {gap.chain_id}" for gap in held.gaps)
        return f"{held.name}: held; unknown here: {gaps}; {format_micro_usd(held.counted_micro_usd)} counted for them"
