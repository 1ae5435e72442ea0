"""Lies about one account at a lender: its health, its cover, its debts, the index of its shares, margins and prices.

A lie changes answers word by word, in single reads, in what the node's own simulation ends with, or in both. One kind
is no word: the node lives in another state, and everything that it says follows from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from eth_abi.abi import decode, encode

from tests.catalogue.stage import Stage
from tests.proof.lying_node import Answers, Ask, Lie, Request, change_answers
from tools_app.chain.abi import checksum, encode_call
from tools_app.chain.networks import MULTICALL3
from tools_app.protocols.compound_v3 import signatures as comet_words
from tools_app.protocols.compound_v3.addresses import deployments as compound
from tools_app.protocols.maker_sky import reads as maker_reads
from tools_app.protocols.maker_sky.addresses import deployments as maker
from tools_app.protocols.moonwell import signatures as moonwell_words
from tools_app.protocols.moonwell.addresses import deployments as moonwell
from tools_app.protocols.morpho_blue import reads as morpho_reads
from tools_app.protocols.morpho_blue.addresses import LOCAL as MORPHO
from tools_app.protocols.morpho_blue.addresses import known_markets
from tools_app.standards.aave_like import signatures

Change = Callable[[list[int]], list[int]]
Changes = dict[tuple[str, bytes], Change]
"""What is done to the words of an answer, by contract in lower case and all of the data that asked for it."""

READS, SIMULATION = "eth_call", "eth_simulateV1"
FOLD = 10
"""So many times better than it is."""
TOGETHER = "all of it together"
ALL_BUT_PRICES = "all but prices"
_LATEST = "function latestRoundData() view returns (uint80,int256,uint256,uint256,uint80)"
_BALANCE = "function balanceOf(address) view returns (uint256)"
_TOKENS = "getReserveTokensAddresses(address)"
_THREE = "(address,address,address)"
_COVERS = 2
"""How many tokens cover debts in the local market of Compound."""
_AGGREGATE = "0x82ad56cb"
_RATIOS = 9_800 + (9_900 << 16)
"""What may be lent and what is liquidated, as the first words of a reserve's bitmap: nearly everything."""


@dataclass
class Told:
    """By which methods the lies of a test were really told."""

    methods: set[str]


def about_pool(
    stage: Stage, where: Mapping[str, str], *, cover: str, debt: str, more: int, less: int
) -> dict[str, Changes]:
    """Lies about an account of Aave's code, by what is lied about. `more` cover and `less` debt, in base units."""
    world, account, provider = stage.world, stage.account, where["data_provider"]
    held, owed = (world.tokens[symbol].address for symbol in (cover, debt))
    # A reader of ours would lead the product past the lying node.
    receipt, _, _ = world.rpc.read(provider, _TOKENS, held, returns=_THREE)
    _, _, note = world.rpc.read(provider, _TOKENS, owed, returns=_THREE)
    account_data = _of(where["pool"], signatures.ACCOUNT_DATA, account)
    reserves = [_of(where["pool"], signatures.RESERVE, token) for token in (held, owed)]
    room: Changes = {account_data: _times(0, 2, 5)}
    receipts: Changes = {
        _of(provider, signatures.USER_RESERVE, held, account): _more(more, 0),
        _of(checksum(receipt), _BALANCE, account): _more(more, 0),
    }
    debts: Changes = {
        _of(provider, signatures.USER_RESERVE, owed, account): _more(-less, 2, 4),
        _of(checksum(note), _BALANCE, account): _more(-less, 0),
    }
    margins: Changes = {account_data: _put(9_900, 3), reserves[0]: _ratios, reserves[1]: _ratios}
    prices: Changes = {
        _of(world.tokens[cover].feed, _LATEST): _times(1),
        _of(where["oracle"], signatures.ASSET_PRICE, held): _times(0),
    }
    return {
        "the health factor": {account_data: _times(5)},
        "health and what may be borrowed": room,
        "balances of receipts": receipts,
        "balances of debts": debts,
        "indices of shares": {reserves[0]: _times(1), reserves[1]: _part(3)},
        "margins of liquidation": margins,
        "prices": prices,
        ALL_BUT_PRICES: _all(receipts, debts, room, margins),
        TOGETHER: _all(receipts, debts, room, margins, prices),
    }


def about_market(stage: Stage) -> dict[str, Changes]:
    """Lies about the account in Morpho's market of USDC against WETH."""
    market = bytes.fromhex(known_markets(31337)[0].id[2:])
    position = _of(MORPHO["morpho"], morpho_reads.POSITION, market, stage.account)
    cover: Changes = {position: _times(2)}
    debts: Changes = {position: _part(1)}
    index: Changes = {_of(MORPHO["morpho"], morpho_reads.MARKET, market): _part(2)}
    oracle: Changes = {_of(MORPHO["oracle_weth_usdc"], morpho_reads.PRICE): _times(0)}
    prices: Changes = {**oracle, _of(stage.world.tokens["WETH"].feed, _LATEST): _times(1)}
    return {
        "balances of cover": cover,
        "balances of debts": debts,
        "indices of shares": index,
        "margins of liquidation": {_of(MORPHO["morpho"], morpho_reads.MARKET_PARAMS, market): _put(98 * 10**16, 4)},
        "the lender's oracle": oracle,
        "prices": prices,
        ALL_BUT_PRICES: _all(cover, debts, index),
        TOGETHER: _all(cover, debts, index, prices),
    }


def about_comet(stage: Stage) -> dict[str, Changes]:
    """Lies about the account's cover of WETH and its debt in Compound's market of USDC."""
    comet, weth, rpc = (compound(31337) or {})["comet_usdc"], stage.world.tokens["WETH"], stage.world.rpc
    told = "(uint8,address,address,uint64,uint64,uint64,uint64,uint128)"
    infos = [rpc.read(comet, "getAssetInfo(uint8)", at, returns=f"({told})")[0] for at in range(_COVERS)]
    (place,) = (at for at, info in enumerate(infos) if checksum(info[1]) == checksum(weth.address))
    cover: Changes = {_of(comet, comet_words.COVER, stage.account, weth.address): _times(0)}
    debts: Changes = {_of(comet, comet_words.OWED, stage.account): _part(0)}
    margins: Changes = {_of(comet, comet_words.ASSET, place): _put(99 * 10**16, 4, 5)}
    prices: Changes = {
        _of(comet, comet_words.PRICE, infos[place][2]): _times(0),
        _of(weth.feed, _LATEST): _times(1),
    }
    return {
        "balances of cover": cover,
        "balances of debts": debts,
        "margins of liquidation": margins,
        "prices": prices,
        ALL_BUT_PRICES: _all(cover, debts, margins),
        TOGETHER: _all(cover, debts, margins, prices),
    }


def about_moonwell(stage: Stage) -> dict[str, Changes]:
    """Lies about the account's supply of WETH and its debt of USDC at Moonwell."""
    place = moonwell(31337) or {}
    held, owed = place["market_weth"], place["market_usdc"]
    receipts: Changes = {_of(held, _BALANCE, stage.account): _times(0)}
    debts: Changes = {
        _of(owed, moonwell_words.OWED_NOW, stage.account): _part(0),
        _of(owed, moonwell_words.OWED, stage.account): _part(0),
    }
    index: Changes = {_of(held, moonwell_words.RATE_NOW): _times(0)}
    margins: Changes = {_of(place["comptroller"], moonwell_words.ABOUT, held): _put(99 * 10**16, 1)}
    prices: Changes = {
        _of(place["oracle"], moonwell_words.PRICE, held): _times(0),
        _of(stage.world.tokens["WETH"].feed, _LATEST): _times(1),
    }
    return {
        "balances of receipts": receipts,
        "balances of debts": debts,
        "indices of shares": index,
        "margins of liquidation": margins,
        "prices": prices,
        ALL_BUT_PRICES: _all(receipts, debts, index, margins),
        TOGETHER: _all(receipts, debts, index, prices),
    }


def about_vault(stage: Stage) -> dict[str, Changes]:
    """Lies about the account's one vault at Maker."""
    place, (urn, ilk) = maker(31337) or {}, find_vault(stage)
    vault, kind = _of(place["vat"], maker_reads.VAT_URN, ilk, urn), _of(place["vat"], maker_reads.VAT_ILK, ilk)
    cover: Changes = {vault: _times(0)}
    debts: Changes = {vault: _part(1)}
    index: Changes = {kind: _part(1)}
    margins: Changes = {kind: _times(2), _of(place["spot"], maker_reads.SPOT_ILK, ilk): _put(101 * 10**25, 1)}
    prices: Changes = {kind: _times(2), _of(stage.world.tokens["WETH"].feed, _LATEST): _times(1)}
    return {
        "balances of cover": cover,
        "balances of debts": debts,
        "indices of shares": index,
        "margins of liquidation": margins,
        "prices": prices,
        ALL_BUT_PRICES: _all(cover, debts, index, margins),
        TOGETHER: _all(cover, debts, index, prices),
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


def stand_still(block: dict[str, Any]) -> Lie:
    """A node whose newest block is `block`, whatever was mined since; what it says of that block is true."""

    def hold(request: Request, answer: Any) -> Any:
        return block if request["params"][0] in ("latest", "pending") else answer

    return change_answers("eth_getBlockByNumber", hold)


def find_slot(stage: Stage, contract: str, asked: bytes, is_it: Callable[[int], bool]) -> tuple[int, int]:
    """In which slot `contract` keeps what it answers to `asked`, and the word there."""
    call = {"to": contract, "data": "0x" + asked.hex()}
    found = stage.world.rpc.call("debug_traceCall", call, "latest", {"tracer": "prestateTracer"})
    for slot, raw in found[contract.lower()]["storage"].items():
        if is_it(int(raw, 16)):
            return int(slot, 16), int(raw, 16)
    raise AssertionError(f"{contract} keeps it nowhere")


def receipts_elsewhere(stage: Stage, where: Mapping[str, str], symbol: str) -> tuple[str, int, int]:
    """The receipts' contract, the slot with the account's, and the word that means so many times more."""
    rpc, scaled = stage.world.rpc, "function scaledBalanceOf(address)"
    receipt = checksum(rpc.read(where["data_provider"], _TOKENS, stage.world.tokens[symbol].address, returns=_THREE)[0])
    held = rpc.read(receipt, scaled.removeprefix("function "), stage.account, returns="(uint256)")[0]
    slot, word = find_slot(stage, receipt, encode_call(scaled, stage.account), lambda raw: raw % 2**128 == held)
    return receipt, slot, word - held + FOLD * held


def cover_elsewhere(stage: Stage) -> tuple[str, int, int]:
    """The same of cover in Morpho's market, beside which the debt stands in one word."""
    market = bytes.fromhex(known_markets(31337)[0].id[2:])
    asked = encode_call(morpho_reads.POSITION, market, stage.account)
    slot, word = find_slot(stage, MORPHO["morpho"], asked, lambda raw: bool(raw >> 128))
    return MORPHO["morpho"], slot, word + ((FOLD - 1) * (word >> 128) << 128)


def ink_elsewhere(stage: Stage) -> tuple[str, int, int]:
    """The same of cover in the account's vault at Maker."""
    place, (urn, ilk) = maker(31337) or {}, find_vault(stage)
    ink, _ = stage.world.rpc.read(place["vat"], "urns(bytes32,address)", ilk, urn, returns="(uint256,uint256)")
    slot, word = find_slot(stage, place["vat"], encode_call(maker_reads.VAT_URN, ilk, urn), lambda raw: raw == ink)
    return place["vat"], slot, FOLD * word


def comet_elsewhere(stage: Stage) -> tuple[str, int, int]:
    """The same of cover in Compound's market of USDC."""
    comet, weth = (compound(31337) or {})["comet_usdc"], stage.world.tokens["WETH"].address
    asked = encode_call(comet_words.COVER, stage.account, weth)
    reads = "collateralBalanceOf(address,address)"
    held = stage.world.rpc.read(comet, reads, stage.account, weth, returns="(uint128)")[0]
    slot, word = find_slot(stage, comet, asked, lambda raw: raw % 2**128 == held)
    return comet, slot, word - held + FOLD * held


def moonwell_elsewhere(stage: Stage) -> tuple[str, int, int]:
    """The same of receipts of Moonwell's market of WETH."""
    market = (moonwell(31337) or {})["market_weth"]
    held = stage.world.rpc.balance_of(market, stage.account)
    slot, _ = find_slot(stage, market, encode_call(_BALANCE, stage.account), lambda raw: raw == held)
    return market, slot, FOLD * held


def find_vault(stage: Stage) -> tuple[str, bytes]:
    """The account's one vault at Maker: where it is kept, and its kind."""
    place = maker(31337) or {}
    _, (urn, *_), (ilk, *_) = stage.world.rpc.read(
        place["get_cdps"],
        "getCdpsAsc(address,address)",
        place["cdp_manager"],
        stage.account,
        returns="(uint256[],address[],bytes32[])",
    )
    return checksum(urn), ilk


def _of(contract: str, signature: str, *args: Any) -> tuple[str, bytes]:
    return contract.lower(), encode_call(signature, *args)


def _all(*lies: Changes) -> Changes:
    """Every lie at once; of two about one answer the second is told of what the first made of it."""
    told: Changes = {}
    for lie in lies:
        for key, change in lie.items():
            told[key] = _then(told[key], change) if key in told else change
    return told


def _then(first: Change, second: Change) -> Change:
    return lambda told: second(first(told))


def _times(*places: int) -> Change:
    return lambda told: [min(FOLD * word, 2**256 - 1) if at in places else word for at, word in enumerate(told)]


def _part(*places: int) -> Change:
    return lambda told: [word // FOLD if at in places else word for at, word in enumerate(told)]


def _put(new: int, *places: int) -> Change:
    return lambda told: [new if at in places else word for at, word in enumerate(told)]


def _ratios(told: list[int]) -> list[int]:
    return [told[0] >> 32 << 32 | _RATIOS, *told[1:]]


def _more(by: int, *places: int) -> Change:
    return lambda told: [max(0, word + by) if at in places else word for at, word in enumerate(told)]


def _bend(changes: Changes, to: str, data: str, answer: str, request: Request, told: Told) -> str:
    if to.lower() == MULTICALL3.lower() and data.startswith(_AGGREGATE):
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
