"""Whose money a call moves besides the golem's, by the book of that golem on that chain."""

from __future__ import annotations

from typing import Any

import pytest

from permits_app.hook_rejection import Reject
from permits_app.models import ReceivedRight
from permits_app.safety.hook import HookCall
from permits_app.safety.principal_rules import judge_principals
from tests.factories.golems import make_golem, make_owner
from tests.factories.requests import make_received_right
from tests.permits_app.safety.calls import ACCOUNT, OTHER, USDC, plain_call
from tools_app.chain.abi import checksum
from tools_app.simulation.engine import CallOutcome, SimulationResult
from tools_app.toolkit.others_money import PrincipalFlow, RightLimit
from tools_app.toolkit.plan import Call, TxPlan
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.views import NATIVE, BlockRef, LogEntry

pytestmark = pytest.mark.django_db
TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
MOST = 100


@pytest.fixture
def call() -> HookCall:
    return plain_call(None, golem=make_golem(owner=make_owner(), address=ACCOUNT))


def write_right(call: HookCall, **columns: Any) -> str:
    """A row of the golem's book; whose money it is about."""
    row = make_received_right(golem=call.golem)
    ReceivedRight.objects.filter(pk=row.pk).update(principal=OTHER, **columns)
    return OTHER


def judge(call: HookCall, *, flows: tuple[PrincipalFlow, ...] = (), coins: int = 0, moves: str = "") -> Reject | None:
    """A call to the contract through which principals let golems act; `coins` of OTHER and a token of `moves` leave."""
    [through] = [
        address
        for each in SHELF
        if each.received is not None
        for contract in each.contracts
        if (address := each.address(31337, contract.key)) is not None
    ]
    pad = "0x" + "00" * 12
    log = LogEntry(
        USDC.address, (TRANSFER, pad + moves[2:].lower(), pad + ACCOUNT[2:].lower()), f"0x{5:064x}", 1, "", 0
    )
    held = {(OTHER, USDC.address): 1_000, (OTHER, NATIVE): 1_000}
    simulation = SimulationResult(
        engine="rpc",
        fidelity="",
        block=BlockRef(1, "0x", 1, 1),
        sender=ACCOUNT,
        calls=(CallOutcome(succeeded=True, output=b"", gas_used=1, logs=(log,) if moves else ()),),
        balances_before=held,
        balances_after={**held, (OTHER, NATIVE): 1_000 - coins},
        allowances_before={},
        allowances_after={},
    )
    plan = TxPlan(31337, (Call(through, b"1234", 0, "Act"),), principals=flows)
    return judge_principals(call, plan, simulation)


@pytest.mark.parametrize(("coins", "passes"), [(-5, True), (0, True), (1, False)])
def test_not_one_wei_of_a_principal_moves_that_the_plan_does_not_say(call: HookCall, coins: int, passes: bool) -> None:
    flow = PrincipalFlow("metamask", "0x01", OTHER, USDC, MOST, RightLimit(MOST, 0, 0, 2**40))
    refused = judge(call, flows=(flow,), coins=coins)
    assert (refused is None) is passes
    assert passes or (refused is not None and refused.observed == "1 wei")


@pytest.mark.parametrize(
    ("columns", "passes"), [({}, False), ({"chain_id": 1}, True), ({"golem": "another"}, True), (None, True)]
)
def test_whose_money_it_is_stands_in_the_golems_own_book_of_that_chain(
    call: HookCall, columns: dict[str, Any] | None, passes: bool
) -> None:
    if columns is not None:
        other = make_golem(owner=call.golem.owner, name="Borea")
        write_right(call, **({"golem": other} if "golem" in columns else columns))
    refused = judge(call, moves=checksum(OTHER))
    assert (refused is None) is passes
    assert passes or (refused is not None and refused.rule == "simulator.others_money")
