"""What is drawn of a position of concentrated liquidity: its fees beside what is in it, and what its hook could do."""

from __future__ import annotations

from typing import Any

from permits_app.permits.position_range_chart import tell_range
from tools_app.portfolio.holdings import HeldPosition, Worth
from tools_app.toolkit.positions import Position, PositionRef
from tools_app.toolkit.views import TokenMeta

WETH = TokenMeta(31337, "0x" + "11" * 20, "WETH", 18, "Wrapped", is_registered=True)
USDC = TokenMeta(31337, "0x" + "22" * 20, "USDC", 6, "Dollar", is_registered=True)
# 1.0001 ** -196,256 * 10**12 is about 3,000 USDC for one WETH.
TICK = -196_256


def held(**changes: Any) -> HeldPosition:
    facts = {
        "token0": WETH.address,
        "token1": USDC.address,
        "tick_lower": str(TICK - 1_000),
        "tick_upper": str(TICK + 1_000),
        "pool_tick": str(TICK),
        "in_range": True,
        "fees0": "0",
        "fees1": "0",
        "at_pool_price0": str(10**18),
        "at_pool_price1": str(3_000 * 10**6),
        **changes,
    }
    parts = tuple(Worth(token, raw) for token, raw in ((WETH, 10**18), (USDC, 3_000 * 10**6)))
    return HeldPosition(Position(PositionRef("uniswap", "nft", 31337, "7"), "a range", (), facts=facts), parts)


def test_fees_are_told_in_both_tokens_and_as_a_share_of_what_is_in_the_position() -> None:
    told = tell_range(held(fees0=str(10**16), fees1=str(30 * 10**6)))
    assert told is not None
    # A hundredth of each side; the bar is full at a tenth.
    assert told.fees == ("0.01 WETH", "30 USDC")
    assert (told.fees_bps, told.fees_at) in ((100, 10), (99, 9))


def test_a_position_without_fees_says_none_and_one_of_fees_alone_has_no_share() -> None:
    none = tell_range(held())
    assert none is not None and (none.fees, none.fees_bps, none.fees_at) == ((), 0, 0)
    empty = tell_range(held(at_pool_price0="0", at_pool_price1="0", fees1="5000000"))
    assert empty is not None and (empty.fees, empty.fees_bps) == (("5 USDC",), 0)


def test_fees_of_a_tenth_fill_the_bar_and_a_little_less_does_not() -> None:
    tenth, less = (tell_range(held(fees0=str(10**17), fees1=str(usdc * 10**6))) for usdc in (301, 290))
    assert tenth is not None and less is not None
    assert (tenth.fees_bps // 10, tenth.fees_at) == (100, 100)
    assert (less.fees_bps // 10, less.fees_at) == (99 - 1, 99 - 1)


def test_fees_above_a_tenth_fill_the_bar_and_no_more() -> None:
    told = tell_range(held(fees0=str(10**18), fees1=str(3_000 * 10**6)))
    assert told is not None and told.fees_bps >= 9_999 and told.fees_at == 100


def test_a_hook_is_told_with_what_it_could_do_and_whether_that_is_a_risk() -> None:
    plain = tell_range(held())
    assert plain is not None and (plain.hook, plain.is_risky) == ("", False)
    told = tell_range(held(hook_could="can stop or tax a withdrawal", hook_powers=["EXITS"], hook_is_risky=True))
    assert told is not None and (told.hook, told.is_risky) == ("can stop or tax a withdrawal", True)
    assert (plain.powers, told.powers) == ((), ("EXITS",))
