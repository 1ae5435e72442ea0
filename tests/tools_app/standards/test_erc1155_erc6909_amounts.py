"""So many of one number: what both sides have afterwards is promised, from what they have now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from tools_app.core.errors import InsufficientBalance
from tools_app.standards.erc1155_erc6909_amounts import NOBODY, AmountUncounted, hold_amounts
from tools_app.standards.one_of_a_kind_tokens import OF_MANY, ONE, SUPPORTS
from tools_app.toolkit.context import ChainReader, ReadCall, ReadOutcome
from tools_app.toolkit.plan import AmountGiven, TxPlan

ACCOUNT, TAKER, CARDS, OTHERS = ("0x" + each * 20 for each in ("aa", "bb", "cc", "dd"))


class Told:
    """Answers of a chain: which kinds contracts say they are, and how many of a number somebody has."""

    def __init__(self, held: Mapping[tuple[str, str, int], int], kinds: Sequence[bytes] = (OF_MANY["ERC-1155"],)):
        self.held, self.kinds = held, kinds

    def call_many(self, calls: Sequence[ReadCall]) -> list[ReadOutcome]:
        return [self._answer(each) for each in calls]

    def _answer(self, call: ReadCall) -> ReadOutcome:
        value: Any
        if call.signature == SUPPORTS:
            value = call.args[0] in self.kinds
        else:
            who, number = call.args
            value = self.held.get((who, call.to, number))
        return ReadOutcome(value is not None, () if value is None else (value,))


def hold(
    *amounts: AmountGiven, held: Mapping[tuple[str, str, int], int], recipients: tuple[str, ...] = (TAKER,)
) -> Any:
    plan = TxPlan(1, (), amounts=amounts, recipients=recipients)
    done = hold_amounts(plan, cast("ChainReader", Told(held)), ACCOUNT)
    assert done.amounts == amounts
    return [(each.gauge.to, *each.gauge.args, each.least, each.most) for each in done.gauges]


def test_the_account_keeps_the_rest_and_the_taker_has_that_many_more() -> None:
    held = {(ACCOUNT, CARDS, 7): 5, (TAKER, CARDS, 7): 2}
    assert hold(AmountGiven(CARDS, 7, TAKER, 3), held=held) == [
        (CARDS, ACCOUNT, 7, 2, None),
        (CARDS, TAKER, 7, 5, None),
    ]
    assert hold(AmountGiven(CARDS, 7, TAKER, 5), held=held)[0] == (CARDS, ACCOUNT, 7, 0, None)


def test_what_is_named_twice_counts_twice_and_numbers_and_contracts_count_apart() -> None:
    held = {(who, at, number): 9 for who in (ACCOUNT, TAKER) for at in (CARDS, OTHERS) for number in (7, 8)}
    named = [AmountGiven(CARDS, 7, TAKER, 3), AmountGiven(CARDS, 7, TAKER, 1), AmountGiven(CARDS, 8, TAKER, 2)]
    assert hold(*named, AmountGiven(OTHERS, 7, TAKER, 5), held=held) == [
        (CARDS, ACCOUNT, 7, 5, None),
        (CARDS, TAKER, 7, 13, None),
        (CARDS, ACCOUNT, 8, 7, None),
        (CARDS, TAKER, 8, 11, None),
        (OTHERS, ACCOUNT, 7, 4, None),
        (OTHERS, TAKER, 7, 14, None),
    ]


def test_what_comes_to_the_account_is_at_least_that_much_more() -> None:
    assert hold(AmountGiven(CARDS, 7, ACCOUNT, 3), held={(ACCOUNT, CARDS, 7): 1}) == [(CARDS, ACCOUNT, 7, 4, None)]


def test_nobody_has_what_is_burnt() -> None:
    held = {(ACCOUNT, CARDS, 7): 5}
    assert hold(AmountGiven(CARDS, 7, NOBODY, 3), held=held) == [(CARDS, ACCOUNT, 7, 2, None)]


def test_more_than_there_is_does_not_leave() -> None:
    with pytest.raises(InsufficientBalance) as caught:
        hold(AmountGiven(CARDS, 7, TAKER, 6), held={(ACCOUNT, CARDS, 7): 5, (TAKER, CARDS, 7): 0})
    assert caught.value.data["have"] == "5" and caught.value.data["need"] == "6"


@pytest.mark.parametrize(
    ("amount", "held", "why"),
    [
        (AmountGiven(CARDS, 7, TAKER, 0), {}, "no amount is said"),
        (AmountGiven(CARDS, 7, TAKER, -1), {}, "no amount is said"),
        (AmountGiven(CARDS, 7, OTHERS, 1), {}, "not among those whom the plan pays"),
        (AmountGiven(CARDS, 7, TAKER, 1), {(ACCOUNT, CARDS, 7): 5}, "does not tell how many there are"),
        (AmountGiven(CARDS, 7, TAKER, 1), {(TAKER, CARDS, 7): 5}, "does not tell how many there are"),
    ],
)
def test_what_cannot_be_held_to_is_no_plan(
    amount: AmountGiven, held: Mapping[tuple[str, str, int], int], why: str
) -> None:
    with pytest.raises(AmountUncounted, match=why):
        hold(amount, held=held)


@pytest.mark.parametrize(
    ("kinds", "passes"),
    [
        ((OF_MANY["ERC-1155"],), True),
        ((OF_MANY["ERC-6909"],), True),
        ((), False),
        ((ONE,), False),
        ((ONE, OF_MANY["ERC-6909"]), False),
    ],
)
def test_a_contract_says_what_it_keeps(kinds: tuple[bytes, ...], passes: bool) -> None:
    plan = TxPlan(1, (), amounts=(AmountGiven(CARDS, 7, ACCOUNT, 1),))
    told = cast("ChainReader", Told({(ACCOUNT, CARDS, 7): 0}, kinds))
    if passes:
        assert len(hold_amounts(plan, told, ACCOUNT).gauges) == 1
    else:
        with pytest.raises(AmountUncounted, match="does not say that it is ERC-1155 or ERC-6909 and no other"):
            hold_amounts(plan, told, ACCOUNT)
