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

    def handle(self, *args: object, what: str, **options: object) -> None:
        try:
            getattr(self, f"_{what}")(**options)
        except GolemError as error:
            raise CommandError(error.detail) from None

    def _keep(self, *, owner: str, days: int, **_: object) -> None:
        person = _find_owner(owner)
        read_record_archives.set_days(person_id=person.pk, days=days)
        self.stdout.write(f"{person} keeps records at hand for {days} days")

    def _now(self, *, owner: str | None, **_: object) -> None:
        owner_id = _find_owner(owner).pk if owner else None
        done = record_archives.lay_away_old_records(now=clock.now(), owner_id=owner_id)
        self.stdout.write(f"{done.permits} permits laid away in {done.archives} archives")

    def _list(self, *, golem: UUID, **_: object) -> None:
        for row in RecordArchive.objects.filter(golem_id=golem).defer("content").order_by("number"):
            span = f"{row.first_created_at:%Y-%m-%d} to {row.last_created_at:%Y-%m-%d}"
            self.stdout.write(f"{row.number}: {span}, {row.permits} permits, {row.transactions} receipts, {row.sha256}")

    def _verify(self, *, golem: UUID, **_: object) -> None:
        kept = RecordArchive.objects.filter(golem_id=golem)
        numbers = list(kept.order_by("number").values_list("number", flat=True))
        for number in numbers:
            read_record_archives.read_lines(kept.get(number=number))
        self.stdout.write(f"{len(numbers)} archives are as the audit log says")

    def _show(self, *, permit: UUID, **_: object) -> None:
        lines = read_record_archives.read_permit(permit)
        if lines is None:
            raise CommandError("nothing of this permit was laid away")
        for line in lines:
            self.stdout.write(json.dumps(line, indent=2))

    def _back(self, *, golem: UUID, number: int, **_: object) -> None:
        row = record_archives.bring_back(golem_id=golem, number=number, actor="operator:archive", now=clock.now())
        self.stdout.write(f"archive {row.number}: {row.permits} permits, {row.transactions} receipts are whole again")


def _find_owner(name: str) -> Any:  # Any: which model accounts have is a setting
    owner = get_user_model().objects.filter(username=name).first()
    if owner is None:
        raise CommandError(f"there is no {name}")
    return owner
