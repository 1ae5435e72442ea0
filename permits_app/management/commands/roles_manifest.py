"""`manage.py roles_manifest GOLEM --roles ADDRESS`: the rules of a golem's cage as permissions of Zodiac Roles v2.

Says where the contract on the chain differs, and writes what the owners of the Safe sign so that it does not: a file as
Safe's transaction builder takes it. Sends nothing.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from archetypes_app.models import Golem
from permits_app.approvals.operations.cage import find_mirror
from permits_app.custody.safe_view import open_chain
from permits_app.models import CageMirror
from permits_app.policy_cage.roles_check import USUAL_ROLE, build_document, check_roles
from tools_app.chain.abi import checksum
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.plan import Call


@dataclass(frozen=True, slots=True)
class _RolesOptions:
    """Of which golem, against which contract, written where."""

    golem: str
    roles: str
    role: str
    since: int
    out: str


class Command(BaseCommand):
    help = "Hold a Zodiac Roles v2 contract against the rules of a golem's cage, and write what its owners sign."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("golem", help="id of the golem")
        parser.add_argument("--roles", required=True, help="the Roles contract, owned by the Safe and its module")
        parser.add_argument("--since", type=int, default=0, help="the block of its deployment")
        parser.add_argument("--role", default=USUAL_ROLE, help="name of the role, at most 32 bytes")
        parser.add_argument("--out", default="", help="where the Safe's transactions are written")

    def handle(self, *args: Any, **options: Any) -> None:  # Any: Django hands on what it parsed
        given = read_stored(_RolesOptions, options)
        mirror = _find_cage(given.golem)
        if mirror is None:
            raise CommandError("no golem of that id has a cage on a chain")
        try:
            chain = open_chain(mirror.chain_id, now=clock.now())
            roles = checksum(given.roles)
            check = check_roles(chain, mirror, roles=roles, role=given.role, since=given.since)
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from None
        for line in check.manifest.left_out:
            self.stdout.write(f"stays closed: {line}")
        for line in check.manifest.looser:
            self.stdout.write(f"looser than the cage: {line}")
        if not check.differences:
            functions = len(check.manifest.permissions)
            self.stdout.write(f"{roles} says what the rules of the cage say: {functions} functions.")
            return
        for line in check.differences:
            self.stdout.write(f"differs: {line}")
        self._write(check.calls, chain_id=mirror.chain_id, safe=mirror.account, out=given.out)

    def _write(self, calls: Sequence[Call], *, chain_id: int, safe: str, out: str) -> None:
        document = json.dumps(build_document(calls, chain_id=chain_id, safe=safe), indent=1)
        if out:
            Path(out).write_text(document + "\n", encoding="utf-8")
            self.stdout.write(f"{len(calls)} calls for the owners of {safe} to sign: {out}")
        else:
            self.stdout.write(document)


def _find_cage(golem_id: str) -> CageMirror | None:
    try:
        golem = Golem.objects.filter(pk=UUID(golem_id)).first()
    except ValueError:
        return None
    return find_mirror(golem) if golem is not None else None
