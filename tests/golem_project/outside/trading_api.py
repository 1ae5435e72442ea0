"""A stand-in of the Trading API: its published shapes of August 2026, over the pools of the local chain.

It plays an honest vendor, and a dishonest one where a test twists an answer before it goes out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from archetypes_app.models import Golem
from golem_project.outside.access import switch_on
from golem_project.outside.service_client import GuardedDoor
from tests.evm.world import CHAIN_ID, World
from tests.stand_in import serve_stand_in
from tests.tools_app.factories import make_context
from tools_app import runner
from tools_app.chain.abi import encode_args, encode_call
from tools_app.chain.chains import open_reader
from tools_app.core import clock
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.pools import SLOT0
from tools_app.protocols.uniswap.routing import find_routes
from tools_app.protocols.uniswap.v3 import plans as v3
from tools_app.protocols.uniswap.v3.deposits import plan_deposit
from tools_app.protocols.uniswap.v3.positions import read_own_position
from tools_app.toolkit.outside_services import OutsideDoor

KEY = "trading-api-key-of-a-test"
COIN = "0x" + "00" * 20
STRANGE_TOKEN = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
_MOST = 2**128 - 1
Twist = Callable[[dict[str, Any]], Any]


@dataclass
class TradingApi:
    """What it was asked, and what is done to an answer of a path before it goes out."""

    world: World
    got: list[tuple[str, dict[str, Any], dict[str, str]]] = field(default_factory=list)
    twists: dict[str, Twist] = field(default_factory=dict)

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
        parts = urlsplit(path)
        asked = json.loads(body) if body else {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.got.append((parts.path, asked, headers))
        if headers.get("x-api-key") != KEY:
            return 401, {"errorCode": "UnauthorizedError", "detail": "no key"}
        make = _MAKERS.get((method, parts.path))
        if make is None:
            return 404, {"errorCode": "ResourceNotFound", "detail": f"no {parts.path}"}
        made = {"requestId": "r-1", **make(self, asked)}
        twist = self.twists.get(parts.path)
        return 200, made if twist is None else twist(made)

    def _reader(self) -> Any:
        return make_context(self.world).chain()

    def _transaction(self, asked: dict[str, Any], to: str, data: bytes) -> dict[str, Any]:
        return {
            "to": to,
            "from": asked["walletAddress"],
            "data": "0x" + data.hex(),
            "value": "0x00",
            "chainId": asked["chainId"],
            "gasLimit": "600000",
            "maxFeePerGas": "2000000000",
            "maxPriorityFeePerGas": "1000000000",
        }

    def quote(self, asked: dict[str, Any]) -> dict[str, Any]:
        reader, place = self._reader(), deployment_on(CHAIN_ID)
        named = [asked["tokenIn"], asked["tokenOut"]]
        sold, bought = (reader.native() if each == COIN else reader.token(each) for each in named)
        is_out = asked["type"] == "EXACT_OUTPUT"
        routes = find_routes(
            reader, place, token_in=sold, token_out=bought, amount=int(asked["amount"]), is_exact_out=is_out
        )
        found = routes.taken
        return {
            "routing": "CLASSIC",
            "permitData": {"domain": {"name": "Permit2"}, "types": {}, "values": {}},
            "quote": {
                "input": {"amount": str(found.amount_in), "token": asked["tokenIn"]},
                "output": {
                    "amount": str(found.amount_out),
                    "token": asked["tokenOut"],
                    "recipient": asked["swapper"],
                },
                "swapper": asked["swapper"],
                "chainId": asked["tokenInChainId"],
                "slippage": asked["slippageTolerance"],
                "tradeType": asked["type"],
                "quoteId": "q-1",
                "routeString": "[V3] 100.00% = USDC -- 0.05% --> WETH",
                "gasUseEstimate": str(found.gas),
                "gasFeeUSD": "0.21",
                "blockNumber": str(reader.block.number),
                "priceImpact": found.price_impact_bps / 100,
                "txFailureReasons": [],
            },
        }

    def swap(self, asked: dict[str, Any]) -> dict[str, Any]:
        _, made = self._make_swap(asked)
        return {"swap": made, "gasFee": "1"}

    def bundle(self, asked: dict[str, Any]) -> dict[str, Any]:
        approval, made = self._make_swap(asked)
        steps = [{name: each[name] for name in ("to", "data", "value")} for each in (approval, made)]
        return {"from": made["from"], "chainId": made["chainId"], "calls": steps, "gasFee": "1"}

    def delegated(self, asked: dict[str, Any]) -> dict[str, Any]:
        approval, made = self._make_swap(asked)
        steps = [(each["to"], int(each["value"], 16), bytes.fromhex(each["data"][2:])) for each in (approval, made)]
        packed = encode_args(("(address,uint256,bytes)[]",), [steps])
        data = encode_call("function execute(bytes32,bytes)", bytes.fromhex("01" + "00" * 31), packed)
        return {"swap": {**made, "to": made["from"], "data": "0x" + data.hex()}, "gasFee": "1"}

    def _make_swap(self, asked: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """An unlimited approval, as vendors give, and the swap over the best pool of V3."""
        told, place = asked["quote"], deployment_on(CHAIN_ID)
        taker, until = told["swapper"], asked["deadline"]
        least = int(told["output"]["amount"]) * (10_000 - round(told["slippage"] * 100)) // 10_000
        sold, bought = told["input"]["token"], told["output"]["token"]
        data = encode_call(v3.EXACT_IN_SINGLE, (sold, bought, 500, taker, int(told["input"]["amount"]), least, 0))
        asker = {"walletAddress": taker, "chainId": told["chainId"]}
        unlimited = encode_call("function approve(address,uint256)", place.v3_router, 2**256 - 1)
        return (
            self._transaction(asker, sold, unlimited),
            self._transaction(asker, place.v3_router, encode_call(v3.MULTICALL_UNTIL, until, [data])),
        )

    def limit_quote(self, asked: dict[str, Any]) -> dict[str, Any]:
        return {
            "routing": "LIMIT_ORDER",
            "permitData": {},
            "quote": {
                "encodedOrder": "0x1234",
                "orderId": "0x" + "ab" * 32,
                "orderInfo": {
                    "chainId": asked["tokenInChainId"],
                    "swapper": asked["swapper"],
                    "deadline": 1_900_000_000,
                    "input": {"token": asked["tokenIn"], "startAmount": asked["amount"]},
                    "outputs": [{"token": asked["tokenOut"], "recipient": asked["swapper"]}],
                },
            },
        }

    def check_approval(self, asked: dict[str, Any]) -> dict[str, Any]:
        data = encode_call("function approve(address,uint256)", self.world.contracts["permit2"], 2**256 - 1)
        return {"approval": self._transaction(asked, asked["token"], data), "cancel": None, "gasFee": "1"}

    def send(self, asked: dict[str, Any]) -> dict[str, Any]:
        is_coin = asked["token"] == COIN
        data = encode_call("function transfer(address,uint256)", asked["recipient"], int(asked["amount"]))
        made = self._transaction(
            {**asked, "walletAddress": asked["sender"]},
            asked["recipient"] if is_coin else asked["token"],
            b"" if is_coin else data,
        )
        if is_coin:
            made["value"] = hex(int(asked["amount"]))
        return {"send": made, "gasFee": "1", "gasFeeUSD": 0.12}

    def swappable(self, asked: dict[str, Any]) -> dict[str, Any]:
        far = {"address": STRANGE_TOKEN, "chainId": 8453, "name": "USD Coin", "symbol": "USDC\n", "decimals": 6}
        return {"tokens": [far]}

    def orders(self, asked: dict[str, Any]) -> dict[str, Any]:
        order = {
            "type": "Dutch_V2",
            "encodedOrder": "0x12",
            "signature": "0x34",
            "nonce": "7",
            "orderStatus": "open",
            "orderId": "0x" + "cd" * 32,
            "chainId": CHAIN_ID,
            "swapper": asked["swapper"],
            "input": {"token": self.world.tokens["USDC"].address, "startAmount": "5", "endAmount": "5"},
            "outputs": [{"token": self.world.tokens["WETH"].address, "startAmount": "3", "endAmount": "2"}],
        }
        return {"orders": [order], "cursor": None}

    def swaps(self, asked: dict[str, Any]) -> dict[str, Any]:
        first = asked["txHashes"].split(",")[0]
        return {"swaps": [{"swapType": "CLASSIC", "status": "SUCCESS", "txHash": first}]}

    def pool_info(self, asked: dict[str, Any]) -> dict[str, Any]:
        reference = asked["poolReferences"][0]["poolReferenceIdentifier"]
        return {
            "pools": [
                {
                    "poolReferenceIdentifier": reference,
                    "poolProtocol": [asked["protocol"]],
                    "tokenAddressA": self.world.tokens["USDC"].address,
                    "tokenAddressB": self.world.tokens["WETH"].address,
                    "tickSpacing": 10,
                    "fee": "500",
                    "chainId": asked["chainId"],
                    "poolLiquidity": "1000",
                    "sqrtRatioX96": str(2**96),
                    "currentTick": 0,
                    "tokenAReserves": "10",
                    "tokenBReserves": "20",
                }
            ],
            "pageSize": 1,
            "currentPage": 1,
        }

    def delegation(self, asked: dict[str, Any]) -> dict[str, Any]:
        told = {"isWalletDelegatedToUniswap": True, "currentDelegationAddress": self.world.contracts["permit2"]}
        chains = {str(asked["chainIds"][0]): told}
        return {"delegationDetails": {asked["walletAddresses"][0]: chains}}

    def create(self, asked: dict[str, Any]) -> dict[str, Any]:
        pool = asked["existingPool"]
        lower, upper = asked["tickBounds"]["tickLower"], asked["tickBounds"]["tickUpper"]
        amounts, least = self._deposit(asked, pool["poolReference"], pool["token0Address"], lower, upper)
        head = (pool["token0Address"], pool["token1Address"], pool["fee"], lower, upper)
        data = encode_call(v3.MINT, (*head, *amounts, *least, asked["walletAddress"], asked["deadline"]))
        return {
            "token0": {"tokenAddress": pool["token0Address"], "amount": str(amounts[0])},
            "token1": {"tokenAddress": pool["token1Address"], "amount": str(amounts[1])},
            "tickLower": lower,
            "tickUpper": upper,
            "create": self._transaction(asked, self._manager(), data),
        }

    def increase(self, asked: dict[str, Any]) -> dict[str, Any]:
        held = self._position(asked, asked["nftTokenId"])
        amounts, least = self._deposit(asked, held.pool.id, held.pool.token0, held.tick_lower, held.tick_upper)
        data = encode_call(v3.INCREASE, (int(asked["nftTokenId"]), *amounts, *least, asked["deadline"]))
        return {"increase": self._transaction(asked, self._manager(), data)}

    def decrease(self, asked: dict[str, Any]) -> dict[str, Any]:
        held = self._position(asked, asked["nftTokenId"])
        liquidity = held.liquidity * asked["liquidityPercentageToDecrease"] // 100
        bps = round(asked["slippageTolerance"] * 100)
        prices = [held.pool.sqrt_price * (20_000 + side * bps) // 20_000 for side in (-1, 0, 1)]
        found = [held.amounts(liquidity, sqrt_price=price) for price in prices]
        least = (min(each[0] for each in found), min(each[1] for each in found))
        number = int(asked["nftTokenId"])
        steps = [
            encode_call(v3.DECREASE, (number, liquidity, *least, asked["deadline"])),
            encode_call(v3.COLLECT, (number, asked["walletAddress"], _MOST, _MOST)),
        ]
        data = encode_call(v3.MULTICALL, steps)
        return {"decrease": self._transaction(asked, self._manager(), data), "gasFee": "1"}

    def claim(self, asked: dict[str, Any]) -> dict[str, Any]:
        data = encode_call(v3.COLLECT, (int(asked["tokenId"]), asked["walletAddress"], _MOST, _MOST))
        return {"claim": self._transaction(asked, self._manager(), data), "gasFee": "1"}

    def _manager(self) -> str:
        return deployment_on(CHAIN_ID).v3_position_manager

    def _position(self, asked: dict[str, Any], number: str) -> Any:
        return read_own_position(self._reader(), deployment_on(CHAIN_ID), number, asked["walletAddress"])

    def _deposit(
        self, asked: dict[str, Any], pool: str, token0: str, lower: int, upper: int
    ) -> tuple[tuple[int, int], tuple[int, int]]:
        """Both amounts and the least of both, by the asked slippage."""
        (sqrt_price, *_) = self._reader().call(pool, SLOT0)
        sides = (asked["independentToken"], asked["dependentToken"])
        given = {each["tokenAddress"]: int(each["amount"]) for each in sides}
        first = given.pop(token0)
        (second,) = given.values()
        offer = plan_deposit(
            sqrt_price,
            lower,
            upper,
            amount0=first,
            amount1=second,
            slippage_bps=round(asked["slippageTolerance"] * 100),
        )
        return (first, second), offer.least


_MAKERS: dict[tuple[str, str], Callable[[TradingApi, dict[str, Any]], dict[str, Any]]] = {
    ("POST", "/quote"): TradingApi.quote,
    ("POST", "/swap"): TradingApi.swap,
    ("POST", "/swap_5792"): TradingApi.bundle,
    ("POST", "/swap_7702"): TradingApi.delegated,
    ("POST", "/limit_order_quote"): TradingApi.limit_quote,
    ("POST", "/check_approval"): TradingApi.check_approval,
    ("GET", "/orders"): TradingApi.orders,
    ("POST", "/send"): TradingApi.send,
    ("GET", "/swappable_tokens"): TradingApi.swappable,
    ("GET", "/swaps"): TradingApi.swaps,
    ("POST", "/lp/pool_info"): TradingApi.pool_info,
    ("POST", "/wallet/check_delegation"): TradingApi.delegation,
    ("POST", "/lp/create"): TradingApi.create,
    ("POST", "/lp/increase"): TradingApi.increase,
    ("POST", "/lp/decrease"): TradingApi.decrease,
    ("POST", "/lp/claim_fees"): TradingApi.claim,
}


@contextmanager
def trading_for(golem: Golem, world: World) -> Iterator[TradingApi]:
    """The golem's owner has a key, and questions go to a stand-in over `world`."""
    api = TradingApi(world)
    before = runner.list_services()
    with serve_stand_in(api.answer) as url:
        door = GuardedDoor({"uniswap_api": url}, allows_private=True)
        switch_on(person=golem.owner, name="uniswap_api", key=KEY, questions_an_hour=None, now=clock.now())
        runner.configure(runner.ToolEnvironment(open_reader, {**before, OutsideDoor: door}))
        try:
            yield api
        finally:
            runner.configure(runner.ToolEnvironment(open_reader, before))
