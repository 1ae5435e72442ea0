"""Each event that gives a right away: who gives, who gets and how much, whichever of its arguments a log indexes."""

from __future__ import annotations

from typing import Final

import pytest

from tools_app.chain.abi import checksum, event_topic
from tools_app.simulation.rights import EVERYTHING, RIGHTS, find_right, find_unusual_transfer, read_words
from tools_app.toolkit.views import LogEntry

GIVER, TAKER, ASSET, CONTRACT = (checksum("0x" + digit * 40) for digit in "1234")
ITEM, AMOUNT, OTHER = 77, 5_000, 9

# By the standards' own texts, argument by argument: g the giver, t the taker, a the asset, n the amount, i the item,
# y yes or no, x anything else.
ARGUMENTS: Final = {
    "Approval(address,address,uint256)": "gtn",
    "ApprovalForAll(address,address,bool)": "gty",
    "Approval(address,address,uint256,uint256)": "gtin",
    "OperatorSet(address,address,bool)": "gty",
    "AuthorizedOperator(address,address)": "tg",
    "Approval(address,address,address,uint160,uint48)": "gatnx",
    "Permit(address,address,address,uint160,uint48,uint48)": "gatnxx",
    "SetAuthorization(address,address,address,bool)": "xgty",
    "BorrowAllowanceDelegated(address,address,address,uint256)": "gtan",
    "RelayerApprovalChanged(address,address,bool)": "tgy",
    "RelayerApproval(address,address,bool)": "gty",
}
OWN: Final = {
    "EnabledModule(address)": "t",
    "AddedOwner(address)": "t",
    "ChangedFallbackHandler(address)": "t",
    "ChangedGuard(address)": "t",
    "ChangedModuleGuard(address)": "t",
    "ModuleInstalled(uint256,address)": "xt",
    "OwnershipTransferred(address,address)": "xt",
    "Upgraded(address)": "t",
}


def word(kind: str, *, amount: int = AMOUNT) -> str:
    """One argument as 32 bytes in hex."""
    values = {"g": int(GIVER, 16), "t": int(TAKER, 16), "a": int(ASSET, 16), "n": amount, "i": ITEM, "x": OTHER}
    values["y"] = int(amount > 0)
    return f"{values[kind]:064x}"


def make_log(
    event: str, kinds: str, *, indexed: int, amount: int = AMOUNT, address: str = CONTRACT, drop: int = 0
) -> LogEntry:
    """The log of an event whose first `indexed` arguments are topics; `drop` cuts that many words off its data."""
    words = [word(kind, amount=amount) for kind in kinds]
    data = words[indexed:][: len(words) - indexed - drop] if drop else words[indexed:]
    topics = (event_topic(f"event {event}"), *(f"0x{each}" for each in words[:indexed]))
    return LogEntry(address, topics, "0x" + "".join(data), 1, "0x00", 0)


def test_every_right_that_is_known_is_written_here() -> None:
    assert {each.signature for each in RIGHTS} == set(ARGUMENTS)


@pytest.mark.parametrize("indexed", [0, 1, 2])
@pytest.mark.parametrize("event", ARGUMENTS)
def test_a_log_tells_who_may_do_what_with_whose_assets(event: str, indexed: int) -> None:
    kinds = ARGUMENTS[event]
    seen = find_right(3, make_log(event, kinds, indexed=indexed), GIVER)
    assert seen is not None
    assert (seen.call_index, seen.contract, seen.spender) == (3, CONTRACT, TAKER)
    assert seen.token == (ASSET if "a" in kinds else CONTRACT)
    assert seen.amount == (AMOUNT if "n" in kinds else EVERYTHING)
    assert seen.token_id == (ITEM if "i" in kinds else None)
    assert find_right(0, make_log(event, kinds, indexed=indexed), ASSET if "a" not in kinds else CONTRACT) is None


@pytest.mark.parametrize("event", [event for event, kinds in ARGUMENTS.items() if set("ny") & set(kinds)])
def test_nothing_or_no_takes_the_right_back(event: str) -> None:
    assert find_right(0, make_log(event, ARGUMENTS[event], indexed=2, amount=0), GIVER) is None


@pytest.mark.parametrize("event", ARGUMENTS)
def test_a_log_with_a_word_too_few_tells_of_no_right(event: str) -> None:
    kinds = ARGUMENTS[event]
    assert find_right(0, make_log(event, kinds, indexed=0, drop=1), GIVER) is None


def test_a_right_over_one_item_carries_the_item_and_nobody_takes_it_back() -> None:
    event = "Approval(address,address,uint256)"
    seen = find_right(0, make_log(event, "gti", indexed=3), GIVER)
    assert seen is not None and (seen.token_id, seen.amount, seen.spender) == (ITEM, 1, TAKER)
    zero = LogEntry(
        CONTRACT, (event_topic(f"event {event}"), f"0x{word('g')}", "0x" + "0" * 64, f"0x{word('i')}"), "0x", 1, "", 0
    )
    assert find_right(0, zero, GIVER) is None


@pytest.mark.parametrize("event", OWN)
def test_an_account_that_is_a_contract_tells_who_gets_a_say_over_it(event: str) -> None:
    kinds = OWN[event]
    for indexed in range(len(kinds) + 1):
        seen = find_right(1, make_log(event, kinds, indexed=indexed, address=GIVER), GIVER)
        assert seen is not None and (seen.spender, seen.amount, seen.token) == (TAKER, EVERYTHING, GIVER)
        # What another contract tells of itself gives nobody a right over the account.
        assert find_right(1, make_log(event, kinds, indexed=indexed), GIVER) is None
    nobody = make_log(event, kinds.replace("t", "n"), indexed=0, amount=0, address=GIVER)
    assert find_right(1, nobody, GIVER) is None
    assert find_right(1, make_log(event, kinds, indexed=0, drop=1, address=GIVER), GIVER) is None


def test_a_claim_moves_from_and_to_whom_its_event_names_and_a_bystander_is_none() -> None:
    event = "Transfer(address,address,address,uint256,uint256)"
    log = make_log(event, "xgtin", indexed=3)
    for account in (GIVER, TAKER):
        seen = find_unusual_transfer(2, log, account)
        assert seen is not None
        moved = (seen.call_index, seen.sender, seen.recipient, seen.amount, seen.token_id)
        assert moved == (2, GIVER, TAKER, AMOUNT, ITEM)
    assert find_unusual_transfer(2, log, CONTRACT) is None


def test_a_transfer_that_indexes_nothing_is_read_all_the_same() -> None:
    log = make_log("Transfer(address,address,uint256)", "gtn", indexed=0)
    seen = find_unusual_transfer(0, log, TAKER)
    assert seen is not None and (seen.sender, seen.recipient, seen.amount) == (GIVER, TAKER, AMOUNT)
    assert find_unusual_transfer(0, log, ASSET) is None
    assert find_unusual_transfer(0, make_log("Approval(address,address,uint256)", "gtn", indexed=0), GIVER) is None


def test_of_a_log_longer_than_any_right_only_the_first_eight_words_are_read() -> None:
    log = LogEntry(CONTRACT, ("0x00",), "0x" + "".join(f"{at:064x}" for at in range(20)) + "ff", 1, "", 0)
    assert list(read_words(log, 8)) == [list(range(8))] and list(read_words(log, 9)) == []
