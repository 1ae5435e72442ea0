"""What reviewers, outcomes and pages decide by a number, just below, at and just above it."""

from __future__ import annotations

import pytest

from permits_app.admin.outcome_table import _gas_row, _row, _signed
from permits_app.approvals.owner_states import _OF_PERMIT, TRANSITIONS
from permits_app.backtest.least_policy import _spread
from permits_app.execution.outcome import _divergence
from permits_app.models.owner_transaction import OwnerTransactionState as S
from permits_app.models.permit import PermitStatus
from permits_app.pages.golem_figures import _meter_tone, _percent
from permits_app.policy_cage.safe_tx import SafeTx, build_typed_data
from permits_app.reviewers.revert_risk import _moves_beyond, count_wait_blocks
from permits_app.safety.assets import Portfolio
from tools_app.toolkit.markets import PricePoint


@pytest.mark.parametrize(
    ("wait", "blocks", "seconds", "counted"),
    [
        (60, 0, 600, 1),
        (60, -1, 600, 1),
        (60, 100, 1_200, 5),
        (61, 100, 1_200, 6),
        (1, 100, 1_200, 1),
        (60, 100, 10, 50),
        (30, 100, 10, 30),
        (600, 100, 1_200, 50),
        (60, 1, 12, 1),
    ],
)
def test_a_wait_is_as_many_blocks_as_the_chain_makes_and_at_most_half_of_those_seen(
    wait: int, blocks: int, seconds: int, counted: int
) -> None:
    assert count_wait_blocks(wait_seconds=wait, blocks=blocks, seconds=seconds) == counted


@pytest.mark.parametrize(
    ("before", "after", "moves"),
    [
        ((100, 1), (99, 1), (False, False)),
        ((10_000, 1), (9_899, 1), (True, False)),
        ((9_900, 1), (10_000, 1), (False, False)),
        ((9_899, 1), (10_000, 1), (False, True)),
        ((1, 3), (1, 2), (False, True)),
        ((1, 2), (1, 3), (True, False)),
    ],
)
def test_a_price_moves_beyond_a_tolerance_only_above_it(
    before: tuple[int, int], after: tuple[int, int], moves: tuple[bool, bool]
) -> None:
    one, other = (PricePoint(block_number=1, numerator=top, denominator=below) for top, below in (before, after))
    assert _moves_beyond(one, other, 100) == moves


@pytest.mark.parametrize(
    ("expected", "actual", "bps"),
    [(0, 0, 0), (7, 7, 0), (1_000, 999, 10), (1_000, 1_001, 10), (-1_000, -990, 100), (0, 1, 10_000), (10, 90, 10_000)],
)
def test_a_divergence_is_of_what_was_expected_and_at_most_all_of_it(expected: int, actual: int, bps: int) -> None:
    assert _divergence(expected, actual) == bps


def test_questions_are_tried_in_an_order_that_spreads_over_all_of_them() -> None:
    question: object = object()
    order = sorted(range(1_000), key=lambda place: _spread((place, question)))  # type: ignore[arg-type]
    assert sorted(order) == list(range(1_000)) and all(0 <= _spread((at, question)) < 2**32 for at in order)  # type: ignore[arg-type]
    # The first ten of them lie in ten different tenths, so that a few questions already bound a limit.
    assert len({place // 100 for place in order[:16]}) >= 9


@pytest.mark.parametrize(
    ("used", "limit", "percent", "tone"),
    [(0, 100, 0, "good"), (69, 100, 69, "good"), (70, 100, 70, "warn"), (89, 100, 89, "warn"), (90, 100, 90, "bad")]
    + [(200, 100, 100, "bad"), (0, 0, 100, "bad"), (1, 3, 33, "good")],
)
def test_a_meter_warns_from_seventy_percent_and_is_bad_from_ninety(
    used: int, limit: int, percent: int, tone: str
) -> None:
    assert (_percent(used, limit), _meter_tone(percent)) == (percent, tone)


@pytest.mark.parametrize(
    ("expected", "actual", "difference", "shares"),
    [
        (100, 100, "none", (100, 100)),
        (100, 150, "+50 gas", (66, 100)),
        (2_000, 500, "-1,500 gas", (100, 25)),
        (0, 0, "none", (0, 0)),
    ],
)
def test_gas_is_told_with_its_difference_and_drawn_beside_the_larger(
    expected: int, actual: int, difference: str, shares: tuple[int, int]
) -> None:
    row = _gas_row("Gas", expected, actual)
    assert (row.difference, row.is_exact) == (difference, expected == actual)
    assert (row.expected_percent, row.actual_percent) == shares


def test_a_row_of_losses_is_drawn_by_its_size_and_a_gain_carries_its_sign() -> None:
    row = _row(name="P&L", expected="", actual="", difference="worse", figures=(-50, -100))
    assert (row.expected_percent, row.actual_percent, row.difference, row.is_exact) == (50, 100, "worse", False)
    assert _signed(1, 0, "X").startswith("+") and not _signed(0, 0, "X").startswith("+")
    assert _signed(-1, 0, "X").startswith("-")


def test_an_owners_transaction_lives_through_these_states_and_no_others() -> None:
    written = {
        S.SIGNING: {S.RELEASED, S.EXECUTED, S.DEAD},
        S.RELEASED: {S.SENT, S.EXECUTED, S.FAILED, S.DEAD},
        S.SENT: {S.EXECUTED, S.FAILED, S.DEAD},
        S.EXECUTED: {S.SENT, S.DEAD},
        S.FAILED: {S.EXECUTED, S.DEAD},
        S.DEAD: {S.EXECUTED},
    }
    assert TRANSITIONS == written and set(written) == set(S)


def test_every_end_of_a_permit_ends_its_owners_transaction_or_leaves_it_sent() -> None:
    ends = {
        PermitStatus.UNKNOWN: S.SENT,
        PermitStatus.COMMITTED: S.EXECUTED,
        PermitStatus.REVERTED: S.FAILED,
        PermitStatus.BLOCKED: S.DEAD,
        PermitStatus.CANCELLED: S.DEAD,
        PermitStatus.EXPIRED: S.DEAD,
    }
    assert ends == _OF_PERMIT
    assert all(any(end in TRANSITIONS[state] for state in (S.SIGNING, S.RELEASED, S.SENT)) for end in ends.values())


def test_an_owner_is_shown_all_ten_fields_of_a_safes_transaction() -> None:
    shown = build_typed_data(SafeTx("0x" + "11" * 20, b"\x01", 7, 5, 1), safe="0x" + "22" * 20, chain_id=1)
    kinds = {field["name"]: field["type"] for field in shown["types"]["SafeTx"]}
    assert kinds == {
        **{"to": "address", "value": "uint256", "data": "bytes", "operation": "uint8", "safeTxGas": "uint256"},
        **{"baseGas": "uint256", "gasPrice": "uint256", "gasToken": "address", "refundReceiver": "address"},
        "nonce": "uint256",
    }
    assert set(shown["message"]) == set(kinds)
    assert [field["name"] for field in shown["types"]["SafeTx"]] == list(kinds)


@pytest.mark.parametrize(("gift", "arrives", "count"), [(1_000, 0, 2), (999, 0, 1), (999, 1, 2), (0, 1, 2), (0, 0, 1)])
def test_a_gift_under_a_thousandth_takes_room_where_a_plan_adds(gift: int, arrives: int, count: int) -> None:
    before = {"0xA": 1_000_000 - gift, "0xB": gift}
    after = {"0xA": before["0xA"] - arrives, "0xB": gift + arrives}
    assert Portfolio(before, after, names={}, base_asset="0xA").count_assets() == count
