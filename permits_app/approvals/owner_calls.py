"""A SafeTx in words: every field its owner signs, and its call decoded. Recomputed from the bytes alone, anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from permits_app.approvals.approval_statement import describe_calls
from permits_app.approvals.cage_rules_text import name_rule, show_address, show_rule
from permits_app.permits.plan_store import encode_batch
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import RuleKind
from permits_app.policy_cage.safe_batches import unpack_calls
from permits_app.policy_cage.safe_tx import (
    DISABLE_MODULE,
    ENABLE_MODULE,
    SET_HANDLER,
    ZERO_ADDRESS,
    SafeTx,
    build_typed_data,
    encode_exec_transaction,
    hash_safe_tx,
)
from tools_app.chain.abi import AbiDecodeError, decode_input
from tools_app.chain.signatures import AbiEntry, parse_signature
from tools_app.core.stored_json import read_stored
from tools_app.core.units import format_micro_usd
from tools_app.standards.deadline_contract import read_end, say_moment
from tools_app.toolkit.plan import Call
from tools_app.wording.address_names import name_address
from tools_app.wording.formats import format_chain, format_coin

AbiValues = tuple[Any, ...]  # Any: a value of an ABI is of the type that its signature says

_OWNER_FUNCTIONS: Final = (
    "propose",
    "cancelChange",
    "applyChange",
    "setSession",
    "appoint",
    "halt",
    "resume",
    "acknowledgeDrawdown",
    "notePrices",
)
_OPERATIONS: Final = {
    0: "call; never a delegate call",
    1: "MultiSendCallOnly, which makes these calls and nothing else, all or none",
}
NO_END: Final = "what you sign does not end by time"
_KNOWN: Final = {
    parse_signature(text).selector: text
    for text in (*(FUNCTIONS[name] for name in _OWNER_FUNCTIONS), ENABLE_MODULE, DISABLE_MODULE, SET_HANDLER)
}


@dataclass(frozen=True, slots=True)
class SafeTxFields:
    """The fields of a SafeTx as a request keeps them; `ends_at` in Unix seconds, None of what never told an end."""

    chain_id: int
    safe: str
    nonce: int
    to: str
    value: int
    data: str
    operation: int = 0
    safe_tx_hash: str = ""
    ends_at: int | None = None

    @property
    def raw(self) -> bytes:
        """The call data."""
        return bytes.fromhex(self.data.removeprefix("0x"))

    @property
    def tx(self) -> SafeTx:
        """The transaction that these fields make."""
        return SafeTx(to=self.to, data=self.raw, nonce=self.nonce, value=self.value, operation=self.operation)

    @property
    def target(self) -> str:
        """What it calls, in words."""
        return "the Safe itself" if self.to == self.safe else "the golem's cage"


def read_safe_tx(document: Mapping[str, object]) -> SafeTxFields:
    """Read a request's `safe_tx`. Raises ValueError naming the field that is missing or of another type."""
    return read_stored(SafeTxFields, document)


def compute_safe_tx_hash(document: Mapping[str, object]) -> bytes:
    """Compute the 32 bytes an owner signs, from the fields alone; never from the hash that stands beside them."""
    return _hash(read_safe_tx(document))


def _hash(asked: SafeTxFields) -> bytes:
    return hash_safe_tx(asked.tx, safe=asked.safe, chain_id=asked.chain_id)


def build_wallet_document(document: Mapping[str, object]) -> dict[str, object]:
    """Build what a wallet is given for `eth_signTypedData_v4`."""
    asked = read_safe_tx(document)
    return build_typed_data(asked.tx, safe=asked.safe, chain_id=asked.chain_id)


def encode_relay(document: Mapping[str, object], signatures: bytes) -> bytes:
    """Encode the call data of the Safe's execTransaction, for whoever relays it."""
    return encode_exec_transaction(read_safe_tx(document).tx, signatures=signatures)


def describe_fields(document: Mapping[str, object]) -> list[dict[str, str]]:
    """Describe every field of the SafeTx by name, as people read it."""
    asked = read_safe_tx(document)
    rows = [
        ("Chain", f"{format_chain(asked.chain_id)}, id {asked.chain_id}"),
        ("Safe", show_address(asked.chain_id, asked.safe)),
        ("Nonce of the Safe", str(asked.nonce)),
        ("Target", asked.to),
        ("Sends", format_coin(asked.value, asked.chain_id)),
        ("Operation", _OPERATIONS[asked.operation]),
        ("Gas, fees and refund", f"0, paid by whoever relays it; refund receiver {ZERO_ADDRESS}"),
        ("What is signed", "0x" + _hash(asked).hex()),
    ]
    # What was asked for before plans could end has no such line, and its digest none either.
    if asked.ends_at is not None:
        rows.append(("Ends", say_end(_read_end(asked))))
    return [{"name": name, "text": text} for name, text in rows]


def read_end_signed(document: Mapping[str, object]) -> int:
    """When what is signed ends by itself, Unix seconds, from its bytes alone; 0 when it does not."""
    return _read_end(read_safe_tx(document))


def _read_end(asked: SafeTxFields) -> int:
    calls = unpack_calls(asked.raw) if asked.operation else None
    return (read_end(calls[0]) or 0) if calls else 0


def say_end(ends_at: int) -> str:
    """The end of what is signed, as people read it."""
    if not ends_at:
        return NO_END
    return f"ends at {say_moment(ends_at)}: from then on nobody can execute it, whoever has the signatures"


def describe_owner_call(document: Mapping[str, object], *, label: str = "") -> dict[str, object]:
    """Describe the call of the SafeTx, decoded as a page shows calls; one inner call per rule of a proposal."""
    return _describe_call(read_safe_tx(document), label=label)


def _describe_call(asked: SafeTxFields, *, label: str) -> dict[str, object]:
    if asked.operation:
        return _describe_batch(asked, label=label)
    signature = _KNOWN.get(asked.raw[:4])
    values = _decode(signature, asked.raw) if signature else None
    if signature is None or values is None:
        plain = {"to": asked.to, "data": asked.data, "value": str(asked.value)}
        [told] = describe_calls([plain], chain_id=asked.chain_id)
        if not asked.raw and asked.to == asked.safe:
            told |= {"function": "nothing: it uses the nonce up", "to_name": "the Safe itself"}
        return {**told, "label": label}
    entry = parse_signature(signature)
    is_proposal = entry.name == "propose"
    return {
        "label": label,
        "to": asked.to,
        "to_name": asked.target,
        "function": entry.name,
        "arguments": [] if is_proposal else _describe_arguments(entry, values, asked.chain_id),
        "value": format_coin(asked.value, asked.chain_id) if asked.value else "",
        "data": asked.data,
        "inner": [_describe_rule(asked.to, rule, asked.chain_id) for rule in values[0]] if is_proposal else [],
    }


def _describe_batch(asked: SafeTxFields, *, label: str) -> dict[str, object]:
    calls = unpack_calls(asked.raw)
    return {
        "label": label,
        "to": asked.to,
        "to_name": name_address(asked.chain_id, asked.to) or "not registered",
        "function": "multiSend" if calls is not None else "no batch of calls: do not sign it",
        "arguments": [],
        "value": "",
        "data": asked.data,
        "inner": [_describe_inner(asked, each) for each in calls or ()],
    }


def _describe_inner(asked: SafeTxFields, call: Call) -> dict[str, object]:
    """One call of a batch; what the Safe asks of itself or of its cage as it is told where it stands alone."""
    if call.to != asked.safe and call.data[:4] not in _KNOWN:
        return describe_calls(encode_batch([call]), chain_id=asked.chain_id)[0]
    alone = replace(asked, to=call.to, value=call.value, data="0x" + call.data.hex(), operation=0)
    return _describe_call(alone, label=call.label)


def _decode(signature: str, raw: bytes) -> AbiValues | None:
    try:
        return decode_input(signature, raw)
    except AbiDecodeError:
        return None


def _describe_rule(cage: str, rule: tuple[int, bytes, int], chain_id: int) -> dict[str, object]:
    kind, key, value = rule
    return {
        "label": "",
        "to": cage,
        "to_name": "the golem's cage",
        "function": "rule",
        "arguments": [
            {
                "name": "about",
                "text": name_rule(kind, key, chain_id=chain_id),
                "raw": f"{RuleKind(kind).name} 0x{key.hex()}",
            },
            {"name": "becomes", "text": show_rule(kind, key, value, chain_id=chain_id), "raw": str(value)},
        ],
        "value": "",
        "data": "",
        "inner": [],
    }


def _describe_arguments(entry: AbiEntry, values: AbiValues, chain_id: int) -> list[dict[str, str]]:
    if entry.name in ("cancelChange", "applyChange"):
        kind, key = values
        about = name_rule(kind, key, chain_id=chain_id)
        return [{"name": "about", "text": about, "raw": f"{RuleKind(kind).name} 0x{key.hex()}"}]
    if entry.name in ("setSession", "appoint"):
        *role, key, expires_at, operations, budget = values
        ends = datetime.fromtimestamp(expires_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        return [
            *({"name": "role", "text": str(each), "raw": str(each)} for each in role),
            {"name": "session key", "text": "nobody" if key == ZERO_ADDRESS else key, "raw": key},
            {"name": "until", "text": ends, "raw": str(expires_at)},
            {"name": "operations", "text": f"{operations:,}", "raw": str(operations)},
            {"name": "budget", "text": format_micro_usd(budget), "raw": str(budget)},
        ]
    return [
        {"name": param.name, "text": name_address(chain_id, str(value)) or str(value), "raw": str(value)}
        for param, value in zip(entry.inputs, values, strict=True)
    ]
