"""`manage.py archive keep | now | list | verify | show | back`: old records, laid away and brought back."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from permits_app.execution import record_archives
from permits_app.models import RecordArchive
from permits_app.permits import read_record_archives
from tools_app.core import clock
from tools_app.core.errors import GolemError


class Command(BaseCommand):
    """One act of the operator each; reading and verifying change nothing."""

    help = "Lay away what old permits were judged on, read it again, verify it, and bring it back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="what", required=True)
        keep = commands.add_parser("keep", help="for how many days an owner keeps records at hand")
        keep.add_argument("owner", help="user name")
        keep.add_argument("days", type=int)
        now = commands.add_parser("now", help="lay away what is older, as beat does every hour")
        now.add_argument("--owner", help="user name; all without one")
        for name, words in (("list", "a golem's archives"), ("verify", "hold each against the audit log")):
            commands.add_parser(name, help=words).add_argument("golem", type=UUID)
        commands.add_parser("show", help="what one permit was judged on").add_argument("permit", type=UUID)
        back = commands.add_parser("back", help="make the rows of an archive whole again")
        back.add_argument("golem", type=UUID)
        back.add_argument("number", type=int)

    def handle(self, *args: object, **options: object) -> None:
        try:
            getattr(self, f"_{options['what']}")(options)
        except GolemError as error:
            raise CommandError(error.detail) from None

    def _keep(self, options: dict[str, Any]) -> None:  # Any: each option has a type of its own
        owner = _find_owner(options["owner"])
        read_record_archives.set_days(person_id=owner.pk, days=options["days"])
        self.stdout.write(f"{owner} keeps records at hand for {options['days']} days")

    def _now(self, options: dict[str, Any]) -> None:  # Any: each option has a type of its own
        owner_id = _find_owner(options["owner"]).pk if options["owner"] else None
        done = record_archives.lay_away_old_records(now=clock.now(), owner_id=owner_id)
        self.stdout.write(f"{done.permits} permits laid away in {done.archives} archives")

    def _list(self, options: dict[str, Any]) -> None:  # Any: each option has a type of its own
        for row in RecordArchive.objects.filter(golem_id=options["golem"]).defer("content").order_by("number"):
            span = f"{row.first_created_at:%Y-%m-%d} to {row.last_created_at:%Y-%m-%d}"
            self.stdout.write(f"{row.number}: {span}, {row.permits} permits, {row.transactions} receipts, {row.sha256}")

    def _verify(self, options: dict[str, Any]) -> None:  # Any: each option has a type of its own
        kept = RecordArchive.objects.filter(golem_id=options["golem"])
        numbers = list(kept.order_by("number").values_list("number", flat=True))
        for number in numbers:
            read_record_archives.read_lines(kept.get(number=number))
        self.stdout.write(f"{len(numbers)} archives are as the audit log says")

    def _show(self, options: dict[str, Any]) -> None:  # Any: each option has a type of its own
        lines = read_record_archives.read_permit(options["permit"])
        if lines is None:
            raise CommandError("nothing of this permit was laid away")
        for line in lines:
            self.stdout.write(json.dumps(line, indent=2))

    def _back(self, options: dict[str, Any]) -> None:  # Any: each option has a type of its own
        row = record_archives.bring_back(
            golem_id=options["golem"], number=options["number"], actor="operator:archive", now=clock.now()
        )
        self.stdout.write(f"archive {row.number}: {row.permits} permits, {row.transactions} receipts are whole again")


def _find_owner(name: str) -> Any:  # Any: which model accounts have is a setting
    owner = get_user_model().objects.filter(username=name).first()
    if owner is None:
        raise CommandError(f"there is no {name}")
    return owner
