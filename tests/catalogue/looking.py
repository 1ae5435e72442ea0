"""Carries read cases out: asks as an agent would, and holds what is told to what the case works out another way."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, get_type_hints

from eth_abi.abi import decode
from jsonschema import Draft202012Validator

from archetypes_app.toolset import view_golem
from tests.bench.shelf import counted
from tests.catalogue.declared_refusals import list_unknown_tokens
from tests.catalogue.orders import find_out_of_order
from tests.catalogue.services import lend_services
from tests.catalogue.shelf import CHAIN_ID
from tests.catalogue.specified import list_missing
from tests.catalogue.stage import Stage, address_of, is_near
from tests.evm.world import World
from tools_app.chain.abi import encode_call, event_topic
from tools_app.chain.signatures import parse_signature
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.runner import run_read
from tools_app.toolkit.answer import OfChain
from tools_app.toolkit.case import About, ReadCase
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

_PLACE = re.compile(r"\[(\w+)=([^\]]*)\]|([^.\[\]]+)")
_NOTHING = object()
_ROUND = "function latestRoundData() view returns (uint80,int256,uint256,uint256,uint80)"


@dataclass
class RawLook:
    """The chain past the product's readers: one `eth_call` each, through the world's own client."""

    stage: Stage
    protocol: str
    chain_id: int = CHAIN_ID

    @property
    def account(self) -> str:
        return self.stage.account

    def call(self, to: str, signature: str, *args: Any) -> Any:
        data = "0x" + encode_call(signature, *args).hex()
        raw = self.stage.world.rpc.call("eth_call", {"to": to, "data": data}, "latest")
        values = decode(parse_signature(signature).output_types, bytes.fromhex(raw[2:]))
        return values[0] if len(values) == 1 else values

    def at(self, key: str) -> str:
        protocol = SHELF.get(self.protocol)
        assert protocol is not None
        address = protocol.address(CHAIN_ID, key)
        assert address is not None, f"{self.protocol} has no {key}"
        return address

    def token(self, symbol: str) -> str:
        return address_of(symbol)

    def balance(self, symbol: str, account: str = "") -> int:
        rpc, whose = self.stage.world.rpc, account or self.account
        if symbol == "ETH":
            return int(rpc.call("eth_getBalance", whose, "latest"), 16)
        return int(rpc.balance_of(address_of(symbol), whose))

    def price(self, symbol: str) -> int:
        feed = self.stage.world.tokens["WETH" if symbol == "ETH" else symbol].feed
        return int(self.call(feed, _ROUND)[1])

    def logs(self, address: str, event: str) -> Sequence[tuple[int, Sequence[int]]]:
        return read_logs(self.stage.world, address, event)

    def gas_price(self) -> tuple[int, int]:
        """By EIP-1559 from the newest header, and from the receipts of ten blocks; asked of no fee history."""
        rpc = self.stage.world.rpc
        head = rpc.call("eth_getBlockByNumber", "latest", False)
        base, used, target = (int(head[key], 16) for key in ("baseFeePerGas", "gasUsed", "gasLimit"))
        target //= 2
        change = base * abs(used - target) // target // 8
        paid = []
        for number in range(max(0, self.block - 9), self.block + 1):
            own = int(rpc.call("eth_getBlockByNumber", hex(number), False)["baseFeePerGas"], 16)
            receipts = rpc.call("eth_getBlockReceipts", hex(number))
            paid += [tip for tip in (middle_tip(receipts, own),) if tip > 0]
        tip = sorted(paid)[(len(paid) - 1) // 2] if paid else int(rpc.call("eth_maxPriorityFeePerGas"), 16)
        return base + max(1, change) if used > target else base - change, tip

    def told(self, key: str) -> Any:
        return self.stage.told[key]

    @property
    def now(self) -> int:
        return int(self.stage.world.timestamp())

    @property
    def block(self) -> int:
        return int(self.stage.world.rpc.call("eth_blockNumber"), 16)


def read_logs(world: World, address: str, event: str) -> list[tuple[int, list[int]]]:
    """Each log as (time of its block, words of its data), asked of the node itself."""
    asked = {"address": address, "topics": [event_topic(event)], "fromBlock": "0x0", "toBlock": "latest"}
    found = world.rpc.call("eth_getLogs", asked)
    numbers = list(dict.fromkeys(log["blockNumber"] for log in found))
    blocks = world.rpc.call_all([("eth_getBlockByNumber", [number, False]) for number in numbers])
    times = {number: int(block["timestamp"], 16) for number, block in zip(numbers, blocks, strict=True)}
    return [(times[log["blockNumber"]], _split(log["data"][2:])) for log in found]


def _split(data: str) -> list[int]:
    return [int(data[place : place + 64], 16) for place in range(0, len(data), 64)]


def middle_tip(receipts: Sequence[Mapping[str, str]], base_fee: int) -> int:
    """What was paid above the base fee by whoever used the middle of a block's gas; nothing in an empty block."""
    tips = sorted((int(each["effectiveGasPrice"], 16) - base_fee, int(each["gasUsed"], 16)) for each in receipts)
    left = sum(gas for _, gas in tips) / 2
    for tip, gas in tips:
        left -= gas
        if left <= 0:
            return tip
    return 0


def ask(stage: Stage, case: ReadCase, **changes: Any) -> Any:
    """The answer's data, as an agent gets it. Raises GolemError."""
    tool = find_read(case)
    lend_services(stage.live, tool)
    params = stage.params(case, **changes)
    return run_read(tool=tool, params=params, golem=view_golem(stage.live.golem), now=clock.now()).data


def find_read(case: ReadCase) -> ReadTool:
    """The tool a case asks."""
    tool = REGISTRY.get(case.tool)
    assert isinstance(tool, ReadTool), f"{case.tool} is no read"
    return tool


@contextmanager
def among(names: Collection[str]) -> Iterator[None]:
    """Only these protocols are on the shelf; all where none is named. Others stand on the chain that tests share."""
    everything = tuple(SHELF)
    for each in everything if names else ():
        SHELF.remove(each.name)
    try:
        for each in everything if names else ():
            if each.name in names:
                SHELF.add(each)
        yield
    finally:
        for each in everything if names else ():
            SHELF.remove(each.name)
            SHELF.add(each)


def find_wrong_told(stage: Stage, case: ReadCase, protocol: str) -> list[str]:
    """What is not true of a read case whose beginnings are prepared, in words with the case's name."""
    with among(case.among):
        return _find_wrong_told(stage, case, protocol)


def _find_wrong_told(stage: Stage, case: ReadCase, protocol: str) -> list[str]:
    first = ask(stage, case)
    with counted() as exchanges:
        data = ask(stage, case)
    written = len(json.dumps(data))
    look = RawLook(stage, protocol)
    schema = Draft202012Validator(find_read(case).schema)
    wrong = [f"its own schema: {error.message}" for error in schema.iter_errors(stage.params(case))]
    if first.keys() != data.keys():
        wrong.append("asked twice it tells other things")
    wrong += [f"the answer lacks {field}, which was specified" for field in list_missing(case.tool, data)]
    wrong += find_out_of_order(case.tool, data)
    wrong += _find_wrong_place(find_read(case), data, look)
    if len(exchanges) > case.most_exchanges:
        wrong.append(f"it took {len(exchanges)} exchanges with the node, and the case says {case.most_exchanges}")
    if written > case.most_characters:
        wrong.append(f"the answer has {written} characters, and the case says {case.most_characters}")
    for path, wanted in case.tells.items():
        expected = wanted(look) if callable(wanted) else stage.fill(wanted)
        found = find_at(data, path)
        if not is_same(found, expected):
            shown = "nothing" if found is _NOTHING else repr(found)
            wrong.append(f"{path} is {shown[:300]}, and worked out another way {expected!r}")
    for changes, code in (*case.refuses, *list_unknown_tokens(find_read(case), case.params)):
        try:
            ask(stage, case, **changes)
        except GolemError as error:
            if error.code != code:
                wrong.append(f"{dict(changes)} is refused with {error.code}: {error.detail}")
        else:
            wrong.append(f"{dict(changes)} passes")
    return [f"{case.id}: {each}" for each in wrong]


def _find_wrong_place(tool: ReadTool, data: Any, look: RawLook) -> list[str]:
    """What every answer of a chain tells, whatever its case says: the newest block, and whose contracts stand there."""
    told = get_type_hints(tool.handler).get("return")
    if not isinstance(told, type) or not issubclass(told, OfChain):
        return []
    found = [] if data["block_number"] == look.block else [f"block_number is {data['block_number']}"]
    if SHELF.is_simulated(look.protocol, CHAIN_ID) != data.get("is_simulated", False):
        found.append("is_simulated is not what its protocol says of the local chain")
    return found


def find_at(data: Any, path: str) -> Any:
    """The value of an answer at a path; `_NOTHING` where there is none. `#` counts the members of a list."""
    found = data
    for name, value, plain in _PLACE.findall(path):
        if plain == "#" and isinstance(found, list):
            found = len(found)
        elif name and isinstance(found, list):
            found = next((each for each in found if str(find_at(each, name)) == value), _NOTHING)
        elif isinstance(found, list) and plain.isdecimal():
            found = found[int(plain)] if int(plain) < len(found) else _NOTHING
        else:
            found = found.get(plain, _NOTHING) if isinstance(found, Mapping) else _NOTHING
    return found


def is_same(found: Any, wanted: Any) -> bool:
    """Whether what is told is what was worked out: digits as text are the number, and `About` is near."""
    if isinstance(wanted, About):
        return isinstance(found, int | str) and is_number(found) and is_near(as_number(found), wanted, rounding=0)
    if type(wanted) is int and isinstance(found, str):
        return found == str(wanted)
    if isinstance(wanted, tuple):
        wanted = list(wanted)
    if isinstance(wanted, Sequence) and not isinstance(wanted, str) and isinstance(found, list):
        return len(found) == len(wanted) and all(map(is_same, found, wanted))
    return bool(found == wanted and type(found) is type(wanted))


def is_number(text: Any) -> bool:
    """Whether it is a number, or one as text."""
    return re.fullmatch(r"-?\d+(\.\d+)?%?", str(text)) is not None


def as_number(text: Any) -> Any:
    """A number as text, exactly: millionths where it has a point."""
    whole = str(text).rstrip("%")
    if "." not in whole:
        return int(whole)
    before, _, after = whole.partition(".")
    return int(before + after.ljust(6, "0")[:6])
