"""A cage beside a Zodiac Roles v2 contract: what its manifest says, where the chain differs, what owners sign."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from permits_app.errors import NobodyAppointed, NotAFence
from permits_app.models import CageMirror
from permits_app.policy_cage.contract import APPROVE
from permits_app.policy_cage.roles_manifest import RolesManifest, build_manifest
from permits_app.policy_cage.safe_tx import ZERO_ADDRESS
from permits_app.policy_cage.state import CageState
from permits_app.policy_cage.zodiac_roles_calls import check_fence, compare_fence, list_calls, read_fence
from tools_app.chain.signatures import parse_signature
from tools_app.core.errors import InvalidParams
from tools_app.core.json_types import JsonObject
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call
from tools_app.toolkit.protocol import SHELF

USUAL_ROLE = "golem"
_CALL: Final = re.compile(r"0x([0-9a-f]{8}) at (0x[0-9A-Fa-f]{40})")


@dataclass(frozen=True, slots=True)
class FenceCheck:
    """A manifest, where the contract at `roles` says something else, and the calls of the Safe that end that."""

    roles: str
    manifest: RolesManifest
    differences: tuple[str, ...]
    calls: tuple[Call, ...]


def read_manifest(mirror: CageMirror) -> RolesManifest:
    """What Roles would say of the key that is appointed in the cage, by the rules that are known here."""
    return build_manifest(CageState.from_dict(mirror.state), list_signatures(mirror.chain_id))


def check_roles(chain: ChainReader, mirror: CageMirror, *, roles: str, role: str, since: int) -> FenceCheck:
    """The contract at `roles`, whose events are read from block `since` on, held against the rules of the cage.

    Raises NotAFence, NobodyAppointed, InvalidParams for a name of more than 32 bytes, and what a node raises.
    """
    key, name = CageState.from_dict(mirror.state).session.key, encode_role(role)
    if key == ZERO_ADDRESS:
        raise NobodyAppointed("nobody is appointed in the cage, so nobody would have the role", cage=mirror.contract)
    wrong = check_fence(chain, roles, mirror.account)
    if wrong:
        raise NotAFence(f"{roles} is no fence of this Safe: {'; '.join(wrong)}", roles=roles, safe=mirror.account)
    now, manifest = read_fence(chain, roles, name, since=since), read_manifest(mirror)
    return FenceCheck(
        roles=roles,
        manifest=manifest,
        differences=tuple(compare_fence(manifest, key, now)),
        calls=tuple(list_calls(roles, name, key, manifest, now)),
    )


def encode_role(name: str) -> bytes:
    """A role's name as Roles keeps it. Raises InvalidParams when it is longer than 32 bytes."""
    raw = name.encode()
    if not raw or len(raw) > 32:
        raise InvalidParams("a role's name has at most 32 bytes", role=name)
    return raw.ljust(32, b"\0")


def build_document(calls: Sequence[Call], *, chain_id: int, safe: str) -> JsonObject:
    """The calls as Safe's transaction builder reads them; all or none."""
    rows = [{"to": call.to, "value": str(call.value), "data": "0x" + call.data.hex()} for call in calls]
    return {
        "version": "1.0",
        "chainId": str(chain_id),
        "meta": {"name": "Roles of a golem", "createdFromSafeAddress": safe},
        "transactions": rows,
    }


def name_functions(lines: Iterable[str], *, chain_id: int) -> list[str]:
    """Lines about calls, each `0x... at 0x...` with the name of its function where the product's tools call it."""
    names = {place: text.partition("(")[0].split()[-1] for place, text in list_signatures(chain_id).items()}

    def name(found: re.Match[str]) -> str:
        selector = bytes.fromhex(found[1])
        told = "approve" if selector == APPROVE else names.get((found[2], selector))
        return f"{told} (0x{found[1]}) at {found[2]}" if told else found[0]

    return [_CALL.sub(name, line) for line in lines]


def list_signatures(chain_id: int) -> dict[tuple[str, bytes], str]:
    """The functions that the product's tools call on a chain, by target and selector."""
    return {
        (address, parse_signature("function " + text.removeprefix("function ")).selector): text
        for address, contract in SHELF.contracts_on(chain_id)
        for text in contract.functions
    }
