"""Every right a contract can give is seen in its log, however its arguments are indexed; taking one back is none."""

from __future__ import annotations

import pytest

from tools_app.chain.abi import event_topic
from tools_app.simulation.engine import CallOutcome, SimulationRequest
from tools_app.simulation.side_effects import find_approvals, find_transfers
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import LogEntry

ACCOUNT = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
TAKER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
TOKEN = "0x3798B16bb55a335A00ae957929CC9DD22447a26B"
A, T, K = int(ACCOUNT, 16), int(TAKER, 16), int(TOKEN, 16)
REQUEST = SimulationRequest(31337, ACCOUNT, (Call(TOKEN, b"", 0, "call"),))


def log(signature: str, topics: tuple[int, ...], data: tuple[int, ...], *, by: str = TOKEN) -> CallOutcome:
    """A call that emitted one event."""
    heads = (event_topic("event " + signature), *(f"0x{word:064x}" for word in topics))
    told = "0x" + "".join(f"{word:064x}" for word in data)
    return CallOutcome(True, b"", 21_000, (LogEntry(by, heads, told, 1, "", 0),))


GIVEN = {
    "ERC-20": ("Approval(address,address,uint256)", (A, T), (5,)),
    "ERC-20, nothing indexed": ("Approval(address,address,uint256)", (), (A, T, 5)),
    "ERC-20, the owner indexed": ("Approval(address,address,uint256)", (A,), (T, 5)),
    "ERC-721": ("Approval(address,address,uint256)", (A, T, 7), ()),
    "operator of all": ("ApprovalForAll(address,address,bool)", (A, T), (1,)),
    "operator of all, nothing indexed": ("ApprovalForAll(address,address,bool)", (), (A, T, 1)),
    "claim": ("Approval(address,address,uint256,uint256)", (A, T, 7), (5,)),
    "operator of claims": ("OperatorSet(address,address,bool)", (A, T), (1,)),
    "ERC-777 operator": ("AuthorizedOperator(address,address)", (T, A), ()),
    "Permit2": ("Approval(address,address,address,uint160,uint48)", (A, K, T), (5, 99)),
    "Permit2 by signature": ("Permit(address,address,address,uint160,uint48,uint48)", (A, K, T), (5, 99, 0)),
    "Morpho": ("SetAuthorization(address,address,address,bool)", (A, A, T), (1,)),
    "Aave V3 credit": ("BorrowAllowanceDelegated(address,address,address,uint256)", (A, T, K), (5,)),
    "Aave V2 credit": ("BorrowAllowanceDelegated(address,address,address,uint256)", (A, T), (K, 5)),
    "Balancer relayer": ("RelayerApprovalChanged(address,address,bool)", (T, A), (1,)),
}


@pytest.mark.parametrize("name", sorted(GIVEN))
def test_a_right_is_seen_with_who_may_take(name: str) -> None:
    signature, topics, data = GIVEN[name]
    [seen] = find_approvals([log(signature, topics, data)], REQUEST)

    assert seen.spender == TAKER
    assert seen.contract == TOKEN


@pytest.mark.parametrize("name", sorted(set(GIVEN) - {"ERC-777 operator", "ERC-721"}))
def test_a_right_that_is_taken_back_or_somebody_elses_is_none(name: str) -> None:
    signature, topics, data = GIVEN[name]
    at = 3 if "uint160" in signature or signature.count(",") == 3 else signature.count(",")
    words = [*topics, *data]
    words[at] = 0
    back = log(signature, tuple(words[: len(topics)]), tuple(words[len(topics) :]))
    others = log(signature, *(tuple(T + 1 if word == A else word for word in part) for part in (topics, data)))

    assert find_approvals([back], REQUEST) == ()
    assert find_approvals([others], REQUEST) == ()


def test_a_named_allowance_of_the_token_hides_no_right_at_another_contract() -> None:
    request = SimulationRequest(31337, ACCOUNT, REQUEST.calls, allowances=((TOKEN, ACCOUNT, TAKER),))
    signature, topics, data = GIVEN["Permit2"]
    permit2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"

    assert find_approvals([log(*GIVEN["ERC-20"])], request) == ()
    assert len(find_approvals([log(signature, topics, data, by=permit2)], request)) == 1


@pytest.mark.parametrize("signature", ["EnabledModule(address)", "AddedOwner(address)"])
def test_a_say_over_the_account_itself_is_a_right(signature: str) -> None:
    assert find_approvals([log(signature, (), (T,), by=ACCOUNT)], REQUEST)[0].spender == TAKER
    assert find_approvals([log(signature, (), (T,))], REQUEST) == ()


@pytest.mark.parametrize(
    ("signature", "topics", "data"),
    [
        ("Transfer(address,address,address,uint256,uint256)", (A, T, 7), (T, 5)),
        ("Transfer(address,address,uint256)", (), (A, T, 5)),
        ("Transfer(address,address,uint256)", (A,), (T, 5)),
    ],
)
def test_a_movement_is_seen_however_its_arguments_are_indexed(
    signature: str, topics: tuple[int, ...], data: tuple[int, ...]
) -> None:
    [seen] = find_transfers([log(signature, topics, data)], REQUEST)

    assert (seen.sender, seen.recipient, seen.amount) == (ACCOUNT, TAKER, 5)
