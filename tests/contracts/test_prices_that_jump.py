"""Feeds that jump, that stand at the bounds of their aggregator, and a rollup whose sequencer was down."""

from __future__ import annotations

from dataclasses import replace

import pytest

from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.begin_prices import read_price
from permits_app.policy_cage.contract import (
    AssetRule,
    Rule,
    RuleKind,
    address_key,
    guardian_rule,
    sequencer_rule,
)
from permits_app.policy_cage.feed_bounds import SETTLING_SECONDS, pack_bound, unpack_bound
from tests.contracts.attackers import ran, refused
from tests.contracts.test_governance import inner_error
from tests.contracts.test_hostile import add_asset, allow_all, error_in_call
from tests.proof.caged.engines import Sent
from tests.proof.caged.safe import FEED_DECIMALS, MAX_AGE, USD, CagedSafe, deploy, set_session
from tools_app.chain.abi import encode_call

HOUR, DAY = 3_600, 86_400
DOLLAR = 10**8
SET_FEED = "function set(int256 answer, int256 age, uint80 roundId, uint80 answeredIn)"
FEED = "constructor(uint8 decimals, int256 answer)"


def asset_rule(caged: CagedSafe, symbol: str, *, jump: int = 0, least: int = 0, most: int = 0) -> Rule:
    coin = caged.coins[symbol]
    asset = AssetRule(coin.feed, MAX_AGE, coin.decimals, FEED_DECIMALS, most_jump_percent=jump, least=least, most=most)
    return Rule(RuleKind.ASSET, address_key(coin.address), asset.pack())


def bound(caged: CagedSafe, *rules: Rule) -> None:
    """Tighter, so at once."""
    assert caged.propose(*rules).succeeded
    assert all(caged.rule(rule) == rule.value for rule in rules)


def touch(caged: CagedSafe) -> Sent:
    """A batch that moves nothing; all that is held is valued."""
    return caged.execute(caged.approve("USDC", 1))


def note(caged: CagedSafe) -> Sent:
    return caged.engine.send(caged.stranger, caged.cage, cage_contract.encode_note_prices())


@pytest.fixture
def watched(caged: CagedSafe) -> CagedSafe:
    """WETH may move by a quarter from batch to batch, USDC by a twentieth; one batch has run."""
    bound(caged, asset_rule(caged, "WETH", jump=25), asset_rule(caged, "USDC", jump=5))
    ran(caged, touch(caged))
    return caged


def test_a_price_that_jumped_since_the_last_batch_stops_what_holds_its_asset(watched: CagedSafe) -> None:
    watched.set_price("WETH", 3_749 * DOLLAR)
    ran(watched, touch(watched))
    watched.set_price("WETH", 4_700 * DOLLAR)
    name, args = watched.error(touch(watched))
    assert (name, args["asset"]) == ("PriceJumped", watched.coins["WETH"].address)
    watched.set_price("WETH", 2_800 * DOLLAR)
    assert refused(watched, touch(watched)) == "PriceJumped"
    watched.set_price("WETH", 2_900 * DOLLAR)
    ran(watched, touch(watched))
    watched.set_price("USDC", 106 * DOLLAR // 100)
    assert refused(watched, touch(watched)) == "PriceJumped"


def test_theft_at_a_feed_that_jumped_is_refused_and_passes_without_the_bound(watched: CagedSafe) -> None:
    """WETH is said to be worth twice what it is: half of what is paid for it goes to the thief."""
    watched.set_price("WETH", 6_000 * DOLLAR)
    bought = watched.trade("USDC", 600 * USD, "WETH", watched.coins["WETH"].units("0.1"))
    assert refused(watched, watched.execute(*bought)) == "PriceJumped"
    watched.change(asset_rule(watched, "WETH"))
    set_session(watched)
    ran(watched, watched.execute(*bought))


def test_a_price_that_jumped_of_what_is_not_held_stops_nothing_and_is_not_learnt(watched: CagedSafe) -> None:
    weth = watched.coins["WETH"]
    held = watched.balance("WETH")
    away = encode_call("function transfer(address to, uint256 amount)", watched.stranger.address, held)
    assert watched.owner_call(weth.address, away).succeeded
    ran(watched, touch(watched))
    watched.set_price("WETH", 6_000 * DOLLAR)
    ran(watched, touch(watched))
    ran(watched, touch(watched))
    bought = watched.trade("USDC", 600 * USD, "WETH", weth.units("0.1"))
    assert refused(watched, watched.execute(*bought)) == "PriceJumped"


def test_anyone_notes_a_price_that_jumped_and_an_hour_later_batches_run(watched: CagedSafe) -> None:
    assert not note(watched).succeeded
    watched.set_price("WETH", 6_000 * DOLLAR)
    assert note(watched).succeeded
    assert not note(watched).succeeded
    noted = watched.engine.now() - 2
    name, args = watched.error(touch(watched))
    assert name == "PricesNotSettled"
    assert abs(args["settledAt"] - noted - SETTLING_SECONDS) <= 2
    watched.engine.advance(SETTLING_SECONDS)
    ran(watched, touch(watched))
    # A lie that ends within the hour is told again.
    watched.set_price("WETH", 3_000 * DOLLAR)
    assert refused(watched, touch(watched)) == "PriceJumped"


def test_the_owners_note_a_price_and_batches_run_at_once(watched: CagedSafe) -> None:
    watched.set_price("WETH", 6_000 * DOLLAR)
    assert note(watched).succeeded
    assert refused(watched, touch(watched)) == "PricesNotSettled"
    assert watched.owner_call(watched.cage, cage_contract.encode_note_prices()).succeeded
    ran(watched, touch(watched))
    again = watched.owner_call(watched.cage, cage_contract.encode_note_prices())
    assert inner_error(again)[0] == "NothingChanges"


def test_prices_are_not_noted_in_the_middle_of_a_batch(watched: CagedSafe) -> None:
    allow_all(watched)
    set_session(watched)
    relayer = deploy(watched, "Relayer")
    data = cage_contract.encode_note_prices()
    inside = watched.call(relayer, "function relay(address to, bytes data)", watched.cage, data)
    watched.set_price("WBTC", 90_000 * DOLLAR)
    assert error_in_call(watched, [inside]) == "Reentered"


def test_the_price_of_an_asset_moves_with_its_place_on_the_list(watched: CagedSafe) -> None:
    """The last of the list takes the place of one that goes; what comes next begins without a price."""
    token = deploy(watched, "FragileToken")
    add_asset(watched, token, watched.coins["WBTC"].feed)
    set_session(watched)
    bound(watched, asset_rule(watched, "WBTC", jump=25))
    ran(watched, touch(watched))
    listed = list(watched.ask("assets"))
    seen = watched.ask("seenPrices")
    assert [read_price(seen, index) for index, _ in enumerate(listed)][3:] == [0]
    gone = watched.coins["WETH"]
    away = encode_call(
        "function transfer(address to, uint256 amount)", watched.stranger.address, watched.balance("WETH")
    )
    assert watched.owner_call(gone.address, away).succeeded
    assert watched.propose(Rule(RuleKind.ASSET, address_key(gone.address), 0)).succeeded
    kept = watched.ask("seenPrices")
    place = listed.index(gone.address)
    assert read_price(kept, place) == 0 and read_price(kept, 3) == 0
    assert [read_price(kept, index) for index in range(3) if index != place] == [
        read_price(seen, index) for index in range(3) if index != place
    ]
    assert list(watched.ask("assets"))[place] == token
    ran(watched, touch(watched))


def test_an_answer_at_the_bound_of_its_aggregator_is_not_believed(caged: CagedSafe) -> None:
    bound(caged, asset_rule(caged, "WETH", least=100 * DOLLAR, most=10_000 * DOLLAR))
    ran(caged, touch(caged))
    for answer in (unpack_bound(pack_bound(100 * DOLLAR, rounds_up=True)), unpack_bound(pack_bound(10_000 * DOLLAR))):
        caged.set_price("WETH", answer)
        assert refused(caged, touch(caged)) == "PriceUnusable"
    caged.set_price("WETH", 101 * DOLLAR)
    ran(caged, touch(caged))


@pytest.mark.parametrize("answer", [1, 511, 512, 513, 10**8, 3_000 * 10**8, 2**94 + 1, 2**95 - 1])
def test_a_bound_is_kept_on_the_strict_side(answer: int) -> None:
    least, most = unpack_bound(pack_bound(answer, rounds_up=True)), unpack_bound(pack_bound(answer))
    assert most <= answer <= least
    assert (least - most) * 256 <= answer


def test_bounds_hold_at_once_when_tighter_and_wait_when_looser(caged: CagedSafe) -> None:
    def delay(rule: Rule) -> int:
        return int(caged.ask("delayOf", int(rule.kind), rule.key, rule.value))

    tight = {"jump": 25, "least": 100 * DOLLAR, "most": 10_000 * DOLLAR}
    bound(caged, asset_rule(caged, "WETH", **tight))
    for tighter in ({"jump": 24}, {"least": 101 * DOLLAR}, {"most": 9_000 * DOLLAR}):
        assert delay(asset_rule(caged, "WETH", **{**tight, **tighter})) == 0
    looser = ({"jump": 26}, {"jump": 0}, {"least": 99 * DOLLAR}, {"least": 0}, {"most": 11_000 * DOLLAR}, {"most": 0})
    for each in looser:
        assert delay(asset_rule(caged, "WETH", **{**tight, **each})) == 2 * DAY
    crooked = replace(asset_rule(caged, "WETH", **tight))
    crooked = replace(crooked, value=crooked.value & ~(0xFFFF << 224) | (1 << 9 | 1) << 224)
    assert inner_error(caged.propose(crooked))[0] == "OutOfRange"


# ---- the sequencer of a rollup ---------------------------------------------------------------------------------------


def tell(caged: CagedSafe, feed: str, answer: int, up_for: int) -> None:
    assert caged.engine.send(caged.stranger, feed, encode_call(SET_FEED, answer, up_for, 1, 1)).succeeded


def test_no_batch_runs_while_the_sequencer_is_down_or_for_an_hour_afterwards(caged: CagedSafe) -> None:
    feed = deploy(caged, "LyingFeed", FEED, 0, 0)
    tell(caged, feed, 0, 2 * HOUR)
    bound(caged, sequencer_rule(feed, grace_seconds=HOUR))
    ran(caged, touch(caged))
    tell(caged, feed, 1, 2 * HOUR)
    assert refused(caged, touch(caged)) == "SequencerNotUp"
    tell(caged, feed, 0, HOUR - 5)
    assert refused(caged, touch(caged)) == "SequencerNotUp"
    tell(caged, feed, 0, HOUR)
    ran(caged, touch(caged))
    # Of the future, and one that does not answer.
    tell(caged, feed, 0, -60)
    assert refused(caged, touch(caged)) == "SequencerNotUp"
    assert caged.engine.send(caged.stranger, feed, encode_call("function breakDown()")).succeeded
    assert refused(caged, touch(caged)) == "SequencerNotUp"


def test_asking_the_sequencer_holds_at_once_and_asking_less_waits(caged: CagedSafe) -> None:
    feed, other = (deploy(caged, "LyingFeed", FEED, 0, 0) for _ in range(2))
    bound(caged, sequencer_rule(feed, grace_seconds=HOUR))

    def delay(rule: Rule) -> int:
        return int(caged.ask("delayOf", int(rule.kind), rule.key, rule.value))

    assert delay(sequencer_rule(feed, grace_seconds=2 * HOUR)) == 0
    for looser in (
        sequencer_rule(feed, grace_seconds=HOUR - 1),
        sequencer_rule(other, grace_seconds=2 * HOUR),
        sequencer_rule("0x" + "00" * 20, grace_seconds=0),
    ):
        assert delay(looser) == 2 * DAY
    for wrong in (
        sequencer_rule(caged.stranger.address, grace_seconds=HOUR),
        sequencer_rule(feed, grace_seconds=DAY + 1),
        Rule(RuleKind.SEQUENCER, guardian_rule(feed).key[:-1] + b"\x01", int(feed, 16)),
    ):
        assert inner_error(caged.propose(wrong))[0] in ("TargetHasNoCode", "OutOfRange")
