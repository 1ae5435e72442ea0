"""A SafeTx in words: every field its owner signs, and its call decoded. Recomputed from the bytes alone, anywhere."""

from __future__ import annotations

from collections.abc import Mapping
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
from tools_app.chain.signatures import parse_signature
from tools_app.core.units import format_micro_usd
from tools_app.standards.deadline_contract import read_end, say_moment
from tools_app.wording.address_names import name_address
from tools_app.wording.formats import format_chain, format_coin

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
    "0": "call; never a delegate call",
    "1": "MultiSendCallOnly, which makes these calls and nothing else, all or none",
}
NO_END: Final = "what you sign does not end by time"
_KNOWN: Final = {
    parse_signature(text).selector: text
    for text in (*(FUNCTIONS[name] for name in _OWNER_FUNCTIONS), ENABLE_MODULE, DISABLE_MODULE, SET_HANDLER)
}


def read_safe_tx(document: Mapping[str, str]) -> tuple[SafeTx, str, int]:
    """The SafeTx of a request's `safe_tx`, its Safe, and its chain."""
    tx = SafeTx(
        to=document["to"],
        data=bytes.fromhex(document["data"].removeprefix("0x")),
        nonce=int(document["nonce"]),
        value=int(document["value"]),
        operation=int(document.get("operation", "0")),
    )
    return tx, document["safe"], int(document["chain_id"])


def compute_safe_tx_hash(document: Mapping[str, str]) -> bytes:
    """The 32 bytes an owner signs, from the fields alone; never from the hash that stands beside them."""
    tx, safe, chain_id = read_safe_tx(document)
    return hash_safe_tx(tx, safe=safe, chain_id=chain_id)


def build_wallet_document(document: Mapping[str, str]) -> dict[str, object]:
    """What a wallet is given for `eth_signTypedData_v4`."""
    tx, safe, chain_id = read_safe_tx(document)
    return build_typed_data(tx, safe=safe, chain_id=chain_id)


def encode_relay(document: Mapping[str, str], signatures: bytes) -> bytes:
    """Call data of the Safe's execTransaction, for whoever relays it."""
    tx, _, _ = read_safe_tx(document)
    return encode_exec_transaction(tx, signatures=signatures)


def describe_fields(document: Mapping[str, str]) -> list[dict[str, str]]:
    """Every field of the SafeTx by name, as people read it."""
    chain_id = int(document["chain_id"])
    rows = [
        ("Chain", f"{format_chain(chain_id)}, id {chain_id}"),
        ("Safe", show_address(chain_id, document["safe"])),
        ("Nonce of the Safe", document["nonce"]),
        ("Target", document["to"]),
        ("Sends", format_coin(document["value"], chain_id)),
        ("Operation", _OPERATIONS[document.get("operation", "0")]),
        ("Gas, fees and refund", f"0, paid by whoever relays it; refund receiver {ZERO_ADDRESS}"),
        ("What is signed", "0x" + compute_safe_tx_hash(document).hex()),
    ]
    # What was asked for before plans could end has no such line, and its digest none either.
    if "ends_at" in document:
        rows.append(("Ends", say_end(read_end_signed(document))))
    return [{"name": name, "text": text} for name, text in rows]


def read_end_signed(document: Mapping[str, str]) -> int:
    """When what is signed ends by itself, Unix seconds, from its bytes alone; 0 when it does not."""
    tx, _, _ = read_safe_tx(document)
    calls = unpack_calls(tx.data) if tx.operation else None
    return (read_end(calls[0]) or 0) if calls else 0


def say_end(ends_at: int) -> str:
    """The end of what is signed, as people read it."""
    if not ends_at:
        return NO_END
    return f"ends at {say_moment(ends_at)}: from then on nobody can execute it, whoever has the signatures"


def describe_owner_call(document: Mapping[str, str], *, label: str = "") -> dict[str, object]:
    """The call of the SafeTx, decoded as a page shows calls; one inner call per rule of a proposal."""
    chain_id, data = int(document["chain_id"]), document["data"]
    raw = bytes.fromhex(data.removeprefix("0x"))
    if document.get("operation", "0") != "0":
        return _describe_batch(document, raw, label=label)
    signature = _KNOWN.get(raw[:4])
    known = _decode(signature, raw) if signature else None
    if signature is None or known is None:
        plain = {"to": document["to"], "data": data, "value": document["value"]}
        [told] = describe_calls([plain], chain_id=chain_id)
        if not raw and document["to"] == document["safe"]:
            told |= {"function": "nothing: it uses the nonce up", "to_name": "the Safe itself"}
        return {**told, "label": label}
    entry = parse_signature(signature)
    is_proposal = entry.name == "propose"
    arguments = [] if is_proposal else _describe_arguments(entry.name, known, chain_id)
    return {
        "label": label,
        "to": document["to"],
        "to_name": "the Safe itself" if document["to"] == document["safe"] else "the golem's cage",
        "function": entry.name,
        "arguments": arguments,
        "value": format_coin(document["value"], chain_id) if int(document["value"]) else "",
        "data": data,
        "inner": [_describe_rule(document["to"], rule, chain_id) for rule in known["changes"]] if is_proposal else [],
    }


def _describe_batch(document: Mapping[str, str], raw: bytes, *, label: str) -> dict[str, object]:
    chain_id = int(document["chain_id"])
    calls = unpack_calls(raw)
    inner = [_describe_inner(document, each) for each in encode_batch(calls or ())]
    return {
        "label": label,
        "to": document["to"],
        "to_name": name_address(chain_id, document["to"]) or "not registered",
        "function": "multiSend" if calls is not None else "no batch of calls: do not sign it",
        "arguments": [],
        "value": "",
        "data": document["data"],
        "inner": inner,
    }


def _describe_inner(document: Mapping[str, str], call: Mapping[str, object]) -> dict[str, object]:
    """One call of a batch; what the Safe asks of itself or of its cage as it is told where it stands alone."""
    chain_id = int(document["chain_id"])
    is_own = bytes.fromhex(str(call["data"]).removeprefix("0x"))[:4] in _KNOWN
    if str(call["to"]) != document["safe"] and not is_own:
        return describe_calls([call], chain_id=chain_id)[0]
    alone = {**document, "to": str(call["to"]), "value": str(call["value"]), "data": str(call["data"])}
    return describe_owner_call({**alone, "operation": "0"}, label=str(call.get("label", "")))


def _decode(signature: str, raw: bytes) -> dict[str, Any] | None:
    try:
        values = decode_input(signature, raw)
    except AbiDecodeError:
        return None
    return {param.name: value for param, value in zip(parse_signature(signature).inputs, values, strict=True)}


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


def _describe_arguments(function: str, known: Mapping[str, Any], chain_id: int) -> list[dict[str, str]]:
    if function in ("cancelChange", "applyChange"):
        about = name_rule(known["kind"], known["key"], chain_id=chain_id)
        return [{"name": "about", "text": about, "raw": f"{RuleKind(known['kind']).name} 0x{known['key'].hex()}"}]
    if function in ("setSession", "appoint"):
        ends = datetime.fromtimestamp(known["expiresAt"], UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        key = "nobody" if known["key"] == ZERO_ADDRESS else known["key"]
        return [
            *([{"name": "role", "text": str(known["role"]), "raw": str(known["role"])}] if "role" in known else []),
            {"name": "session key", "text": key, "raw": known["key"]},
            {"name": "until", "text": ends, "raw": str(known["expiresAt"])},
            {"name": "operations", "text": f"{known['operations']:,}", "raw": str(known["operations"])},
            {"name": "budget", "text": format_micro_usd(known["budget"]), "raw": str(known["budget"])},
        ]
    return [
        {"name": name, "text": name_address(chain_id, str(value)) or str(value), "raw": str(value)}
        for name, value in known.items()
    ]
