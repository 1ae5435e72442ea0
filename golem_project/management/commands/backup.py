"""`manage.py backup FOLDER --keys OTHER`: the database, archives, and the keys in a place of their own."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from golem_project.backups.make_backup import make_backup
from tools_app.core import clock
from tools_app.core.errors import GolemError


class Command(BaseCommand):
    """Processes may run meanwhile: the database is written as of one moment."""

    help = "Write a backup into a new folder; the keys go into another one, or are left out."

    def add_arguments(self, parser: CommandParser) -> None:
        """Where to."""
        parser.add_argument("folder", type=Path, help="a new or empty folder")
        parser.add_argument("--keys", type=Path, help="another new folder, kept apart; without it no key is backed up")

    def handle(self, *args: object, folder: Path, keys: Path | None, **options: object) -> None:
        """Write it, and tell what was written."""
        try:
            made = make_backup(folder=folder, keys=keys, now=clock.now())
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from error
        for name, digest in made.files.items():
            self.stdout.write(f"{folder / name}  sha256 {digest}")
        if keys is None:
            self.stdout.write("no key was backed up: without them the wallets in it sign nothing (--keys FOLDER)")
