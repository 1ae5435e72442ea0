"""`manage.py archive keep | now | list | verify | show | read | back`: old records, laid away and brought back."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any, Final
from uuid import UUID

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from archetypes_app.models import Golem
from permits_app.execution import record_archives
from permits_app.execution.archive_old_rows import lay_away_what_is_old
from permits_app.execution.tick_archives import bring_ticks_back
from permits_app.models import ActionPermit, RecordArchive, TickArchive
from permits_app.permits import read_record_archives, read_tick_archives
from permits_app.permits.read_any_archive import read_any
from tools_app.core import clock
from tools_app.core.audit_archives import read_archive as read_audit_archive
from tools_app.core.errors import GolemError
from tools_app.core.models import AuditArchive
from tools_app.core.page_through import page_through

_ACTOR: Final = "operator:archive"
_ITS_ID: Final = "its id"


class Command(BaseCommand):
    """One act of the operator each; reading and verifying change nothing."""

    help = "Lay away old records (permits, ticks, the audit log), read them again, verify them, and bring them back."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="what", required=True)
        keep = commands.add_parser("keep", help="for how many days an owner keeps records at hand")
        keep.add_argument("owner", help="user name")
        keep.add_argument("days", type=int, help="what is older is laid away")
        now = commands.add_parser("now", help="lay away what is older, as beat does every hour")
        now.add_argument("--owner", help="user name; all without one")
        for name, words in (("list", "a golem's archives"), ("verify", "hold each against the audit log")):
            commands.add_parser(name, help=words).add_argument("golem", type=UUID, help=_ITS_ID)
        show = commands.add_parser("show", help="what one permit was judged on")
        show.add_argument("permit", type=UUID, help=_ITS_ID)
        back = commands.add_parser("back", help="make the rows of an archive of records or ticks whole again")
        read = commands.add_parser("read", help="an archive's lines")
        for each, kinds in ((back, ("records", "ticks")), (read, ("records", "ticks", "audit"))):
            each.add_argument("golem", type=UUID, help=_ITS_ID)
            each.add_argument("number", type=int, help="the archive's, as `archive list` tells it")
            each.add_argument("--of", choices=kinds, default="records", help="what the archive is of")

    def handle(self, *args: object, what: str, golem: UUID | None = None, **options: object) -> None:
        if golem is not None:
            _refuse_unknown_golem(golem)
        of_golem = {} if golem is None else {"golem": golem}
        try:
            getattr(self, f"_{what}")(**options, **of_golem)
        except GolemError as error:
            raise CommandError(error.detail) from None

    def _keep(self, *, owner: str, days: int, **_: object) -> None:
        person = _find_owner(owner)
        read_record_archives.set_days(person_id=person.pk, days=days)
        self.stdout.write(f"{person} keeps records at hand for {days} days")

    def _now(self, *, owner: str | None, **_: object) -> None:
        owner_id = _find_owner(owner).pk if owner else None
        done = lay_away_what_is_old(now=clock.now(), owner_id=owner_id)
        self.stdout.write(f"{done.records.permits} permits laid away in {done.records.archives} archives")
        self.stdout.write(f"{done.ticks.decisions} ticks laid away in {done.ticks.archives} archives")
        self.stdout.write(f"{done.audit.entries} audit entries laid away in {done.audit.archives} archives")
        if done.audit.broken:
            raise CommandError(f"{done.audit.broken} chains of the audit log do not hold and stay; see verify_audit")

    def _list(self, *, golem: UUID, **_: object) -> None:
        golem_id = golem
        kinds = (RecordArchive, TickArchive, AuditArchive)
        if not any(kind.objects.filter(golem_id=golem_id).exists() for kind in kinds):
            self.stdout.write("nothing of it was laid away yet: beat looks every hour for what is old enough")
        for row in RecordArchive.objects.filter(golem_id=golem_id).defer("content").order_by("number"):
            span = f"{row.first_created_at:%Y-%m-%d} to {row.last_created_at:%Y-%m-%d}"
            self.stdout.write(f"{row.number}: {span}, {row.permits} permits, {row.transactions} receipts, {row.sha256}")
        for kept in TickArchive.objects.filter(golem_id=golem_id).defer("content").order_by("number"):
            span = f"{kept.first_decided_at:%Y-%m-%d} to {kept.last_decided_at:%Y-%m-%d}"
            self.stdout.write(f"ticks {kept.number}: {span}, {kept.decisions} ticks, {kept.sha256}")
        for part in AuditArchive.objects.filter(golem_id=golem_id).defer("content").order_by("number"):
            self.stdout.write(f"audit {part.number}: entries {part.first_seq} to {part.last_seq}, {part.sha256}")

    def _verify(self, *, golem: UUID, **_: object) -> None:
        golem_id = golem
        records = RecordArchive.objects.filter(golem_id=golem_id)
        ticks = TickArchive.objects.filter(golem_id=golem_id)
        parts = AuditArchive.objects.filter(golem_id=golem_id)
        for record in page_through(records, by=("number",), page=1):
            read_record_archives.read_lines(record)
        for tick in page_through(ticks, by=("number",), page=1):
            read_tick_archives.read_tick_lines(tick)
        for part in page_through(parts, by=("number",), page=1):
            read_audit_archive(part)
        self.stdout.write(f"{records.count()} archives are as the audit log says")
        self.stdout.write(f"{ticks.count()} archives of ticks are as the audit log says")
        self.stdout.write(f"{parts.count()} archives of the audit log lead to what was signed")

    def _read(self, *, golem: UUID, number: int, of: str, **_: object) -> None:
        golem_id, kind = golem, of
        found = read_any(kind, golem_id=golem_id, number=number)
        if found is None:
            raise CommandError(f"this golem has no archive {number} of {kind}. {_name_those_of(golem_id)}")
        for line in found:
            self.stdout.write(json.dumps(line))

    def _show(self, *, permit: UUID, **_: object) -> None:
        lines = read_record_archives.read_permit(permit)
        if lines is None:
            raise CommandError(_say_where_it_is(permit))
        for line in lines:
            self.stdout.write(json.dumps(line, indent=2))

    def _back(self, *, golem: UUID, number: int, of: str, **_: object) -> None:
        golem_id, kind = golem, of
        model = TickArchive if kind == "ticks" else RecordArchive
        if not model.objects.filter(golem_id=golem_id, number=number).exists():
            raise CommandError(f"this golem has no archive {number} of {kind}. {_name_those_of(golem_id)}")
        if kind == "ticks":
            ticks = bring_ticks_back(golem_id=golem_id, number=number, actor=_ACTOR, now=clock.now())
            self.stdout.write(f"archive of ticks {ticks.number}: {ticks.decisions} ticks are whole again")
            return
        row = record_archives.bring_back(golem_id=golem_id, number=number, actor=_ACTOR, now=clock.now())
        self.stdout.write(f"archive {row.number}: {row.permits} permits, {row.transactions} receipts are whole again")


def _find_owner(name: str) -> Any:  # Any: which model accounts have is a setting
    owner = get_user_model().objects.filter(username=name).first()
    if owner is None:
        raise CommandError(f"no user has the name {name}. Fix: give what they sign in with, not an e-mail address")
    return owner


def _refuse_unknown_golem(golem_id: UUID) -> None:
    # The audit log outlives its golem.
    has_log = AuditArchive.objects.filter(golem_id=golem_id).exists()
    if not has_log and not Golem.objects.filter(pk=golem_id).exists():
        raise CommandError(
            f"there is no golem {golem_id}. Fix: its id stands in the address of its page, /admin/archetypes_app/golem/"
        )


def _name_those_of(golem_id: UUID) -> str:
    return f"Fix: `manage.py archive list {golem_id}` names those it has"


def _say_where_it_is(permit_id: UUID) -> str:
    if ActionPermit.objects.filter(pk=permit_id).exists():
        return (
            "nothing of it was laid away. Fix: read it whole where it stands, "
            f"/admin/permits_app/actionpermit/{permit_id}/change/"
        )
    return (
        f"there is no permit {permit_id}. Fix: its id is the permit_id of what preview_action answered, and stands in "
        "the address of its page, /admin/permits_app/actionpermit/"
    )
