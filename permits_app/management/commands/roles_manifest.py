"""`manage.py roles_manifest GOLEM --roles ADDRESS`: the rules of a golem's cage as permissions of Zodiac Roles v2.

Says where the contract on the chain differs, and writes what the owners of the Safe sign so that it does not: a file as
Safe's transaction builder takes it. Sends nothing.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from archetypes_app.models import Golem
from permits_app.approvals.operations.cage import find_mirror
from permits_app.custody.safe_view import open_chain
from permits_app.models import CageMirror
from permits_app.policy_cage.roles_fence import check_fence, compare_fence, list_calls, read_fence
from permits_app.policy_cage.roles_manifest import build_manifest
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.state import CageState
from tools_app.chain.abi import checksum
from tools_app.chain.signatures import parse_signature
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.toolkit.plan import Call
from tools_app.toolkit.protocol import SHELF


class Command(BaseCommand):
    help = "Hold a Zodiac Roles v2 contract against the rules of a golem's cage, and write what its owners sign."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("golem", help="id of the golem")
        parser.add_argument("--roles", required=True, help="the Roles contract, owned by the Safe and its module")
        parser.add_argument("--since", type=int, default=0, help="the block of its deployment")
        parser.add_argument("--role", default="golem", help="name of the role, at most 32 bytes")
        parser.add_argument("--out", default="", help="where the Safe's transactions are written")

    def handle(self, *args: Any, **options: Any) -> None:
        mirror = _find_cage(options["golem"])
        if mirror is None:
            raise CommandError("no golem of that id has a cage on a chain")
        state, role = CageState.from_dict(mirror.state), options["role"].encode().ljust(32, b"\0")
        if len(role) != 32:
            raise CommandError("a role's name has at most 32 bytes")
        if state.session.key == ZERO_ADDRESS:
            raise CommandError("nobody is appointed in the cage, so nobody would have the role")
        roles = checksum(options["roles"])
        try:
            chain = open_chain(mirror.chain_id, now=clock.now())
            wrong = check_fence(chain, roles, mirror.account)
            if wrong:
                raise CommandError(f"{roles} is no fence of this Safe: {'; '.join(wrong)}")
            now = read_fence(chain, roles, role, since=options["since"])
        except GolemError as error:
            raise CommandError(f"{error.code}: {error.detail}") from None
        manifest = build_manifest(state, list_signatures(mirror.chain_id))
        for line in manifest.left_out:
            self.stdout.write(f"stays closed: {line}")
        for line in manifest.looser:
            self.stdout.write(f"looser than the cage: {line}")
        differences = compare_fence(manifest, state.session.key, now)
        if not differences:
            self.stdout.write(f"{roles} says what the rules of the cage say: {len(manifest.permissions)} functions.")
            return
        for line in differences:
            self.stdout.write(f"differs: {line}")
        calls = list_calls(roles, role, state.session.key, manifest, now)
        self._write(calls, chain_id=mirror.chain_id, safe=mirror.account, out=options["out"])

    def _write(self, calls: list[Call], *, chain_id: int, safe: str, out: str) -> None:
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


def build_document(calls: list[Call], *, chain_id: int, safe: str) -> dict[str, Any]:
    """The calls as Safe's transaction builder reads them; all or none."""
    rows = [{"to": call.to, "value": str(call.value), "data": "0x" + call.data.hex()} for call in calls]
    return {
        "version": "1.0",
        "chainId": str(chain_id),
        "meta": {"name": "Roles of a golem", "createdFromSafeAddress": safe},
        "transactions": rows,
    }


def list_signatures(chain_id: int) -> dict[tuple[str, bytes], str]:
    """The functions that the product's tools call on a chain, by target and selector."""
    return {
        (address, parse_signature("function " + text.removeprefix("function ")).selector): text
        for address, contract in SHELF.contracts_on(chain_id)
        for text in contract.functions
    }
