"""What an account holds and is worth: tokens and legs, debts subtracted, nothing counted twice or left out unsaid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tools_app.portfolio.paper_bank import (
    BANK,
    CASH,
    CHAIN_ID,
    COIN,
    FREE_AT,
    LOAN,
    ME,
    NAME,
    PROTOCOL,
    QUEUE,
    SHARE,
    TELL,
    Paper,
    PaperChain,
    act,
    health_by_feeds,
    on_the_shelf,
    read_paper,
)
from tools_app.chain.abi import encode_call
from tools_app.chain.networks import MULTICALL3
from tools_app.portfolio.holdings import Holdings, PriceBook, measure_holdings, value_of
from tools_app.portfolio.read_all_positions import foretell_positions, read_positions
from tools_app.portfolio.remembered_followup_reads import LaterReads
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.positions import Leg, Position, PositionRef, PositionsUnreadable
from tools_app.toolkit.views import FeedPrice

USD = 1_000_000


@pytest.fixture(autouse=True)
def bank_on_the_shelf() -> Iterator[None]:
    with on_the_shelf():
        yield


def measure(paper: Paper, **changes: Any) -> Holdings:
    return measure_holdings(chain=read_paper(paper), account=ME, **changes)


STEPS = st.tuples(
    st.sampled_from(("supply", "withdraw", "borrow", "repay", "deposit", "request", "claim")),
    st.integers(0, 3 * 10**21),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, max_size=25), st.integers(10**18, 3 * 10**18))
def test_nothing_that_only_moves_value_changes_the_net_asset_value(steps: list[tuple[str, int]], rate: int) -> None:
    paper = Paper(rate=rate)
    start = measure(paper).nav_micro_usd
    for what, amount in steps:
        act(paper, what, amount)
    held = measure(paper)
    assert held.is_complete and held.is_steady
    # A share and a request lose at most a base unit each to rounding; a token rounds once held and once owed.
    assert abs(held.nav_micro_usd - start) <= 2


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 10**22), st.integers(1, 10**9), st.integers(1, 10**10))
def test_health_is_the_lower_of_the_protocols_word_and_the_feeds(deposited: int, owed: int, loan: int) -> None:
    paper = Paper(deposited=deposited, owed=owed)
    paper.prices["LOAN"] = loan
    [position] = measure(paper).positions
    assert position.health_bps is not None and position.health_bps <= paper.health()
    by_feeds = health_by_feeds(paper)
    # The debt rounds up to a millionth of a dollar, and the cover down.
    assert position.health_bps <= by_feeds
    if owed * loan > 10**14:
        assert position.health_bps >= min(paper.health(), by_feeds * 999 // 1_000) - 1


def test_interest_a_rate_and_a_price_change_what_it_is_worth() -> None:
    paper = Paper(deposited=10**21, owed=10**8, shares=10**21)
    start = measure(paper).nav_micro_usd
    paper.deposited += 10**18
    assert measure(paper).nav_micro_usd == start + USD
    paper.owed += 10**6
    assert measure(paper).nav_micro_usd == start - USD // 2
    paper.rate = 11 * 10**17
    assert measure(paper).nav_micro_usd == start - USD // 2 + 100 * USD
    paper.prices["LOAN"] *= 2
    assert measure(paper).nav_micro_usd == start - USD // 2 + 100 * USD + (10**9 - 101 * 10**6) * 3 // 2


def test_what_is_held_rounds_down_and_what_is_owed_up() -> None:
    third = FeedPrice("0xfeed", 33_333_333, 8, 1, 0, 0)
    assert (value_of(10, LOAN, third), value_of(-10, LOAN, third)) == (3, -4)


def test_a_position_with_an_empty_side_is_worth_the_other_one() -> None:
    legs = (Leg(CASH.address, 10**18), Leg(LOAN.address, 0))
    position = Position(PositionRef(NAME, "range", CHAIN_ID, "1"), "A range", legs)
    held = PriceBook(read_paper(Paper())).weigh_position(position)
    assert (held.micro_usd, held.debt_micro_usd) == (USD, 0)


def test_a_claim_token_counts_through_its_position_alone() -> None:
    paper = Paper(shares=10**21)
    paper.prices["vCASH"] = 5 * 10**8
    held = measure(paper)
    assert held.nav_micro_usd == measure(Paper()).nav_micro_usd + 1_000 * USD
    assert held.token(SHARE.address) is None
    assert [(each.token, each.raw, each.micro_usd) for each in held.claims] == [(SHARE, 10**21, None)]


def test_what_waits_in_a_queue_counts_and_is_not_liquid() -> None:
    held = measure(Paper(queue=[10**20]))
    [request] = held.positions
    assert (request.micro_usd, request.free_at) == (100 * USD, FREE_AT)
    assert held.nav_micro_usd - held.liquid_micro_usd(FREE_AT - 1) == 100 * USD
    assert held.liquid_micro_usd(FREE_AT) == held.nav_micro_usd


def test_what_owes_more_than_it_holds_is_worth_less_than_nothing() -> None:
    paper = Paper(wallet={COIN.address: 0, CASH.address: 0, LOAN.address: 0}, owed=10**6)
    held = measure(paper)
    assert (held.nav_micro_usd, held.debt_micro_usd) == (-1_500_000, 1_500_000)


def test_what_has_no_feed_is_named_and_never_counts_and_a_debt_without_one_makes_the_value_unsteady() -> None:
    paper = Paper(deposited=10**20, owed=10**6)
    del paper.prices["CASH"]
    held = measure(paper)
    assert held.problems == ("NO_PRICE_FEED: CASH", f"NO_PRICE_FEED: CASH in {NAME}/account/{CHAIN_ID}/{ME}")
    assert held.is_steady and not held.is_complete
    assert held.positions[0].health_bps == 0
    del paper.prices["LOAN"]
    assert not measure(paper).is_steady


def test_a_balance_nobody_can_hold_is_left_out_by_name() -> None:
    paper = Paper()
    paper.wallet[CASH.address] = 10**40
    held = measure(paper)
    assert held.problems == ("HOLDINGS_IMPLAUSIBLE: CASH",) and not held.is_steady
    assert held.nav_micro_usd == 3_000 * USD + 1_500 * USD


def test_positions_beyond_those_that_are_read_are_said_and_a_reader_that_fails_is_no_empty_account(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    older = Position(PositionRef(NAME, "older", CHAIN_ID, "7"), "7 older ones", (), is_whole=False)
    whole = Position(PositionRef(NAME, "x", CHAIN_ID, "1"), "One", (Leg(CASH.address, 10**18),))
    told: list[Position] = [older, whole]

    def tell(self: Any, chain_id: int, account: str, hints: Any) -> Any:
        yield []
        return tuple(told)

    monkeypatch.setattr(type(PROTOCOL.positions), "list", tell)
    held = measure(Paper())
    # Nobody met with those, so that none of them ever counted.
    assert held.problems == ("POSITIONS_NOT_COUNTED: 7 older ones",) and held.is_steady
    told[:] = [replace(whole, is_whole=False)]
    held = measure(Paper())
    assert held.problems == ("POSITIONS_NOT_COUNTED: One",) and not held.is_steady

    def fail(self: Any, chain_id: int, account: str, hints: Any) -> Any:
        yield []
        raise KeyError("reserve")

    monkeypatch.setattr(type(PROTOCOL.positions), "list", fail)
    with pytest.raises(PositionsUnreadable, match=NAME):
        measure(Paper())


def test_answers_that_fit_no_state_are_asked_for_once_more_and_never_taken_from_what_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A node that mined meanwhile told a count of one block and the members of the next."""
    asked, forgotten = [0], [0]
    positions = PROTOCOL.positions
    assert positions is not None
    tell = positions.list

    def tell_late(self: Any, chain_id: int, account: str, hints: Any) -> Any:
        asked[0] += 1
        told = yield from tell(chain_id, account, hints)
        if asked[0] == 1:
            raise KeyError("out of bounds")
        return told

    def forget(self: Any) -> None:
        forgotten[0] += 1

    monkeypatch.setattr(type(positions), "list", tell_late)
    monkeypatch.setattr(PaperChain, "forget_reads", forget)
    assert measure(Paper(deposited=10**18)).positions and (asked, forgotten) == ([2], [1])


def test_a_token_that_somebody_put_into_a_position_is_not_asked_and_keeps_nothing_from_being_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    strange = "0x00000000000000000000000000000000000000Ad"

    def tell(self: Any, chain_id: int, account: str, hints: Any) -> Any:
        yield []
        ref = PositionRef(NAME, "nft", CHAIN_ID, "1")
        return (Position(ref, "A gift", (Leg(CASH.address, 5), Leg(strange, 10**30))),)

    monkeypatch.setattr(type(PROTOCOL.positions), "list", tell)
    held = measure(Paper())
    assert held.problems == (f"NO_PRICE_FEED: {strange} in {NAME}/nft/{CHAIN_ID}/1",)
    assert held.is_steady and held.positions[0].micro_usd is None


def test_what_is_asked_first_is_known_without_a_read() -> None:
    nobody_read = "0x00000000000000000000000000000000000000Ae"
    first = foretell_positions(chain_id=CHAIN_ID, account=nobody_read)
    [question] = first.calls
    asked = [(TELL, nobody_read), (QUEUE, nobody_read)]
    assert question.args[0] == tuple((BANK, True, encode_call(signature, account)) for signature, account in asked)
    assert first.contracts == ()


def test_what_was_not_there_is_asked_for_its_code_ahead_the_next_time_and_counts_nothing() -> None:
    class Unbuilt(PaperChain):
        def call_many(self, calls: Sequence[ReadCall]) -> list[ReadOutcome]:
            return [ReadOutcome(call.to != MULTICALL3 and call.to != BANK, (0,)) for call in calls]

        def code(self, address: str) -> bytes:
            return b""

    unbuilt = cast("ChainReader", Unbuilt(Paper(deposited=10**18)))
    assert read_positions(chain=unbuilt, account=ME) == ()
    assert BANK in foretell_positions(chain_id=CHAIN_ID, account=ME).contracts
    assert read_positions(chain=read_paper(Paper(deposited=10**18)), account=ME)[0].legs[0].raw == 10**18


def test_what_a_reading_asked_after_its_first_batch_is_asked_ahead_by_the_next_and_decides_nothing() -> None:
    paper = Paper(shares=10**18)
    measure(paper)
    later = foretell_positions(chain_id=CHAIN_ID, account=ME).calls[1:]
    assert [(call.to, call.args) for call in later] == [(SHARE.address, (ME,)), (BANK, (10**18,))]
    paper.shares = 3 * 10**18
    [vault] = measure(paper).positions
    assert vault.position.legs[0].raw == 3 * 10**18
    assert [call.args for call in foretell_positions(chain_id=CHAIN_ID, account=ME).calls[1:]] == [(ME,), (3 * 10**18,)]


def test_later_reads_are_kept_of_so_many_accounts_and_calls_and_no_more() -> None:
    calls = [ReadCall(BANK, TELL, (number,)) for number in range(4)]
    kept = LaterReads(most_accounts=2, most_calls=3)
    for account in ("first", "second", "third"):
        kept.put(CHAIN_ID, account, calls)
    assert [len(kept.get(CHAIN_ID, account)) for account in ("first", "second", "third")] == [0, 3, 3]
    kept.put(CHAIN_ID, "third", calls[:2])
    assert len(kept.get(CHAIN_ID, "third")) == 2 and kept.get(CHAIN_ID + 1, "third") == ()
