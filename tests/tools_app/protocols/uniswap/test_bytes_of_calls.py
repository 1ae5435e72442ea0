"""What the bytes of a call to Uniswap's contracts do, and what of them is not accounted for: no tool made them.

Each call that is read stands here with all that it does, each that is refused with why. Only what the position managers
tell of a position is answered by a stand-in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pytest
from eth_abi.abi import encode

from tools_app.chain.abi import encode_call
from tools_app.protocols.uniswap.addresses import deployment_on
from tools_app.protocols.uniswap.effects import UniswapEffects
from tools_app.protocols.uniswap.v4.addresses import _DEPLOYED
from tools_app.protocols.uniswap.v4.position_effects import OnlyTakesOut
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.exit_conditions import There
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import NATIVE

CHAIN_ID: Final = 1
PLACE: Final = deployment_on(CHAIN_ID)
V4: Final = _DEPLOYED[CHAIN_ID]
WETH: Final = PLACE.wrapped_native
USDC, DAI = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0x6B175474E89094C44Da98b954EedeAC495271d0F"
ME, OTHER = "0x" + "11" * 20, "0x" + "22" * 20
SENDER, ROUTER = "0x" + "00" * 19 + "01", "0x" + "00" * 19 + "02"
COIN = NOBODY = "0x" + "00" * 20
HOOK: Final = "0x" + "33" * 18 + "0080"
END: Final = 9_999
FAR: Final = 2**255
LOST: Final = "would keep what a swap brought"


@dataclass
class Chain:
    """Position 7 is the account's, every other somebody else's; all of them are of USDC and the coin, wrapped in V3."""

    chain_id: int = CHAIN_ID
    hook: str = COIN

    def call(self, to: str, signature: str, number: int) -> Any:
        if "ownerOf" in signature:
            return (ME if number == 7 else OTHER,)
        if "getPoolAndPositionInfo" in signature:
            return ((COIN, USDC, 500, 10, self.hook), 0)
        assert to == PLACE.v3_position_manager
        return (0, COIN, USDC, WETH, 500, -10, 10, 5, 0, 0, 0, 0)


def read(to: str, data: bytes, value: int = 0, *, chain: Chain | None = None) -> Effects:
    into = Effects()
    call = Call(to, data, value, "a call")
    UniswapEffects().read(call, earlier=(), account=ME, chain=chain or Chain(), into=into)  # type: ignore[arg-type]
    return into


def tell(into: Effects) -> dict[str, Any]:
    """All that was read, without what is empty."""
    found = {
        "spends": dict(into.spends),
        "receives": dict(into.receives),
        "open": sorted(into.open_minimums),
        "to": into.recipients,
        "until": into.deadlines,
        "markets": [(each.sold, each.bought, each.fee) for each in into.markets],
        "changes": [(each.token, each.raw, each.ref and each.ref.id, each.is_exact) for each in into.changes],
        "items": [(each.contract, each.token_id, each.recipient) for each in into.items],
        "hooks": [each.address for each in into.hooks],
    }
    others = (into.approvals, into.rights, into.lent, into.statements, into.amounts, into.arrivals, into.principals)
    assert not any(others)
    return {name: each for name, each in found.items() if each}


# ---- V2 and V3 routers ----------------------------------------------------------------------------------------------

V2_OF: Final = "function swap{}(uint256,uint256,address[],address,uint256)"
V2_COIN: Final = "function swap{}(uint256,address[],address,uint256)"


@pytest.mark.parametrize(
    ("name", "amounts", "path", "value", "spends", "receives"),
    [
        ("ExactTokensForTokens", (50, 40), (USDC, DAI), 0, (USDC, 50), (DAI, 40)),
        ("ExactTokensForTokensSupportingFeeOnTransferTokens", (50, 40), (USDC, DAI), 0, (USDC, 50), (DAI, 40)),
        ("TokensForExactTokens", (40, 50), (USDC, DAI), 0, (USDC, 50), (DAI, 40)),
        ("ExactTokensForETH", (50, 40), (USDC, WETH), 0, (USDC, 50), (NATIVE, 40)),
        ("ExactTokensForETHSupportingFeeOnTransferTokens", (50, 40), (USDC, WETH), 0, (USDC, 50), (NATIVE, 40)),
        ("TokensForExactETH", (40, 50), (USDC, WETH), 0, (USDC, 50), (NATIVE, 40)),
        ("ExactETHForTokens", (40,), (WETH, USDC), 50, (NATIVE, 50), (USDC, 40)),
        ("ExactETHForTokensSupportingFeeOnTransferTokens", (40,), (WETH, USDC), 50, (NATIVE, 50), (USDC, 40)),
        ("ETHForExactTokens", (40,), (WETH, USDC), 50, (NATIVE, 50), (USDC, 40)),
    ],
)
def test_a_swap_of_v2_spends_its_most_and_brings_its_least(
    name: str, amounts: tuple[int, ...], path: Sequence[str], value: int, spends: Any, receives: Any
) -> None:
    signature = (V2_COIN if len(amounts) == 1 else V2_OF).format(name)
    told = tell(read(PLACE.v2_router, encode_call(signature, *amounts, path, OTHER, END), value))
    assert told == {
        "spends": dict([spends]),
        "receives": dict([receives]),
        "to": [OTHER],
        "until": [END],
        "markets": [(*path, None)],
    }
    if not value:
        refuse(PLACE.v2_router, encode_call(signature, *amounts, path, OTHER, END), "does not use", value=1)
    refuse(PLACE.v2_router, encode_call(signature, *amounts, path[:1], OTHER, END), "fewer than two")
    if "ETH" in name:
        wrong = encode_call(signature, *amounts, (DAI, USDC), OTHER, END)
        refuse(PLACE.v2_router, wrong, "does not end in its wrapped form", value=value)


def refuse(to: str, data: bytes, says: str, *, value: int = 0, chain: Chain | None = None) -> None:
    with pytest.raises(UnknownCall, match=says):
        read(to, data, value, chain=chain)


def packed(*path: Any) -> bytes:
    return b"".join(each.to_bytes(3, "big") if isinstance(each, int) else bytes.fromhex(each[2:]) for each in path)


ONE: Final = "(address,address,uint24,address,uint256,uint256,uint160)"
MANY: Final = "(bytes,address,uint256,uint256)"


def one_in(sold: str, bought: str, to: str = SENDER, amount: int = 50, least: int = 40, price: int = 0) -> bytes:
    return encode_call(f"function exactInputSingle({ONE})", (sold, bought, 500, to, amount, least, price))


def one_out(sold: str, bought: str, to: str = SENDER) -> bytes:
    return encode_call(f"function exactOutputSingle({ONE})", (sold, bought, 500, to, 40, 50, 0))


def many_in(*path: Any, to: str = SENDER, amount: int = 50) -> bytes:
    return encode_call(f"function exactInput({MANY})", (packed(*path), to, amount, 40))


def many_out(*path: Any, to: str = SENDER) -> bytes:
    return encode_call(f"function exactOutput({MANY})", (packed(*path[::-1]), to, 40, 50))


def pair_in(*path: str, to: str = SENDER) -> bytes:
    return encode_call("function swapExactTokensForTokens(uint256,uint256,address[],address)", 50, 40, path, to)


def pair_out(*path: str) -> bytes:
    return encode_call("function swapTokensForExactTokens(uint256,uint256,address[],address)", 40, 50, path, SENDER)


def unwrap(least: int = 40, to: str = SENDER) -> bytes:
    return encode_call("function unwrapWETH9(uint256,address)", least, to)


def sweep(token: str, least: int, to: str) -> bytes:
    return encode_call("function sweepToken(address,uint256,address)", token, least, to)


REFUND: Final = encode_call("function refundETH()")


def steps(*each: bytes) -> bytes:
    return encode_call("function multicall(bytes[])", each)


def until(*each: bytes) -> bytes:
    return encode_call("function multicall(uint256,bytes[])", END, each)


TWO_POOLS: Final = [(USDC, DAI, 500), (DAI, WETH, 3_000)]
SWAPPED: Final = {"spends": {USDC: 50}, "to": [ME]}


@pytest.mark.parametrize(
    ("data", "value", "told"),
    [
        (one_in(USDC, DAI), 0, {**SWAPPED, "receives": {DAI: 40}, "markets": [(USDC, DAI, 500)]}),
        (one_out(USDC, DAI), 0, {**SWAPPED, "receives": {DAI: 40}, "markets": [(USDC, DAI, 500)]}),
        (many_in(USDC, 500, DAI, 3_000, WETH), 0, {**SWAPPED, "receives": {WETH: 40}, "markets": TWO_POOLS}),
        (many_out(USDC, 500, DAI, 3_000, WETH), 0, {**SWAPPED, "receives": {WETH: 40}, "markets": TWO_POOLS}),
        (pair_in(USDC, DAI), 0, {**SWAPPED, "receives": {DAI: 40}, "markets": [(USDC, DAI, None)]}),
        (pair_out(USDC, DAI), 0, {**SWAPPED, "receives": {DAI: 40}, "markets": [(USDC, DAI, None)]}),
        (
            until(one_in(USDC, WETH, ROUTER), unwrap(39)),
            0,
            {**SWAPPED, "receives": {NATIVE: 39}, "until": [END], "markets": [(USDC, WETH, 500)]},
        ),
        (
            steps(one_in(WETH, USDC, OTHER)),
            50,
            {"spends": {NATIVE: 50}, "receives": {USDC: 40}, "to": [OTHER], "markets": [(WETH, USDC, 500)]},
        ),
        (
            steps(one_out(WETH, USDC), REFUND),
            50,
            {"spends": {NATIVE: 50}, "receives": {USDC: 40}, "to": [ME], "markets": [(WETH, USDC, 500)]},
        ),
        (
            steps(one_in(USDC, DAI, ROUTER), one_in(DAI, WETH, SENDER, 0)),
            0,
            {**SWAPPED, "receives": {WETH: 40}, "markets": [(USDC, DAI, 500), (DAI, WETH, 500)]},
        ),
    ],
)
def test_a_swap_of_the_router_of_v3_is_read_whole(data: bytes, value: int, told: dict[str, Any]) -> None:
    assert tell(read(PLACE.v3_router, data, value)) == told


@pytest.mark.parametrize(
    ("data", "value", "says"),
    [
        (one_in(USDC, DAI, price=1), 0, "price limit"),
        (one_in(USDC, DAI, amount=0), 0, "happens to hold"),
        (one_in(USDC, DAI), 1, "not exactly what the swap spends"),
        (one_in(WETH, DAI), 49, "not exactly what the swap spends"),
        (one_in(WETH, DAI), 51, "not exactly what the swap spends"),
        (steps(REFUND), 1, "no swap uses"),
        (one_in(USDC, DAI, ROUTER), 0, LOST),
        (one_in(USDC, WETH, ROUTER), 0, LOST),
        (steps(unwrap()), 0, "unwraps what no swap brought"),
        (steps(one_in(USDC, DAI, ROUTER), unwrap()), 0, "unwraps what no swap brought"),
        (steps(one_in(USDC, DAI, ROUTER), one_in(DAI, WETH)), 0, LOST),
        (steps(one_in(USDC, DAI, ROUTER), one_in(USDC, WETH, SENDER, 0)), 0, LOST),
        (steps(one_in(USDC, DAI, ROUTER), one_out(DAI, WETH)), 0, LOST),
        (steps(one_out(WETH, USDC)), 50, "the coin a swap did not need"),
        (pair_in(USDC), 0, "fewer than two"),
        (many_in(USDC, 500), 0, "a length no path has"),
        (many_in(USDC), 0, "a length no path has"),
        (many_in(USDC, 500, DAI, 1), 0, "a length no path has"),
        (sweep(USDC, 1, ME), 0, "V3 router is not known"),
    ],
)
def test_what_the_router_of_v3_would_keep_or_take_is_refused(data: bytes, value: int, says: str) -> None:
    refuse(PLACE.v3_router, data, says, value=value)


# ---- V3 positions ---------------------------------------------------------------------------------------------------

MINT: Final = "function mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))"
INCREASE: Final = "function increaseLiquidity((uint256,uint256,uint256,uint256,uint256,uint256))"
DECREASE: Final = "function decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))"
COLLECT: Final = "function collect((uint256,address,uint128,uint128))"


def mint(least: tuple[int, int] = (4, 3)) -> bytes:
    return encode_call(MINT, (USDC, WETH, 500, -10, 10, 50, 60, *least, OTHER, END))


def increase(number: int = 7, least: tuple[int, int] = (4, 3)) -> bytes:
    return encode_call(INCREASE, (number, 50, 60, *least, END))


def decrease(number: int = 7, least: tuple[int, int] = (4, 3)) -> bytes:
    return encode_call(DECREASE, (number, 5, *least, END))


def collect(number: int = 7, to: str = OTHER) -> bytes:
    return encode_call(COLLECT, (number, to, 9, 9))


def legs(*tokens: str, key: str | None) -> list[Any]:
    return [(token, 0, key, False) for token in tokens]


V3_LEGS: Final = legs(USDC, WETH, key="7")
BOTH: Final = sorted((USDC, WETH))
TAKEN: Final = (decrease(), collect(to=NOBODY))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (
            mint(),
            {
                "spends": {USDC: 50, WETH: 60},
                "to": [OTHER],
                "until": [END],
                "markets": [(USDC, WETH, 500)],
                "changes": legs(USDC, WETH, key=None),
            },
        ),
        (increase(), {"spends": {USDC: 50, WETH: 60}, "until": [END], "changes": V3_LEGS}),
        (decrease(), {"receives": {USDC: 4, WETH: 3}, "open": BOTH, "until": [END], "changes": V3_LEGS}),
        (collect(), {"open": BOTH, "to": [OTHER], "changes": V3_LEGS}),
        (
            steps(*TAKEN, unwrap(3, ME), sweep(USDC, 2, OTHER)),
            {
                "receives": {USDC: 4, NATIVE: 3},
                "open": sorted((*BOTH, NATIVE)),
                "to": [ME, OTHER],
                "until": [END],
                "changes": V3_LEGS * 2,
            },
        ),
        (
            steps(*TAKEN, unwrap(4, ME), sweep(USDC, 9, OTHER)),
            {
                "receives": {USDC: 4, NATIVE: 4},
                "open": sorted((*BOTH, NATIVE)),
                "to": [ME, OTHER],
                "until": [END],
                "changes": V3_LEGS * 2,
            },
        ),
    ],
)
def test_what_a_position_of_v3_takes_and_pays_is_read_whole(data: bytes, told: dict[str, Any]) -> None:
    assert tell(read(PLACE.v3_position_manager, data)) == told


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (mint((0, 0)), "at any price"),
        (increase(7, (0, 0)), "at any price"),
        (decrease(7, (0, 0)), "at any price"),
        (increase(8), "belongs to"),
        (decrease(8), "belongs to"),
        (collect(8), "belongs to"),
        (steps(*TAKEN), "would keep what a position paid"),
        (steps(*TAKEN, unwrap(3, ME)), "would keep what a position paid"),
        (steps(*TAKEN, unwrap(2, ME), sweep(USDC, 2, ME)), "less of the coin is asked for"),
        (steps(*TAKEN, unwrap(3, NOBODY), sweep(USDC, 2, ME)), "or to nobody"),
        (steps(*TAKEN, unwrap(3, PLACE.v3_position_manager), sweep(USDC, 2, ME)), "or to nobody"),
        (steps(decrease(), sweep(USDC, 2, ME)), "no position brought it"),
        (steps(*TAKEN, sweep(DAI, 2, ME)), "no position brought it"),
        (REFUND, "position manager is not known"),
    ],
)
def test_what_a_position_manager_would_keep_is_refused(data: bytes, says: str) -> None:
    refuse(PLACE.v3_position_manager, data, says)


def test_a_position_manager_is_sent_no_coin_and_an_unknown_contract_is_none_of_them() -> None:
    refuse(PLACE.v3_position_manager, mint(), "is sent coin", value=1)
    refuse(PLACE.v2_router, REFUND, "V2 router is not known")
    refuse(OTHER, mint(), "none of the contracts that plans call")


# ---- The Universal Router -------------------------------------------------------------------------------------------

KEY: Final = "(address,address,uint24,int24,address)"
SINGLE: Final = f"({KEY},bool,uint128,uint128,bytes)"
PATH: Final = "(address,(address,uint24,int24,address,bytes)[],uint256[],uint128,uint128)"
TRANSFER, SWEEP, WRAP, UNWRAP, TRADE = 0x02, 0x04, 0x0B, 0x0C, 0x10
SETTLE, SETTLE_ALL, TAKE = 0x0B, 0x0C, 0x0E
Command = tuple[int, bytes]


def universal(*commands: Command, until: int = END) -> bytes:
    codes, inputs = bytes(code for code, _ in commands), [data for _, data in commands]
    return encode_call("function execute(bytes,bytes[],uint256)", codes, inputs, until)


def values(types: str, *args: Any) -> bytes:
    return bytes(encode(types.split(";"), args))


def v4_trade(swap: Command, pay: Command, take: Command) -> Command:
    codes = bytes((swap[0], pay[0], take[0]))
    return TRADE, values("bytes;bytes[]", codes, [swap[1], pay[1], take[1]])


def v4_single(first: str, second: str, *, forward: bool = True, out: bool = False, hook: str = COIN) -> Command:
    amounts = (40, 50) if out else (50, 40)
    return (0x08 if out else 0x06), values(SINGLE, ((first, second, 500, 10, hook), forward, *amounts, b""))


def v4_path(exact: str, *beyond: str, out: bool = False, hook_data: bytes = b"", limits: Any = ()) -> Command:
    each = [(token, 500, 10, COIN, hook_data) for token in beyond]
    amounts = (40, 50) if out else (50, 40)
    return (0x09 if out else 0x07), values(PATH, (exact, each, limits, *amounts))


def pays(token: str, most: int = 50) -> Command:
    return SETTLE_ALL, values("address;uint256", token, most)


def settles(token: str, amount: int = 0, *, users: bool = False) -> Command:
    return SETTLE, values("address;uint256;bool", token, amount, users)


def takes(token: str, to: str = SENDER, amount: int = 0) -> Command:
    return TAKE, values("address;address;uint256", token, to, amount)


def wrap(to: str = ROUTER, amount: int = 50) -> Command:
    return WRAP, values("address;uint256", to, amount)


def unwraps(to: str = SENDER, least: int = 40) -> Command:
    return UNWRAP, values("address;uint256", to, least)


def swept(token: str, to: str = SENDER) -> Command:
    return SWEEP, values("address;address;uint256", token, to, 0)


def handed(token: str = WETH, to: str = ROUTER, amount: int = 50) -> Command:
    return TRANSFER, values("address;address;uint160", token, to, amount)


def older(code: int, *path: Any, to: str = SENDER, users: bool = True, amount: int = 50, least: int = 40) -> Command:
    is_out, is_v3 = code in (1, 9), code in (0, 1)
    amounts = (least, amount) if is_out else (amount, least)
    way: Any = packed(*(path[::-1] if is_out else path)) if is_v3 else path
    return code, values(f"address;uint256;uint256;{'bytes' if is_v3 else 'address[]'};bool", to, *amounts, way, users)


DAI_USDC: Final = v4_trade(v4_single(DAI, USDC), pays(DAI), takes(USDC))
COIN_USDC: Final = v4_single(COIN, USDC)
DONE: Final = {"to": [ME], "until": [END]}
OF_POOL: Final = [(DAI, USDC, None)]
WITH_COIN: Final = {**DONE, "spends": {NATIVE: 50}, "receives": {USDC: 40}, "markets": [(WETH, USDC, None)]}
WITH_WETH: Final = v4_trade(v4_single(WETH, USDC), settles(WETH), takes(USDC))
BY_V3: Final = {**DONE, "spends": {DAI: 50}, "receives": {USDC: 40}, "markets": [(DAI, USDC, 500)]}


@pytest.mark.parametrize(
    ("commands", "value", "told"),
    [
        ([DAI_USDC], 0, {**DONE, "spends": {DAI: 50}, "receives": {USDC: 40}, "markets": OF_POOL}),
        (
            [v4_trade(v4_single(DAI, USDC, out=True), pays(DAI), takes(USDC, OTHER))],
            0,
            {**DONE, "to": [OTHER], "spends": {DAI: 50}, "receives": {USDC: 40}, "markets": OF_POOL},
        ),
        (
            [v4_trade(v4_single(DAI, USDC, forward=False), pays(USDC), takes(DAI))],
            0,
            {**DONE, "spends": {USDC: 50}, "receives": {DAI: 40}, "markets": [(USDC, DAI, None)]},
        ),
        (
            [v4_trade(v4_path(DAI, USDC, COIN), pays(DAI), takes(COIN))],
            0,
            {**DONE, "spends": {DAI: 50}, "receives": {NATIVE: 40}, "markets": [*OF_POOL, (USDC, WETH, None)]},
        ),
        (
            [v4_trade(v4_path(COIN, DAI, USDC, out=True), pays(DAI), takes(COIN))],
            0,
            {**DONE, "spends": {DAI: 50}, "receives": {NATIVE: 40}, "markets": [*OF_POOL, (USDC, WETH, None)]},
        ),
        ([v4_trade(COIN_USDC, settles(COIN), takes(USDC)), swept(COIN)], 50, {**WITH_COIN, "to": [ME, ME]}),
        ([wrap(), WITH_WETH, unwraps()], 50, {**WITH_COIN, "to": [ME, ME]}),
        (
            [handed(), unwraps(ROUTER, 50), v4_trade(COIN_USDC, settles(COIN), takes(USDC)), wrap(SENDER, FAR)],
            0,
            {**WITH_COIN, "to": [ME, ME], "spends": {WETH: 50}},
        ),
        (
            [v4_trade(v4_single(COIN, USDC, forward=False), pays(USDC), takes(COIN, ROUTER)), wrap(OTHER, FAR)],
            0,
            {**DONE, "to": [OTHER], "spends": {USDC: 50}, "receives": {WETH: 40}, "markets": [(USDC, WETH, None)]},
        ),
        (
            [v4_trade(v4_single(DAI, WETH), pays(DAI), takes(WETH, ROUTER)), unwraps(SENDER, 41)],
            0,
            {**DONE, "spends": {DAI: 50}, "receives": {NATIVE: 41}, "markets": [(DAI, WETH, None)]},
        ),
        ([older(0, DAI, 500, USDC)], 0, BY_V3),
        ([older(1, DAI, 500, USDC)], 0, BY_V3),
        ([older(8, DAI, USDC)], 0, {**DONE, "spends": {DAI: 50}, "receives": {USDC: 40}, "markets": OF_POOL}),
        ([older(9, DAI, USDC)], 0, {**DONE, "spends": {DAI: 50}, "receives": {USDC: 40}, "markets": OF_POOL}),
        (
            [older(8, DAI, WETH, to=ROUTER), unwraps(SENDER, 40)],
            0,
            {**DONE, "spends": {DAI: 50}, "receives": {NATIVE: 40}, "markets": [(DAI, WETH, None)]},
        ),
        ([wrap(), older(8, WETH, USDC, users=False)], 50, WITH_COIN),
        ([wrap(), older(9, WETH, USDC, users=False), unwraps()], 50, {**WITH_COIN, "to": [ME, ME]}),
    ],
)
def test_a_swap_of_the_universal_router_is_read_whole(
    commands: Sequence[Command], value: int, told: dict[str, Any]
) -> None:
    assert tell(read(V4.router, universal(*commands), value)) == told


def test_the_hook_of_a_pool_is_told_and_nothing_is_handed_to_it() -> None:
    swap = v4_trade(v4_single(DAI, USDC, hook=HOOK), pays(DAI), takes(USDC))
    assert [each.lower() for each in tell(read(V4.router, universal(swap)))["hooks"]] == [HOOK]
    told = v4_trade(v4_path(DAI, USDC, hook_data=b"x"), pays(DAI), takes(USDC))
    refuse(V4.router, universal(told), "bytes that nobody here reads")


@pytest.mark.parametrize(
    ("commands", "value", "says"),
    [
        ([DAI_USDC], 1, "the swap is not what it spends"),
        ([wrap(amount=1)], 1, "coin that no swap uses"),
        ([], 0, "would keep what a swap brings"),
        ([DAI_USDC, DAI_USDC], 0, "other than one swap"),
        ([DAI_USDC, older(8, DAI, USDC)], 0, "swaps twice"),
        ([older(8, DAI, USDC), DAI_USDC], 0, "other than one swap"),
        ([v4_trade(v4_single(DAI, USDC), pays(USDC), takes(USDC))], 0, "not what it spends"),
        ([v4_trade(v4_single(DAI, USDC), pays(DAI, 51), takes(USDC))], 0, "not what it spends"),
        ([v4_trade(COIN_USDC, pays(COIN), takes(USDC))], 0, "not what it spends"),
        ([v4_trade(v4_single(DAI, USDC), (SETTLE_ALL + 9, b""), takes(USDC))], 0, "pays for no swap"),
        ([v4_trade(v4_single(DAI, USDC), pays(DAI), takes(DAI))], 0, "not all that the swap brings"),
        ([v4_trade(v4_single(DAI, USDC), pays(DAI), takes(USDC, SENDER, 1))], 0, "not all that the swap brings"),
        ([v4_trade(v4_single(DAI, USDC), pays(DAI), (TAKE + 1, b""))], 0, "takes no proceeds"),
        ([v4_trade((0x05, b""), pays(DAI), takes(USDC))], 0, "is no swap"),
        ([v4_trade(v4_path(DAI, USDC, limits=(1,)), pays(DAI), takes(USDC))], 0, "limits single pools, or has none"),
        ([v4_trade(v4_path(DAI), pays(DAI), takes(DAI))], 0, "limits single pools, or has none"),
        ([v4_trade(v4_single(DAI, USDC), pays(DAI), takes(USDC, V4.router))], 0, "would keep what it is to pay out"),
        ([v4_trade(v4_single(DAI, USDC), pays(DAI), takes(USDC, ROUTER))], 0, "would keep what a swap brings"),
        ([v4_trade(v4_single(DAI, USDC), pays(DAI), takes(USDC, ROUTER)), swept(USDC)], 0, "no swap left"),
        ([DAI_USDC, swept(DAI)], 0, "no swap left"),
        ([swept(DAI), DAI_USDC], 0, "no swap left"),
        ([v4_trade(COIN_USDC, settles(COIN), takes(USDC))], 50, "what a swap did not need"),
        ([v4_trade(COIN_USDC, settles(COIN), takes(USDC)), swept(COIN)], 49, "not exactly what the swap spends"),
        ([v4_trade(COIN_USDC, settles(COIN), takes(USDC)), swept(COIN)], 51, "not exactly what the swap spends"),
        ([v4_trade(COIN_USDC, settles(COIN, 1), takes(USDC)), swept(COIN)], 50, "what the router holds for it"),
        ([v4_trade(COIN_USDC, settles(COIN, users=True), takes(USDC)), swept(COIN)], 50, "what the router holds"),
        ([v4_trade(COIN_USDC, settles(USDC), takes(USDC)), swept(COIN)], 50, "what the router holds for it"),
        ([v4_trade(COIN_USDC, settles(COIN), takes(USDC)), swept(COIN)], 0, "happens to hold"),
        ([v4_trade(v4_single(WETH, USDC), settles(WETH), takes(USDC)), swept(WETH)], 50, "not exactly what the swap"),
        ([v4_trade(v4_single(DAI, USDC), settles(DAI), takes(USDC)), swept(DAI)], 50, "not exactly what the swap"),
        ([wrap(), v4_trade(COIN_USDC, settles(COIN), takes(USDC)), swept(COIN)], 50, "not exactly what the swap"),
        ([wrap(amount=49)], 50, "all the coin it is sent"),
        ([wrap(SENDER)], 50, "all the coin it is sent"),
        ([wrap(amount=0)], 0, "all the coin it is sent"),
        ([wrap(), wrap()], 50, "all the coin it is sent"),
        ([DAI_USDC, wrap(SENDER, FAR)], 0, "what no swap left or brought"),
        ([v4_trade(COIN_USDC, settles(COIN), takes(USDC)), wrap(SENDER, 50)], 50, "or a part of it"),
        ([DAI_USDC, unwraps()], 0, "what no swap left or brought"),
        ([unwraps(ROUTER, 50)], 0, "what it did not take"),
        ([handed(), unwraps(ROUTER, 49)], 0, "what it did not take"),
        ([handed(), unwraps(SENDER, 50)], 0, "what it did not take"),
        ([wrap(), unwraps(ROUTER, 50)], 50, "what it did not take"),
        ([handed(DAI)], 0, "not to unwrap for a swap"),
        ([handed(WETH, SENDER)], 0, "not to unwrap for a swap"),
        ([handed(amount=0)], 0, "not to unwrap for a swap"),
        ([handed(), handed()], 0, "not to unwrap for a swap"),
        ([DAI_USDC, handed()], 0, "not to unwrap for a swap"),
        ([handed(), DAI_USDC], 0, "not what it spends"),
        ([handed(), older(8, DAI, USDC)], 0, "swaps twice, or takes"),
        ([handed(amount=49), unwraps(ROUTER, 49), v4_trade(COIN_USDC, settles(COIN), takes(USDC))], 0, "not exactly"),
        ([wrap(), older(8, DAI, USDC)], 50, "holds what its swap does not use"),
        ([older(8, DAI, USDC)], 50, "holds what its swap does not use"),
        ([wrap(), older(8, DAI, USDC, users=False)], 50, "not exactly what the swap spends"),
        ([wrap(amount=49), older(8, WETH, USDC, users=False)], 49, "not exactly what the swap spends"),
        ([older(8, WETH, USDC, users=False)], 50, "not exactly what the swap spends"),
        ([older(8, DAI)], 0, "from one token to another"),
        ([older(8, DAI, USDC, DAI)], 0, "from one token to another"),
        ([older(8, DAI, USDC, amount=0)], 0, "spends what lies there"),
        ([older(9, DAI, USDC, least=0)], 0, "spends what lies there"),
        ([older(9, DAI, USDC, amount=0)], 0, "spends what lies there"),
        ([older(8, DAI, USDC, to=ROUTER)], 0, "would keep what a swap brings"),
        ([(0x3F, b"")], 0, "command 0x3f"),
    ],
)
def test_what_the_universal_router_would_keep_or_take_is_refused(
    commands: Sequence[Command], value: int, says: str
) -> None:
    refuse(V4.router, universal(*commands), says, value=value)


def test_an_empty_list_of_limits_of_single_pools_says_nothing_and_another_is_refused() -> None:
    types = "address;uint256;uint256;address[];bool;uint256[]"
    with_limits = [(0x08, values(types, SENDER, 50, 40, (DAI, USDC), True, limits)) for limits in ((), (1,))]
    assert tell(read(V4.router, universal(with_limits[0]))) == tell(read(V4.router, universal(older(8, DAI, USDC))))
    refuse(V4.router, universal(with_limits[1]), "limits single pools")


def test_each_command_has_its_input_and_another_function_is_not_known() -> None:
    code, data = DAI_USDC
    more = encode_call("function execute(bytes,bytes[],uint256)", bytes((code, code)), [data], END)
    refuse(V4.router, more, "more commands than inputs")
    refuse(V4.router, REFUND, "Universal Router is not known")


# ---- V4 positions ---------------------------------------------------------------------------------------------------

GROW, SHRINK, OPEN, BURN = 0x00, 0x01, 0x02, 0x03
PAIR, TAKE_PAIR, CLOSE, SWEPT = 0x0D, 0x11, 0x12, 0x14
BY_COIN, PLAIN = (COIN, USDC), (DAI, USDC)


def modify(*actions: Command, until: int = END) -> bytes:
    unlock = values("bytes;bytes[]", bytes(code for code, _ in actions), [data for _, data in actions])
    return encode_call("function modifyLiquidities(bytes,uint256)", unlock, until)


def opens(pair: tuple[str, str] = PLAIN, to: str = OTHER, hook_data: bytes = b"") -> Command:
    types = f"{KEY};int24;int24;uint256;uint128;uint128;address;bytes"
    return OPEN, values(types, (*pair, 500, 10, COIN), -10, 10, 9, 50, 60, to, hook_data)


def settled(pair: tuple[str, str] = PLAIN) -> Command:
    return PAIR, values("address;address", *pair)


def closed(token: str) -> Command:
    return CLOSE, values("address", token)


def back(token: str = COIN, to: str = SENDER) -> Command:
    return SWEPT, values("address;address", token, to)


def changes(code: int, number: int = 7, most: tuple[int, int] = (50, 60), liquidity: int = 9) -> Command:
    return code, values("uint256;uint256;uint128;uint128;bytes", number, liquidity, *most, b"")


def burns(number: int = 7, least: tuple[int, int] = (4, 3), hook_data: bytes = b"") -> Command:
    return BURN, values("uint256;uint128;uint128;bytes", number, *least, hook_data)


def taken(pair: tuple[str, str] = BY_COIN, to: str = OTHER) -> Command:
    return TAKE_PAIR, values("address;address;address", *pair, to)


GROWN: Final = (changes(GROW), closed(COIN), closed(USDC))
OWN_LEGS: Final = legs(NATIVE, USDC, key="v4:7")
OWN_POOL: Final = [(WETH, USDC, None)]
LEAVING: Final = {
    "receives": {NATIVE: 4, USDC: 3},
    "open": sorted((NATIVE, USDC)),
    "until": [END],
    "changes": OWN_LEGS,
    "markets": OWN_POOL,
}


@pytest.mark.parametrize(
    ("actions", "value", "told"),
    [
        (
            [opens(), settled()],
            0,
            {
                "spends": {DAI: 50, USDC: 60},
                "to": [OTHER],
                "until": [END],
                "changes": legs(DAI, USDC, key=None),
                "markets": [(DAI, USDC, None)],
            },
        ),
        (
            [opens(BY_COIN, SENDER), settled(BY_COIN), back()],
            50,
            {
                "spends": {NATIVE: 50, USDC: 60},
                "to": [ME, ME],
                "until": [END],
                "changes": legs(NATIVE, USDC, key=None),
                "markets": OWN_POOL,
            },
        ),
        (
            [*GROWN, back()],
            50,
            {
                "spends": {NATIVE: 50, USDC: 60},
                "open": sorted((NATIVE, USDC)),
                "to": [ME],
                "until": [END],
                "changes": OWN_LEGS,
                "markets": OWN_POOL,
            },
        ),
        ([changes(SHRINK, most=(4, 3)), taken()], 0, {**LEAVING, "to": [OTHER]}),
        ([burns(), taken(to=SENDER)], 0, {**LEAVING, "to": [ME], "items": [(V4.positions, 7, NOBODY)]}),
        (
            [changes(SHRINK, most=(0, 0), liquidity=0), taken()],
            0,
            {**LEAVING, "receives": {NATIVE: 0, USDC: 0}, "to": [OTHER]},
        ),
    ],
)
def test_what_a_position_of_v4_takes_and_pays_is_read_whole(
    actions: Sequence[Command], value: int, told: dict[str, Any]
) -> None:
    assert tell(read(V4.positions, modify(*actions), value)) == told


@pytest.mark.parametrize(
    ("actions", "value", "says"),
    [
        ([opens(), settled(BY_COIN)], 0, "not paid for in the currencies"),
        ([opens(), back()], 0, "not paid for in the currencies"),
        ([opens(hook_data=b"x"), settled()], 0, "nobody here reads"),
        ([opens(), settled(), back(DAI)], 0, "more than one change"),
        ([opens(), settled()], 1, "not exactly the most"),
        ([opens(BY_COIN), settled(BY_COIN), back()], 49, "not exactly the most"),
        ([opens(BY_COIN), settled(BY_COIN)], 50, "would keep the coin"),
        ([opens(BY_COIN), settled(BY_COIN), back(USDC)], 50, "would keep the coin"),
        ([opens(BY_COIN), settled(BY_COIN), back(to=V4.positions)], 50, "would keep what it is to pay out"),
        ([opens(to=ROUTER), settled()], 0, "would keep what it is to pay out"),
        ([changes(GROW), closed(USDC), closed(COIN), back()], 50, "not paid for in the currencies"),
        ([changes(GROW), closed(COIN), back()], 50, "not paid for in both currencies"),
        ([changes(GROW, 8), closed(COIN), closed(USDC), back()], 50, "belongs to"),
        ([burns(), taken()], 1, "only pays out"),
        ([burns(8), taken()], 0, "belongs to"),
        ([burns(least=(0, 0)), taken()], 0, "at any price"),
        ([burns(hook_data=b"x"), taken()], 0, "nobody here reads"),
        ([changes(SHRINK, most=(0, 0)), taken()], 0, "at any price"),
        ([changes(SHRINK), taken(PLAIN)], 0, "not both currencies of the pool"),
        ([changes(SHRINK)], 0, "not taken whole"),
        ([changes(SHRINK), back()], 0, "not taken whole"),
        ([changes(SHRINK), taken(), back()], 0, "not taken whole"),
        ([back()], 0, "action 0x14"),
        ([], 0, "more actions than parameters, or less, or none"),
    ],
)
def test_what_the_position_manager_of_v4_would_keep_is_refused(
    actions: Sequence[Command], value: int, says: str
) -> None:
    refuse(V4.positions, modify(*actions), says, value=value)


def test_an_action_without_its_parameter_and_another_function_are_not_known() -> None:
    unlock = values("bytes;bytes[]", bytes((BURN, TAKE_PAIR)), [burns()[1]])
    refuse(V4.positions, encode_call("function modifyLiquidities(bytes,uint256)", unlock, END), "more actions")
    refuse(V4.positions, REFUND, "position manager is not known")


@pytest.mark.parametrize(
    ("actions", "holds"),
    [
        ([burns(), taken(to=ME)], True),
        ([burns(), taken(to=SENDER)], True),
        ([changes(SHRINK), taken(to=SENDER)], True),
        ([burns(), taken(to=OTHER)], False),
        ([opens(), settled()], False),
        ([*GROWN, back()], False),
        ([burns()], False),
        ([], False),
    ],
)
def test_only_what_takes_out_and_pays_the_account_is_a_way_out(actions: Sequence[Command], holds: bool) -> None:
    unlock = values("bytes;bytes[]", bytes(code for code, _ in actions), [data for _, data in actions])
    there = There(ME, lambda key: None)
    assert OnlyTakesOut().holds((unlock, END), there) is holds
