"""Lies about one account at Aave's code: what a node says of its health, its receipts, its debts, its prices.

A lie changes answers word by word, in single reads, in what the node's own simulation ends with, or in both. One kind
is no word: the node lives in another state, and everything that it says follows from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from eth_abi.abi import decode, encode

from tests.catalogue.stage import Stage
from tests.proof.lying_node import Answers, Ask, Lie, Request, change_answers
from tools_app.chain.abi import checksum, encode_call
from tools_app.chain.networks import MULTICALL3
from tools_app.protocols.aave_v3.addresses import deployments
from tools_app.standards.aave_like import words

Change = Callable[[list[int]], list[int]]
Changes = dict[tuple[str, bytes], Change]
"""What is done to the words of an answer, by contract in lower case and all of the data that asked for it."""

READS, SIMULATION = "eth_call", "eth_simulateV1"
FOLD = 10
"""So many times better than it is."""
MORE_RECEIPTS, LESS_DEBT = 36 * 10**18, 2_700 * 10**6
"""Told beside the truth, the same before and after the calls: what they change is told as it is."""
_LATEST = "function latestRoundData() view returns (uint80,int256,uint256,uint256,uint80)"
_BALANCE = "function balanceOf(address) view returns (uint256)"
_TOKENS = "getReserveTokensAddresses(address)"
_THREE = "(address,address,address)"


@dataclass
class Told:
    """By which methods the lies of a test were really told."""

    methods: set[str]


def list_lies(stage: Stage) -> dict[str, Changes]:
    """By what is lied about; each alone, and all of them."""
    where, world, account = deployments(31337) or {}, stage.world, stage.account
    weth, usdc = (world.tokens[symbol].address for symbol in ("WETH", "USDC"))
    provider = where["data_provider"]
    # A reader of ours would lead the product past the lying node.
    receipt, _, _ = world.rpc.read(provider, _TOKENS, weth, returns=_THREE)
    _, _, debt = world.rpc.read(provider, _TOKENS, usdc, returns=_THREE)

    def of(contract: str, signature: str, *args: str) -> tuple[str, bytes]:
        return contract.lower(), encode_call(signature, *args)

    account_data = of(where["pool"], words.ACCOUNT_DATA, account)
    health: Changes = {account_data: _times(5)}
    room: Changes = {account_data: _times(0, 2, 5)}
    receipts: Changes = {
        of(provider, words.USER_RESERVE, weth, account): _more(MORE_RECEIPTS, 0),
        of(checksum(receipt), _BALANCE, account): _more(MORE_RECEIPTS, 0),
    }
    debts: Changes = {
        of(provider, words.USER_RESERVE, usdc, account): _more(-LESS_DEBT, 2, 4),
        of(checksum(debt), _BALANCE, account): _more(-LESS_DEBT, 0),
    }
    prices: Changes = {
        of(world.tokens["WETH"].feed, _LATEST): _times(1),
        of(where["oracle"], words.ASSET_PRICE, weth): _times(0),
    }
    return {
        "the health factor": health,
        "health and what may be borrowed": room,
        "balances of receipts": receipts,
        "balances of debts": debts,
        "prices": prices,
        "all but prices": {**receipts, **debts, **room},
        "all of it together": {**receipts, **debts, **prices, **room},
    }


def tell(changes: Changes, methods: Iterable[str], told: Told) -> Lie:
    """The lie, told by these methods."""

    def change_read(request: Request, answer: Any) -> Any:
        call = request["params"][0]
        return _bend(changes, call["to"], call.get("data") or call.get("input"), answer, request, told)

    def change_simulation(request: Request, answer: Any) -> Any:
        for block, asked in zip(answer, request["params"][0]["blockStateCalls"], strict=True):
            for row, call in zip(block["calls"], asked["calls"], strict=True):
                _bend_row(changes, call, row, request, told)
        return answer

    by_method = {READS: change_read, SIMULATION: change_simulation}
    lies = [change_answers(method, by_method[method]) for method in methods]

    def lie(requests: list[Request], ask: Ask) -> Any:
        for each in lies:
            ask = _through(each, ask)
        return ask(requests)

    return lie


def live_elsewhere(contract: str, slot: int, word: int) -> Lie:
    """A node in whose state `slot` of `contract` holds `word`: reads, simulations and traces follow from it."""
    laid_over = {contract: {"stateDiff": {f"0x{slot:064x}": f"0x{word:064x}"}}}

    def lie(requests: list[Request], ask: Ask) -> Answers:
        return ask([_elsewhere(request, laid_over) for request in requests])

    def lie_about_slots(request: Request, answer: Any) -> Any:
        address, asked, *_ = request["params"]
        return f"0x{word:064x}" if (address.lower(), int(asked, 16)) == (contract.lower(), slot) else answer

    slots = change_answers("eth_getStorageAt", lie_about_slots)
    return lambda requests, ask: slots(requests, _through(lie, ask))


def find_receipt_slot(stage: Stage, symbol: str) -> tuple[str, int, int]:
    """The receipt's token, the slot in which it keeps the account's balance, and the word there."""
    provider = (deployments(31337) or {})["data_provider"]
    rpc = stage.world.rpc
    receipt = checksum(rpc.read(provider, _TOKENS, stage.world.tokens[symbol].address, returns=_THREE)[0])
    scaled = "scaledBalanceOf(address)"
    held = rpc.read(receipt, scaled, stage.account, returns="(uint256)")[0]
    call = {"to": receipt, "data": "0x" + encode_call(f"function {scaled}", stage.account).hex()}
    found = rpc.call("debug_traceCall", call, "latest", {"tracer": "prestateTracer"})
    for slot, raw in found[receipt.lower()]["storage"].items():
        if int(raw, 16) % 2**128 == held:
            return receipt, int(slot, 16), int(raw, 16)
    raise AssertionError(f"{receipt} keeps the balance nowhere")


def _times(*places: int) -> Change:
    return lambda told: [min(FOLD * word, 2**256 - 1) if at in places else word for at, word in enumerate(told)]


def _more(by: int, *places: int) -> Change:
    return lambda told: [max(0, word + by) if at in places else word for at, word in enumerate(told)]


def _bend(changes: Changes, to: str, data: str, answer: str, request: Request, told: Told) -> str:
    if to.lower() == MULTICALL3.lower():
        return _bend_aggregate(changes, data, answer, request, told)
    change = changes.get((to.lower(), bytes.fromhex(data[2:])))
    raw = bytes.fromhex(answer[2:])
    if change is None or not raw:
        return answer
    told.methods.add(request["method"])
    bent = change([int.from_bytes(raw[at : at + 32], "big") for at in range(0, len(raw), 32)])
    return "0x" + "".join(f"{word:064x}" for word in bent)


def _bend_aggregate(changes: Changes, data: str, answer: str, request: Request, told: Told) -> str:
    """Many reads in one call, and many answers."""
    calls = decode(["(address,bool,bytes)[]"], bytes.fromhex(data[10:]))[0]
    answers = decode(["(bool,bytes)[]"], bytes.fromhex(answer[2:]))[0]
    bent = [
        (ok, bytes.fromhex(_bend(changes, to, "0x" + asked.hex(), "0x" + said.hex(), request, told)[2:]))
        for (to, _, asked), (ok, said) in zip(calls, answers, strict=True)
    ]
    return "0x" + encode(["(bool,bytes)[]"], [bent]).hex()


def _bend_row(changes: Changes, call: dict[str, str], row: dict[str, Any], request: Request, told: Told) -> None:
    """What the simulation's reader asked: a contract's word and the data; it tells a word for the success before it."""
    asked = call["input"][2:]
    if len(asked) <= 64 or int(asked[:24], 16):
        return
    for holder, key in ((row, "returnData"), (row.get("error") or {}, "data")):
        answer = holder.get(key)
        if isinstance(answer, str) and len(answer) > 66:
            rest = "0x" + answer[66:]
            bent = _bend(changes, "0x" + asked[24:64], "0x" + asked[64:], rest, request, told)
            holder[key] = answer[:66] + bent[2:]


def _elsewhere(request: Request, laid_over: dict[str, Any]) -> Request:
    method, params = request["method"], list(request["params"])
    if method == READS:
        return {**request, "params": [*params[:2], laid_over]}
    if method == "debug_traceCall":
        options = params[2]
        overrides = {**laid_over, **options.get("stateOverrides", {})}
        return {**request, "params": [*params[:2], {**options, "stateOverrides": overrides}]}
    if method == SIMULATION:
        payload = dict(params[0])
        payload["blockStateCalls"] = [
            {**block, "stateOverrides": {**laid_over, **block.get("stateOverrides", {})}}
            for block in payload["blockStateCalls"]
        ]
        return {**request, "params": [payload, *params[1:]]}
    return request


def _through(lie: Lie, ask: Ask) -> Ask:
    return lambda requests: lie(requests, ask)
