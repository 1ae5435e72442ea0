"""Call data as a sentence: function, named arguments, amounts in units, nested batches opened.

What is not known is left as its selector and size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from tools_app.chain.abi import AbiDecodeError, checksum, decode_input
from tools_app.chain.signatures import AbiParam, parse_signature
from tools_app.standards.deadline_contract import say_moment
from tools_app.standards.loan_callback import read_steps
from tools_app.toolkit.plan import Call
from tools_app.toolkit.protocol import SHELF
from tools_app.wording.address_names import format_token_amount, name_address, name_addresses
from tools_app.wording.call_signatures import NAMED_SIGNATURES, ROUTER_COMMANDS
from tools_app.wording.formats import format_bps, format_coin, format_gas

_UNLIMITED: Final = frozenset({2**256 - 1, 2**160 - 1, 2**128 - 1})
_COMMAND: Final = 0x7F
"""A command of the Universal Router without its flag, which lets it fail alone."""
# Whom a command's recipient means that is one of the router's own two words.
_ROUTERS_WORDS: Final = {f"0x{1:040x}": "the sender", f"0x{2:040x}": "the router"}


@dataclass(frozen=True, slots=True)
class DecodedArgument:
    """One argument as text; `raw` is the exact value and `address` is set when it is one."""

    name: str
    text: str
    raw: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class DecodedCall:
    """One call for a page. `function` is empty when the selector is not known; `inner` are the calls of a batch."""

    label: str
    to: str
    to_name: str
    function: str
    arguments: tuple[DecodedArgument, ...]
    value: str
    gas_limit: int | None
    data: str
    inner: tuple[DecodedCall, ...] = ()

    @property
    def selector(self) -> str:
        """The first four bytes, 0x-hex."""
        return self.data[:10]

    @property
    def gas_limit_text(self) -> str:
        """With separators and unit."""
        return format_gas(self.gas_limit)

    @property
    def data_bytes(self) -> int:
        """Bytes of call data."""
        return max(0, (len(self.data) - 2) // 2)


def decode_call(call: Mapping[str, Any], *, chain_id: int) -> DecodedCall:  # Any: values of the ABI's types
    """A stored call (`to`, `data`, `value`, `label`, `gas_limit`) in words; never raises on odd call data."""
    to = str(call.get("to", ""))
    data = str(call.get("data", "0x")) or "0x"
    value = int(call.get("value", 0) or 0)
    gas = call.get("gas_limit")
    function, arguments, inner = _decode(data, to=to, chain_id=chain_id)
    return DecodedCall(
        label=name_addresses(str(call.get("label", "")), chain_id),
        to=to,
        to_name=name_address(chain_id, to) if to else "",
        function=function,
        arguments=arguments,
        value=format_coin(value, chain_id) if value else "",
        gas_limit=int(gas) if gas not in (None, "") else None,
        data=data,
        inner=inner,
    )


def name_selector(selector: bytes) -> str:
    """The name of a known function, empty for another."""
    signature = _by_selector().get(selector)
    return parse_signature(signature).name if signature is not None else ""


def format_deadline(seconds: int) -> str:
    """A moment in Unix seconds; whatever is further away than the year 3000 is told as that."""
    return say_moment(seconds)


def _decode(data: str, *, to: str, chain_id: int) -> tuple[str, tuple[DecodedArgument, ...], tuple[DecodedCall, ...]]:
    try:
        raw = bytes.fromhex(data.removeprefix("0x"))
    except ValueError:
        return "", (), ()
    announced = read_steps(Call(to, raw, 0, ""))
    if announced is not None:
        lender, steps = announced
        inner = tuple(
            decode_call({"to": each.to, "data": "0x" + each.data.hex(), "value": each.value}, chain_id=chain_id)
            for each in steps
        )
        return "announce", (_argument("lender", lender, named={}, to=to, chain_id=chain_id),), inner
    signature = _by_selector().get(raw[:4]) or _signature_at(to, raw[:4], chain_id)
    if signature is None:
        return "", (), ()
    entry = parse_signature(signature)
    try:
        values = decode_input(signature, raw)
    except AbiDecodeError:
        return entry.name, (), ()
    named = _flatten(entry.inputs, values)
    batch = list(named.pop("calls", ()))
    if "commands" in named:
        batch += _list_commands(named.pop("commands"), named.pop("inputs"))
    inner = tuple(decode_call({"to": to, "data": "0x" + item.hex()}, chain_id=chain_id) for item in batch)
    arguments = tuple(_argument(name, value, named=named, to=to, chain_id=chain_id) for name, value in named.items())
    return entry.name, arguments, inner


def _list_commands(commands: bytes, inputs: Sequence[bytes]) -> list[bytes]:
    """The Universal Router's commands as calls; one that is not known keeps its number in front of its input."""
    found = []
    for command, data in zip(commands, inputs, strict=False):
        signature = ROUTER_COMMANDS.get(command & _COMMAND)
        selector = parse_signature(signature).selector if signature else command.to_bytes(4, "big")
        found.append(selector + data)
    return found


def _flatten(params: Sequence[AbiParam], values: Sequence[Any]) -> dict[str, Any]:  # Any: values of the ABI's types
    named: dict[str, Any] = {}  # Any: values of the ABI's types
    for place, (param, value) in enumerate(zip(params, values, strict=True), 1):
        if param.members and not param.type.endswith("]"):
            named.update(_flatten(param.members, value))
        else:
            # Protocols declare their functions by types alone, where the names say nothing.
            named[param.name or f"argument {place}"] = value
    return named


def _argument(
    name: str,
    value: Any,  # Any: values of the ABI's types
    *,
    named: Mapping[str, object],
    to: str,
    chain_id: int,
) -> DecodedArgument:
    if isinstance(value, str) and value.startswith("0x") and len(value) == 42:
        shown = _ROUTERS_WORDS.get(value.lower()) if name == "recipient" else None
        return DecodedArgument(_spaced(name), shown or name_address(chain_id, value), value, address=value)
    if isinstance(value, bool):
        return DecodedArgument(_spaced(name), "yes" if value else "no", str(value).lower())
    if isinstance(value, bytes):
        hops = _path_hops(value)
        if hops and name in {"path", "reversePath"}:
            return DecodedArgument(_spaced(name), " → ".join(_hop(chain_id, hop) for hop in hops), "0x" + value.hex())
        return DecodedArgument(_spaced(name), f"{len(value)} bytes", "0x" + value.hex())
    if isinstance(value, list | tuple):
        shown = " → ".join(name_address(chain_id, item) or f"{item[:8]}…" for item in value if isinstance(item, str))
        return DecodedArgument(_spaced(name), shown or f"{len(value)} values", ", ".join(str(item) for item in value))
    return DecodedArgument(_spaced(name), _number(name, int(value), named=named, to=to, chain_id=chain_id), str(value))


def _number(name: str, value: int, *, named: Mapping[str, object], to: str, chain_id: int) -> str:
    if value in _UNLIMITED:
        return "everything there is"
    if name in {"deadline", "expiration"}:
        return format_deadline(value)
    if name == "feeTier":
        return f"{format_bps(value)[:-1].rstrip('0')}%" if value % 100 else format_bps(value // 100)
    if name.startswith("sqrtPriceLimit"):
        return "no limit" if value == 0 else f"{value:,}"
    if name.startswith("amountWei"):
        return format_coin(value, chain_id)
    token = _token_of(name, named, to)
    return format_token_amount(chain_id, token, value) if token else f"{value:,}"


def _token_of(name: str, named: Mapping[str, object], to: str) -> str:
    """The token an amount counts: beside it in the struct, at an end of the path, or the token called."""
    hops = _path_of(named)
    for prefix, field, end in (("amountIn", "tokenIn", 0), ("amountOut", "tokenOut", -1)):
        if name.startswith(prefix):
            return str(named.get(field) or (hops[end] if hops else ""))
    for prefix, field in (("amount0", "token0"), ("amount1", "token1"), ("amountMinimum", "token")):
        if name.startswith(prefix):
            return str(named.get(field, ""))
    return str(named.get("token") or named.get("asset") or to) if name == "amount" else ""


def _path_of(named: Mapping[str, object]) -> list[str]:
    path = named.get("path")
    if isinstance(path, list | tuple):
        return [str(item) for item in path]
    if isinstance(path, bytes):
        return [hop for hop in _path_hops(path) if hop.startswith("0x")]
    reverse = named.get("reversePath")
    return [hop for hop in reversed(_path_hops(reverse)) if hop.startswith("0x")] if isinstance(reverse, bytes) else []


def _path_hops(path: bytes) -> list[str]:
    """A V3 path as address, fee, address, …; empty when its length fits no path."""
    if len(path) < 43 or (len(path) - 20) % 23:
        return []
    hops = [checksum("0x" + path[:20].hex())]
    for start in range(20, len(path), 23):
        hops.append(format_bps(int.from_bytes(path[start : start + 3], "big") // 100))
        hops.append(checksum("0x" + path[start + 3 : start + 23].hex()))
    return hops


def _hop(chain_id: int, hop: str) -> str:
    return (name_address(chain_id, hop) or f"{hop[:8]}…") if hop.startswith("0x") else hop


def _spaced(name: str) -> str:
    """`amountOutMinimum` -> `amount out minimum`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name)


def _signature_at(to: str, selector: bytes, chain_id: int) -> str | None:
    """What the protocol that owns the contract calls a function of it."""
    owner = SHELF.of_contract(chain_id, to)
    contracts = owner.contracts if owner is not None else ()
    functions = (each for contract in contracts for each in (*contract.functions, *contract.besides))
    texts = (f"function {each.removeprefix('function ')}" for each in functions)
    return next((each for each in texts if parse_signature(each).selector == selector), None)


@lru_cache(maxsize=1)
def _by_selector() -> dict[bytes, str]:
    return {parse_signature(text).selector: text for text in NAMED_SIGNATURES}
