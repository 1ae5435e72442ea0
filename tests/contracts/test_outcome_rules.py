"""What a batch may have done: every limit one below, at, and one above."""

from __future__ import annotations

import pytest

from permits_app.policy_cage.contract import BatchClass, Limit, Rule, RuleKind, address_key, limit_rule
from tests.proof.caged.engines import Sent
from tests.proof.caged.safe import USD, CagedSafe
from tools_app.toolkit.plan import Call

DAY = 86_400
SLOT = 900


def expect(caged: CagedSafe, sent: Sent, refusal: tuple[str, tuple[object, ...]] | None) -> None:
    """It went through, or was refused with exactly this error and these values."""
    if refusal is None:
        assert sent.succeeded, caged.error(sent)
    else:
        name, args = caged.error(sent)
        assert (name, tuple(args.values())) == refusal


def tighten(caged: CagedSafe, limit: Limit, value: int) -> None:
    assert caged.propose(limit_rule(limit, value)).succeeded
    assert caged.rule(limit_rule(limit, 0)) == value


def sell_weth(caged: CagedSafe, dollars_back: int, whole: str | int = 1) -> list[Call]:
    """WETH worth 3,000 USD each for `dollars_back` micro-USD of USDC."""
    return caged.trade("WETH", caged.coins["WETH"].units(whole), "USDC", dollars_back)


@pytest.mark.parametrize(
    ("back", "refusal"),
    [
        (2_910_000_001, None),
        (2_910_000_000, None),
        (2_909_999_999, ("LossTooLarge", (90_000_001, 90_000_000))),
        (0, ("LossTooLarge", (3_000_000_000, 90_000_000))),
    ],
)
def test_a_batch_loses_at_most_300_bps_of_what_it_moves(caged: CagedSafe, back: int, refusal: object) -> None:
    expect(caged, caged.execute(*sell_weth(caged, back)), refusal)  # type: ignore[arg-type]


def test_losses_add_up_over_the_window_and_are_forgotten_a_day_later(caged: CagedSafe) -> None:
    tighten(caged, Limit.MAX_WINDOW_LOSS_BPS, 1)
    expect(caged, caged.execute(*sell_weth(caged, 2_990_000_001)), None)
    assert caged.ask("spent", "0x" + "00" * 19 + "01") == 9_999_999
    # One ten-thousandth of what is held now, 99,990.000001 USD, rounded down.
    expect(caged, caged.execute(*sell_weth(caged, 2_999_000_000)), ("LossInWindowTooLarge", (10_999_999, 9_999_000)))
    caged.engine.advance(DAY - SLOT)
    expect(caged, caged.execute(*sell_weth(caged, 2_999_000_000)), ("LossInWindowTooLarge", (10_999_999, 9_999_000)))
    caged.engine.advance(2 * SLOT + 1)
    expect(caged, caged.execute(*sell_weth(caged, 2_999_000_000)), None)


@pytest.mark.parametrize(("amount", "refused"), [(999_999_999, False), (1_000_000_000, False), (1_000_000_001, True)])
def test_the_outflow_of_an_asset_in_one_batch_is_capped_to_the_base_unit(
    caged: CagedSafe, amount: int, refused: bool
) -> None:
    usdc = caged.coins["USDC"]
    assert caged.propose(Rule(RuleKind.OUTFLOW_PER_BATCH, address_key(usdc.address), 10**9)).succeeded
    sent = caged.execute(*caged.trade("USDC", amount, "WETH", caged.coins["WETH"].units("0.334")))
    expect(caged, sent, ("OutflowTooLarge", (usdc.address, amount, 10**9)) if refused else None)


def test_outflows_add_up_over_the_window_whatever_comes_back(caged: CagedSafe) -> None:
    usdc, weth = caged.coins["USDC"], caged.coins["WETH"]
    assert caged.propose(Rule(RuleKind.OUTFLOW_PER_WINDOW, address_key(usdc.address), 2 * 10**9)).succeeded
    buy, sell = (
        caged.trade("USDC", 10**9, "WETH", weth.units("0.333334")),
        caged.trade("WETH", weth.units("0.333334"), "USDC", 10**9),
    )
    for batch in (buy, sell, buy, sell):
        expect(caged, caged.execute(*batch), None)
    one_more = caged.trade("USDC", 1, "WETH", 10**12)
    expect(caged, caged.execute(*one_more), ("OutflowInWindowTooLarge", (usdc.address, 2 * 10**9 + 1, 2 * 10**9)))
    assert caged.ask("spent", usdc.address) == 2 * 10**9
    caged.engine.advance(DAY + SLOT)
    expect(caged, caged.execute(*one_more), None)
    assert caged.ask("spent", usdc.address) == 1


@pytest.mark.parametrize(
    ("gross", "refused"), [(33_333_333_332, False), (33_333_333_333, False), (33_333_333_334, True)]
)
def test_one_position_is_at_most_a_quarter_of_the_whole(caged: CagedSafe, gross: int, refused: bool) -> None:
    sent = caged.execute(caged.position(gross))
    expect(caged, sent, ("PositionTooLarge", (caged.lender, 2_501, 2_500)) if refused else None)


def test_a_position_over_its_share_may_shrink_but_not_grow(caged: CagedSafe) -> None:
    expect(caged, caged.execute(caged.position(30_000 * USD)), None)
    tighten(caged, Limit.MAX_POSITION_BPS, 1_000)
    expect(caged, caged.execute(caged.position(30_000 * USD + 10)), ("PositionTooLarge", (caged.lender, 2_308, 1_000)))
    dearer = [caged.position(29_000 * USD), *caged.trade("WETH", 10**17, "USDC", 1_300 * USD)]
    expect(caged, caged.execute(*dearer), None)


@pytest.mark.parametrize(
    ("wei", "refused"),
    [(5 * 10**18 - 10**13, False), (5 * 10**18, False), (5 * 10**18 + 10**13, True)],
)
def test_one_asset_is_at_most_three_tenths_of_the_whole(caged: CagedSafe, wei: int, refused: bool) -> None:
    weth = caged.coins["WETH"]
    sent = caged.execute(*caged.trade("USDC", weth.value(wei), "WETH", wei))
    expect(caged, sent, ("ConcentrationTooLarge", (weth.address, 3_001, 3_000)) if refused else None)


def test_the_base_asset_may_be_everything(caged: CagedSafe) -> None:
    calls = [*sell_weth(caged, 15_000 * USD, whole=5), *caged.trade("WBTC", 25_000_000, "USDC", 15_000 * USD)]
    expect(caged, caged.execute(*calls), None)
    assert caged.balance("USDC") == 100_000 * USD


def test_a_price_that_makes_an_asset_too_large_does_not_stop_selling_it(caged: CagedSafe) -> None:
    caged.set_price("WETH", 12_000 * 10**8)
    expect(caged, caged.execute(*caged.trade("WETH", 10**17, "USDC", 1_200 * USD)), None)
    bought = caged.trade("USDC", 1_200 * USD, "WETH", 10**17)
    name, args = caged.error(caged.execute(*bought))
    assert (name, args["allowed"]) == ("ConcentrationTooLarge", 3_000)


def test_of_two_assets_over_a_lowered_share_both_are_sold_together_or_neither_at_a_loss(caged: CagedSafe) -> None:
    """What a sale costs makes the other a larger part of the whole, if only by the dollar that was lost."""
    tighten(caged, Limit.MAX_CONCENTRATION_BPS, 1_000)
    weth = caged.trade("WETH", 10**18, "USDC", 2_999 * USD)
    name, _ = caged.error(caged.execute(*weth))
    assert name == "ConcentrationTooLarge"
    expect(caged, caged.execute(*weth, *caged.trade("WBTC", 5_000_000, "USDC", 2_999 * USD)), None)


MARK_WITH_FLOOR_AT_THE_TOTAL = 114_942_528_736


@pytest.mark.parametrize(("above", "refused"), [(-1, False), (0, False), (1, True)])
def test_a_drawdown_from_the_high_water_mark_stops_opening(caged: CagedSafe, above: int, refused: bool) -> None:
    # 8,700 bps of the mark are the 100,000 USD that are held, and one micro-USD more or less.
    mark = {-1: MARK_WITH_FLOOR_AT_THE_TOTAL - 1, 0: MARK_WITH_FLOOR_AT_THE_TOTAL, 1: MARK_WITH_FLOOR_AT_THE_TOTAL + 1}
    assert mark[above] * 8_700 // 10_000 == 100_000 * USD + above
    tighten(caged, Limit.HIGH_WATER_MARK_MICRO_USD, mark[above])
    sent = caged.execute(*caged.trade("USDC", 3_000 * USD, "WETH", 10**18))
    expect(caged, sent, ("DrawdownExceeded", (100_000 * USD, 100_000 * USD + 1)) if refused else None)


def test_a_drawdown_lets_a_golem_out_and_blocks_until_the_owner_acknowledges(caged: CagedSafe) -> None:
    caged.set_price("WETH", 300 * 10**8)
    opening = caged.trade("USDC", 300 * USD, "WETH", 10**18)
    expect(caged, caged.execute(*opening), ("DrawdownExceeded", (86_500 * USD, 87_000 * USD)))
    sent = caged.execute(*caged.trade("WETH", 10**18, "USDC", 300 * USD))
    expect(caged, sent, None)
    assert caged.ask("isDrawdownBreached")
    caged.set_price("WETH", 3_000 * 10**8)
    expect(caged, caged.execute(*caged.trade("USDC", 30 * USD, "WETH", 10**16)), ("DrawdownNotAcknowledged", ()))
    assert caged.owner_call(caged.cage, acknowledge()).succeeded
    expect(caged, caged.execute(*caged.trade("USDC", 30 * USD, "WETH", 10**16)), None)


def acknowledge() -> bytes:
    from permits_app.policy_cage.contract import encode_acknowledge_drawdown

    return encode_acknowledge_drawdown()


def test_anyone_may_put_a_drawdown_on_record_only_while_there_is_one(caged: CagedSafe) -> None:
    from permits_app.policy_cage.abi import FUNCTIONS
    from tools_app.chain.abi import encode_call

    record = encode_call(FUNCTIONS["recordDrawdown"])
    expect(caged, caged.engine.send(caged.stranger, caged.cage, record), ("NothingChanges", ()))
    caged.set_price("WETH", 300 * 10**8)
    assert caged.engine.send(caged.stranger, caged.cage, record).succeeded
    caged.set_price("WETH", 3_000 * 10**8)
    expect(caged, caged.execute(*caged.trade("USDC", 30 * USD, "WETH", 10**16)), ("DrawdownNotAcknowledged", ()))


@pytest.mark.parametrize(("seconds", "refused"), [(3_599, True), (3_600, False), (3_601, False)])
def test_rebalances_are_at_least_an_hour_apart(caged: CagedSafe, seconds: int, refused: bool) -> None:
    batch = caged.trade("WETH", 2 * 10**17, "WBTC", 1_000_000)
    first = caged.execute(*batch)
    expect(caged, first, None)
    caged.engine.advance(first.at + seconds - caged.engine.now())
    expect(caged, caged.execute(*batch), ("RebalanceTooSoon", (seconds, 3_600)) if refused else None)


def test_rebalances_of_a_day_are_counted(caged: CagedSafe) -> None:
    tighten(caged, Limit.MAX_REBALANCES_PER_DAY, 2)
    batch = caged.trade("WETH", 2 * 10**17, "WBTC", 1_000_000)
    for _ in range(2):
        expect(caged, caged.execute(*batch), None)
        caged.engine.advance(3_600)
    expect(caged, caged.execute(*batch), ("TooManyRebalances", (3, 2)))
    expect(caged, caged.execute(*caged.trade("USDC", 30 * USD, "WETH", 10**16)), None)
    caged.engine.advance(DAY - 3_600 + SLOT)
    expect(caged, caged.execute(*batch), None)


@pytest.mark.parametrize(("debt", "refused"), [(9_999, False), (10_000, False), (10_001, True)])
def test_what_is_borrowed_stays_covered_five_quarters(caged: CagedSafe, debt: int, refused: bool) -> None:
    sent = caged.execute(caged.position(12_500 * USD, debt * USD))
    expect(caged, sent, ("CollateralRatioTooLow", (caged.lender, 12_498, 12_500)) if refused else None)


def test_paying_back_a_part_is_allowed_while_the_ratio_is_still_too_low(caged: CagedSafe) -> None:
    expect(caged, caged.execute(caged.position(12_500 * USD, 10_000 * USD)), None)
    tighten(caged, Limit.MIN_COLLATERAL_RATIO_BPS, 20_000)
    paid = [caged.position(12_500 * USD, 9_000 * USD), *caged.take("USDC", 1_000 * USD)]
    expect(caged, caged.execute(*paid), None)
    worse = caged.execute(caged.position(11_000 * USD, 9_000 * USD))
    assert caged.error(worse)[0] in ("LossTooLarge", "CollateralRatioTooLow")


def test_debt_counts_against_what_is_held(caged: CagedSafe) -> None:
    expect(caged, caged.execute(caged.position(12_500 * USD, 10_000 * USD)), None)
    assert caged.ask("measure")[6] == 102_500 * USD


CLASSES = {
    BatchClass.LEAVING: lambda c: c.trade("WETH", 10**17, "USDC", 300 * USD),
    BatchClass.OPENING: lambda c: c.trade("USDC", 300 * USD, "WETH", 10**17),
    BatchClass.REBALANCE: lambda c: c.trade("WETH", 2 * 10**17, "WBTC", 1_000_000),
    BatchClass.OPENING_AND_REBALANCE: lambda c: [
        *c.trade("WETH", 2 * 10**17, "WBTC", 1_000_000),
        *c.trade("USDC", 600 * USD, "WBTC", 1_000_000),
    ],
}


@pytest.mark.parametrize("phase", range(5))
@pytest.mark.parametrize("batch_class", list(CLASSES))
def test_the_phase_decides_which_classes_of_batches_run(caged: CagedSafe, phase: int, batch_class: BatchClass) -> None:
    if phase:
        tighten(caged, Limit.PHASE, phase)
    allowed = batch_class == BatchClass.LEAVING or phase < 2 or (phase == 2 and batch_class == BatchClass.REBALANCE)
    sent = caged.execute(*CLASSES[batch_class](caged))
    expect(caged, sent, None if allowed else ("PhaseForbids", (phase, int(batch_class))))


def test_classes_follow_from_what_the_batch_did(caged: CagedSafe) -> None:
    seen = [
        (caged.trade("WETH", 10**17, "USDC", 300 * USD), BatchClass.LEAVING),
        ([caged.position(10_000 * USD), *caged.take("USDC", 10_000 * USD)], BatchClass.OPENING),
        ([caged.position(9_000 * USD), *give(caged, "WETH", 10**18 // 3)], BatchClass.LEAVING),
        ([caged.position(9_000 * USD, newest=7)], BatchClass.OPENING),
        ([caged.position(8_999 * USD, newest=8), *give(caged, "USDC", USD)], BatchClass.REBALANCE),
    ]
    for calls, expected in seen:
        sent = caged.execute(*calls)
        assert sent.succeeded, caged.error(sent)
        assert class_of(sent) == expected


def give(caged: CagedSafe, symbol: str, amount: int) -> list[Call]:
    """The venue gives tokens, as a venue does when a position is closed."""
    from tests.proof.caged.safe import TRADE

    address = caged.coins[symbol].address
    return [caged.call(caged.venue, TRADE, address, 0, address, amount)]


def class_of(sent: Sent) -> BatchClass:
    from permits_app.policy_cage.contract import decode_cage_event

    events = [event for log in sent.logs if (event := decode_cage_event(log)) is not None]
    [batch] = [event for event in events if event.name == "BatchExecuted"]
    return BatchClass(batch.args["batchClass"])
