"""Liquidity in V4 pools whose hook turns between preview and commit, or before a halt: it stops, and keeps nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import pytest

from permits_app.actions.execute_change import execute_change
from permits_app.actions.halt import carry_out_halt
from permits_app.models import ActionPermit, ChangeRequest, HaltSetting, OutboundTransaction
from tests.evm.world import World
from tests.live_golem import LiveGolem
from tests.permits_app.approvals.people import approve, give_device
from tests.permits_app.approvals.test_hooks_of_v4_pools import list_hook
from tests.permits_app.execution.test_position_unwinding import halt, id_of
from tests.tools_app.factories import run_plan
from tests.tools_app.protocols.uniswap.test_swaps import plan_swap, rich_account
from tests.tools_app.protocols.uniswap.v4_hooks import (
    ENTRY_TAXER,
    EXIT_BLOCKER,
    EXIT_TAXER,
    HOOKS,
    LIQUIDITY_TELLER,
    Hook,
    contracts,
    open_hooked_pool,
    turn,
)
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.protocols.uniswap.v4.keys import DYNAMIC_FEE

pytestmark = [pytest.mark.protocols("uniswap_v4"), pytest.mark.usefixtures("eager")]

DAI: Final = 10**18
IN: Final = {"add_liquidity", "increase_liquidity"}
OUT: Final = {"collect_fees", "remove_liquidity"}
# What is carried out as promised once the hook has turned; the rest is not, and costs gas alone.
TURNING: Final[dict[str, tuple[Hook, set[str]]]] = {
    "benign": (HOOKS["benign"], IN | OUT),
    "thief of swaps": (HOOKS["thief"], IN | OUT),
    "fee changer": (HOOKS["fee changer"], IN | OUT),
    "teller of swaps": (HOOKS["teller"], IN | OUT),
    "exit blocker": (EXIT_BLOCKER, IN),
    "exit taxer": (EXIT_TAXER, IN),
    "entry taxer": (ENTRY_TAXER, OUT),
    "teller of liquidity": (LIQUIDITY_TELLER, set()),
}


@dataclass
class Entered:
    """A golem with a position in a pool whose hook has not turned yet."""

    live: LiveGolem
    hook: Hook
    pool_id: str
    position_id: str = ""

    def wish(self, action: str) -> dict[str, Any]:
        wishes: dict[str, dict[str, Any]] = {
            "add_liquidity": {
                "token0": "DAI",
                "token1": "USDC",
                "price_lower": "0.9",
                "price_upper": "1.1",
                "amount0": str(400 * DAI),
                "pool": self.pool_id,
            },
            "increase_liquidity": {"position_id": self.position_id, self._amount_of_dai(): str(100 * DAI)},
            "collect_fees": {"position_id": self.position_id},
            "remove_liquidity": {"position_id": self.position_id, "percent_to_remove": 50},
        }
        return {"token_in": None, "token_out": None, "amount": None, "action_type": action, **wishes[action]}

    def _amount_of_dai(self) -> str:
        tokens = self.live.world.tokens
        return "amount0" if int(tokens["DAI"].address, 16) < int(tokens["USDC"].address, 16) else "amount1"

    def carry_out(self, permit: dict[str, Any]) -> ActionPermit:
        """Approved where it waits, and taken as far as it goes."""
        try:
            if permit["status"] == "AWAITING_APPROVAL":
                request = ChangeRequest.objects.get(permit_id=permit["permit_id"])
                approve(request, self.live.owner)
                execute_change(request_id=request.pk, now=clock.now())
            else:
                self.live.commit(permit["permit_id"])
        except GolemError as refused:
            assert refused.recovery is not None
        return self.live.permit(permit["permit_id"])

    def do(self, action: str) -> ActionPermit:
        return self.carry_out(self.live.preview(**self.wish(action)))

    def held(self) -> tuple[int, int]:
        return self.live.balance("DAI"), self.live.balance("USDC")

    def liquidity(self) -> int:
        positions, number = contracts().positions, int(self.position_id.removeprefix("v4:"))
        told = self.live.world.rpc.read(positions, "getPositionLiquidity(uint256)", number, returns="(uint128)")
        return int(told[0])


def enter(live: LiveGolem, hook: Hook) -> Entered:
    """A pool with the hook before it turns, listed by the owner, and a position of the golem with fees in it."""
    world = live.world
    give_device(live.owner)
    entered = Entered(live, hook, open_hooked_pool(world, hook, turns=True).pool_id)
    list_hook(live, hook)
    opened = entered.do("add_liquidity")
    assert opened.status == "COMMITTED", (opened.status, opened.status_reason, opened.problem)
    entered.position_id = opened.result["data"]["position_id"]
    trader = rich_account(world)
    for sold, bought in (("DAI", "USDC"), ("USDC", "DAI")):
        amount = str(1_000 * 10 ** world.tokens[sold].decimals)
        route = f"v4:{entered.pool_id}"
        swap = plan_swap(world, trader, token_in=sold, token_out=bought, amount=amount, route=route, slippage_bps=500)
        run_plan(world, trader, swap)
    return entered


@pytest.mark.parametrize("name", TURNING)
def test_a_hook_that_turns_between_preview_and_commit_keeps_nothing_of_what_goes_in_or_comes_out(
    live_golem: LiveGolem, local_chain: World, name: str
) -> None:
    hook, carried_out = TURNING[name]
    entered = enter(live_golem, hook)
    # While it does nothing, a pool whose fee the hook sets has none: there is nothing to collect.
    actions = ["collect_fees", "increase_liquidity", "remove_liquidity", "add_liquidity"]
    for action in actions if hook.fee != DYNAMIC_FEE else actions[1:]:
        turn(local_chain, hook, is_hostile=False)
        permit = live_golem.preview(**entered.wish(action))
        turn(local_chain, hook, is_hostile=True)
        before, liquidity = entered.held(), entered.liquidity()
        row = entered.carry_out(permit)
        told = (action, row.status, row.status_reason, row.problem)
        if action in carried_out:
            assert row.status == "COMMITTED", told
            assert row.outcomes.get().is_verified, told
        else:
            assert row.status != "COMMITTED", told
            assert (entered.held(), entered.liquidity()) == (before, liquidity), told


@pytest.mark.parametrize("name", ["exit blocker", "exit taxer", "entry taxer", "teller of liquidity"])
def test_who_enters_is_told_what_the_hook_could_do_and_waits_for_the_owners_though_it_does_nothing_yet(
    live_golem: LiveGolem, local_chain: World, name: str
) -> None:
    hook, _ = TURNING[name]
    entered = Entered(live_golem, hook, open_hooked_pool(local_chain, hook, turns=True).pool_id)
    with pytest.raises(GolemError) as refused:
        live_golem.preview(**entered.wish("add_liquidity"))
    assert refused.value.code == "SAFETY_HOOK_NOT_ALLOWED"
    list_hook(live_golem, hook)
    permit = live_golem.preview(**entered.wish("add_liquidity"))
    assert (permit["status"], permit["risk_tier"]) == ("AWAITING_APPROVAL", "HIGH")
    details = live_golem.permit(permit["permit_id"]).bounds["details"]
    assert (details["hook"], bool(details["hook_could"])) == (hook.address, True)
    assert details["exit_at_risk"] is True


def test_a_hook_that_tells_a_simulation_from_a_signed_transaction_gets_no_signature(
    live_golem: LiveGolem, local_chain: World
) -> None:
    entered = enter(live_golem, LIQUIDITY_TELLER)
    turn(local_chain, LIQUIDITY_TELLER, is_hostile=True)
    sent = OutboundTransaction.objects.count()
    for action in sorted(IN | OUT):
        with pytest.raises(GolemError) as refused:
            live_golem.preview(**entered.wish(action))
        assert refused.value.code == "SAFETY_SIMULATION_RECOGNISED", action
    assert OutboundTransaction.objects.count() == sent


@pytest.mark.parametrize(
    "name", ["benign", "thief of swaps", "exit blocker", "exit taxer", "entry taxer", "teller of liquidity"]
)
def test_a_halt_leaves_what_a_hook_lets_go_and_says_of_the_rest_why_until_the_hook_lets_go(
    live_golem: LiveGolem, local_chain: World, name: str
) -> None:
    hook, carried_out = TURNING[name]
    entered = enter(live_golem, hook)
    turn(local_chain, hook, is_hostile=True)
    HaltSetting.objects.create(golem=live_golem.golem, unwind_on_halt=True)
    before = entered.held()
    halt(live_golem)
    line = _unwind(live_golem, entered)
    if OUT <= carried_out:
        assert line["outcome"] == "COMMITTED", line
    else:
        assert line["failed"].startswith("SAFETY_"), line
        assert (line["outcome"] != "", entered.held(), entered.liquidity() > 0) == (True, before, True), line
        # The next round of the same halt finds the way open.
        turn(local_chain, hook, is_hostile=False)
        assert _unwind(live_golem, entered)["outcome"] == "COMMITTED"
    assert entered.liquidity() == 0
    assert all(now > then for now, then in zip(entered.held(), before, strict=True))


def _unwind(live: LiveGolem, entered: Entered) -> dict[str, Any]:
    """What the halt says of the position."""
    steps = {step["step"]: step for step in carry_out_halt(golem_id=live.golem.pk, epoch=1, now=clock.now())}
    return next(row for row in steps["positions unwound"]["positions"] if id_of(row) == entered.position_id)
