"""The tree of calls inside a plan, for a person: who called whom with what, in words and units where they are known.

Runs on the engine in process, which keeps its frames. Names come from the signatures the caller hands in and from the
chain's own registry; what they do not cover stays a selector. Data of contracts is cleaned and cut, never trusted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from tools_app.chain.abi import AbiDecodeError, checksum, clean_text, decode_input, decode_log, event_topic
from tools_app.chain.chains import get_deployment, get_pool, get_registry
from tools_app.chain.known_events import KNOWN_EVENTS
from tools_app.chain.networks import Network, get_network
from tools_app.chain.node_errors import build_revert
from tools_app.chain.signatures import parse_signature
from tools_app.chain.tokens import TokenRegistry
from tools_app.core.clock import Deadline
from tools_app.core.units import format_units
from tools_app.simulation.engine import SimulationRequest, SimulationUnavailable
from tools_app.simulation.measured_changes import normalise
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import LogEntry, TokenMeta

MOST_FRAMES: Final = 500
"""A plan can make thousands of calls; the first of them show what it does."""
_LONGEST_VALUE: Final = 200
_LONGEST_BYTES: Final = 32
_LONGEST_INPUT: Final = 4_096
_TOKEN_CALLS: Final = {
    parse_signature(text).selector: text
    for text in (
        "function transfer(address to, uint256 value)",
        "function transferFrom(address from, address to, uint256 value)",
        "function approve(address spender, uint256 value)",
        "function balanceOf(address account) view returns (uint256)",
        "function allowance(address owner, address spender) view returns (uint256)",
        "function deposit() payable",
        "function withdraw(uint256 value)",
    )
}
_AMOUNT_NAMES: Final = frozenset({"value", "amount", "wad"})


@lru_cache(maxsize=1)
def _list_events(shelf_version: int) -> dict[str, tuple[str, ...]]:
    """The known events by topic; tokens of both kinds share some."""
    found: dict[str, tuple[str, ...]] = {}
    for text in dict.fromkeys((*KNOWN_EVENTS, *(text for each in SHELF for text in each.events))):
        topic = event_topic(text)
        found[topic] = (*found.get(topic, ()), text)
    return found


def trace_calls(
    request: SimulationRequest, *, deadline: Deadline, signatures: Iterable[str] = ()
) -> list[dict[str, Any]]:  # Any: py-evm leaves it untyped
    """One JSON-ready tree for each call of `request`: integers as decimal text, amounts also in units.

    A frame has `kind`, `sender`, `to`, `name`, `function`, `arguments`, `value_wei`, `value`, `gas_used`, `succeeded`,
    `error`, `input` (cut), `output`, `events`, `calls`. `signatures` are human-readable ABI lines that may name more
    functions. Raises SimulationUnavailable, SimulationTimeout, ChainNotSupported, and what the node raises.
    """
    # py-evm takes most of a second to import; pages that show no trace do not wait for it.
    from tools_app.simulation.pyevm.engine import PyEvmSimulationEngine

    network = get_network(request.chain_id)
    if request.block is None:
        raise SimulationUnavailable("a trace needs the block it is of", chain_id=request.chain_id)
    engine = PyEvmSimulationEngine(network=network, pool=get_pool(request.chain_id))
    block = request.block
    request = normalise(request, block)
    fork = engine.open_fork(request, block, deadline=deadline)
    named = {parse_signature(text).selector: text for text in signatures}
    teller = _Teller(network, get_registry(request.chain_id), named)
    trees = []
    for index, call in enumerate(request.calls):
        done = fork.send(request.sender, call, request.terms, index)
        tree = teller.tell(done.computation)
        trees.append({**tree, "label": call.label, "gas_used": str(done.gas_used)})
    return trees


class _Teller:
    """Puts frames into words."""

    def __init__(self, network: Network, registry: TokenRegistry, named: Mapping[bytes, str]) -> None:
        self._registry = registry
        self._named = named
        contracts = get_deployment(network.chain_id).contracts
        self._names = {checksum(address): name for name, address in contracts.items()}
        self._frames = 0

    def tell(self, frame: Any, *, is_kept: bool = True) -> dict[str, Any]:  # Any: py-evm leaves it untyped
        self._frames += 1
        # What a revert undid was never said to anyone.
        is_kept = is_kept and frame.is_success
        message = frame.msg
        code_address = _address(message.code_address) if message.code_address else ""
        to = _address(message.storage_address) if message.is_create else code_address
        token = self._registry.by_address(to)
        function, arguments = self._read_input(bytes(message.data), token)
        children = []
        for child in frame.children:
            if self._frames >= MOST_FRAMES:
                break
            children.append(self.tell(child, is_kept=is_kept))
        return {
            "kind": _kind_of(message),
            "sender": _address(message.sender),
            "to": to,
            "acts_as": _address(message.storage_address),
            "name": token.symbol if token else self._names.get(to, ""),
            "function": function,
            "arguments": arguments,
            "value_wei": str(message.value),
            "value": format_units(message.value, self._registry.native.decimals, self._registry.native.symbol),
            "gas_used": str(frame.get_gas_used()),
            "succeeded": frame.is_success,
            "error": _error_of(frame),
            "input": "0x" + bytes(message.data)[:_LONGEST_INPUT].hex(),
            "output": _cut("0x" + bytes(frame.output).hex()),
            "events": [self._tell_log(entry) for entry in frame._log_entries] if is_kept else [],
            "calls": children,
            "calls_left_out": len(frame.children) - len(children),
        }

    def _read_input(self, data: bytes, token: TokenMeta | None) -> tuple[str, list[dict[str, str]]]:
        selector = data[:4]
        signature = (_TOKEN_CALLS.get(selector) if token else None) or self._named.get(selector)
        signature = signature or _TOKEN_CALLS.get(selector)
        if len(selector) < 4 or signature is None:
            return ("0x" + selector.hex() if data else ""), []
        entry = parse_signature(signature)
        try:
            values = decode_input(signature, data)
        except AbiDecodeError:
            return f"{entry.name} with malformed arguments", []
        named = {param.name: value for param, value in zip(entry.inputs, values, strict=True)}
        counted = self._registry.by_address(str(named["token"])) if "token" in named else token
        shown = []
        for param, value in zip(entry.inputs, values, strict=True):
            shown.append(
                {"name": param.name, "type": param.type, "value": self._show_value(param.name, value, counted)}
            )
        return entry.name, shown

    def _tell_log(self, entry: tuple[int, bytes, tuple[int, ...], bytes]) -> dict[str, object]:
        _, address, topics, data = entry
        log = LogEntry(
            _address(address), tuple(f"0x{topic:064x}" for topic in topics), "0x" + data.hex(), 0, "", entry[0]
        )
        token = self._registry.by_address(log.address)
        told: dict[str, object] = {
            "address": log.address,
            "name": token.symbol if token else "",
            "event": "",
            "values": {},
        }
        for signature in _list_events(SHELF.version).get(log.topics[0] if log.topics else "", ()):
            values = decode_log(signature, log)
            if values is not None:
                counted = self._registry.by_address(str(values.get("token"))) if "token" in values else token
                shown = {name: self._show_value(name, value, counted) for name, value in values.items()}
                return {**told, "event": parse_signature(signature).name, "values": shown}
        return told

    @staticmethod
    def _show_value(name: str, value: object, token: TokenMeta | None) -> str:
        if token is not None and name in _AMOUNT_NAMES and isinstance(value, int):
            return format_units(value, token.decimals, token.symbol)
        return _cut(clean_text(_show(value)))


def _kind_of(message: Any) -> str:  # Any: py-evm leaves it untyped
    if message.is_create:
        return "CREATE"
    # Code that was named apart from the account it runs for, which may be its own.
    if message._code_address is not None and not message.is_delegation:
        return "DELEGATECALL"
    return "STATICCALL" if message.is_static else "CALL"


def _error_of(frame: Any) -> str | None:  # Any: py-evm leaves it untyped
    if frame.is_success:
        return None
    from tools_app.simulation.pyevm.transaction import describe_error

    output = bytes(frame.output)
    return build_revert(output, message="" if output else describe_error(frame._error)).detail


@lru_cache(maxsize=4096)
def _address(raw: bytes) -> str:
    return checksum("0x" + raw.hex())


def _show(value: Any) -> str:  # Any: py-evm leaves it untyped
    if isinstance(value, bytes):
        return "0x" + value.hex() if len(value) <= _LONGEST_BYTES else f"0x{value[:8].hex()}… ({len(value)} bytes)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple | list):
        return "(" + ", ".join(_show(item) for item in value) + ")"
    return str(value)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}… ({len(text)} characters)"
