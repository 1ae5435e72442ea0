"""A halt of a golem with a loan, a stake and a vault share, whose worker dies on its way: everything is left once."""

from __future__ import annotations

from typing import Any

import pytest

from golem_project.embedded.world.rpc import call_data
from permits_app.actions import halt as halt_module
from permits_app.execution.halt_signing_rule import is_halts_own
from permits_app.models import ActionPermit, HaltRecord, HaltSetting, OutboundTransaction, PendingRequest
from tests.concurrency.doors import kill_at_each_door
from tests.concurrency.test_killed_halt import carry_out, let_time_pass
from tests.evm.world import World
from tests.golem_project.heartbeat.loans import ETH, USD, health, lend_out, plan
from tests.golem_project.heartbeat.loans import carry_out as act
from tests.live_golem import LiveGolem, make_live_golem
from tests.permits_app.execution.test_halt import halt
from tests.tools_app.factories import make_context
from tests.tools_app.protocols.lido.staking import report
from tools_app.core import clock
from tools_app.core.audit_checkpoints import verify_stored_chain
from tools_app.portfolio.holdings import measure_holdings
from tools_app.protocols.erc4626.addresses import known_vaults

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.protocols("aave_v3", "lido", "erc4626"),
    pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning"),
]
STAKED, SHARED = 2 * ETH, 1_000 * USD


def is_sending(door: str) -> bool:
    """Where money moves; between two of them only rows change, which `test_killed_halt` dies through one by one."""
    return "eth_sendRawTransaction" in door


def make_invested(world: World, number: int) -> LiveGolem:
    """A loan at a lender, ether at a staking pool, a share of a vault, and an owner who wants them back on a halt."""
    golem = make_live_golem(world, name=f"Invested {number}")
    lend_out(golem, supplied=ETH, borrowed=1_000 * USD)
    act(golem, plan(golem, "lido_stake", amount=str(STAKED), output_token="stETH"))
    [vault] = plan_vaults()
    act(golem, plan(golem, "vault_deposit", vault=vault, amount=str(SHARED)))
    HaltSetting.objects.create(golem=golem.golem, unwind_on_halt=True)
    return golem


def plan_vaults() -> list[str]:
    return [known_vaults(31337)[0].address]


def protocols_of(golem: LiveGolem) -> set[str]:
    chain = make_context(golem.world).chain()
    held = measure_holdings(chain=chain, account=golem.golem.address)
    return {each.ref.protocol for each in held.positions if (each.micro_usd or 0) > 1_000_000}


def test_a_halt_that_dies_before_any_sending_repays_withdraws_and_waits_and_is_ended_by_the_next(
    local_chain: World,
) -> None:
    def start(number: int) -> LiveGolem:
        golem = make_invested(local_chain, number)
        halt(golem)
        return golem

    met: list[str | None] = []
    for golem, door in kill_at_each_door(start, carry_out, is_door=is_sending):
        where = f"door {len(met)}: {door}"
        met.append(door)
        let_time_pass(golem)
        assert health(golem) is None, where
        assert protocols_of(golem) == {"lido"}, where
        record = HaltRecord.objects.get(golem=golem.golem)
        assert record.completed_at is None, f"{where}: it waits for the queue"
        [request] = PendingRequest.objects.filter(golem=golem.golem)
        assert abs(int(request.amounts[0]["raw"]) - STAKED) < 1_000, where
        assert golem.balance("WETH") > 2 * ETH - 10**12, where
        report(local_chain, last_id=int(request.ref.rpartition("/")[2]), ether=10 * ETH)
        let_time_pass(golem)
        record.refresh_from_db()
        assert record.completed_at is not None, where
        assert protocols_of(golem) == set(), where
        live = OutboundTransaction.objects.filter(sender=golem.golem.address, is_live=True)
        nonces = sorted(live.values_list("nonce", flat=True))
        assert nonces == list(range(nonces[0], nonces[0] + len(nonces))), where
        assert golem.mined_nonce() == nonces[-1] + 1, where
        assert verify_stored_chain(golem.golem.pk).broken is None, where
    assert len(met) >= 6 and met[-1] is None


def steps_of(golem: LiveGolem) -> dict[str, Any]:
    steps = halt_module.carry_out_halt(golem_id=golem.golem.pk, epoch=1, now=clock.now())
    told = {step["step"]: step for step in steps}
    [line] = told["positions unwound"]["positions"]
    return dict(line)


def make_looped(world: World) -> LiveGolem:
    """A loan whose borrowed token is spent: nothing in the wallet pays it back."""
    golem = make_live_golem(world, name="Looped")
    lend_out(golem, supplied=2 * ETH, borrowed=2_000 * USD)
    for symbol in ("USDC", "DAI"):
        token = world.tokens[symbol].address
        spare = golem.balance(symbol)
        request = {
            "from": golem.golem.address,
            "to": token,
            "gas": hex(200_000),
            "gasPrice": hex(world.fair_gas_price()),
        }
        world.rpc.call("anvil_impersonateAccount", golem.golem.address)
        data = call_data("transfer(address,uint256)", world.actors.deployer.address, spare)
        assert world.wait(world.rpc.call("eth_sendTransaction", {**request, "data": data}))["status"] == "0x1"
    return golem


def test_a_debt_whose_token_is_gone_is_its_owners_until_they_let_the_halt_sell(local_chain: World) -> None:
    golem = make_looped(local_chain)
    setting = HaltSetting.objects.create(golem=golem.golem, unwind_on_halt=True)
    halt(golem)
    line = steps_of(golem)
    assert line["outcome"] == "its owner is needed" and int(line["missing"]) > 0
    assert (health(golem) or 0) >= 14_990, "what its floor left room for was taken out"
    assert HaltRecord.objects.get(golem=golem.golem).completed_at is not None, "handed to its owner"

    HaltRecord.objects.filter(golem=golem.golem).update(completed_at=None)
    setting.sell_on_halt = True
    setting.save()
    line = steps_of(golem)
    assert health(golem) is None, line
    assert golem.balance("WETH") > ETH, "what is left of the collateral is in the wallet"
    assert protocols_of(golem) == set()


def test_a_halt_sells_nothing_to_anybody_else_and_nothing_without_its_owners_word(local_chain: World) -> None:
    golem = make_live_golem(local_chain, name="Sold")
    halt(golem)
    golem.golem.refresh_from_db()
    swap = plan(golem, "uniswap_execute_swap", token_in="USDC", token_out="WETH", amount="500000000")
    rows = [
        {"to": c.to, "data": "0x" + c.data.hex(), "value": "0", "gas_limit": "300000", "label": ""} for c in swap.calls
    ]
    permit = ActionPermit(
        golem=golem.golem, chain_id=31337, signer=golem.golem.address, calls=rows, halt_epoch=golem.golem.halt_epoch
    )
    assert not is_halts_own(permit, golem.golem)
    HaltSetting.objects.create(golem=golem.golem, unwind_on_halt=True, sell_on_halt=True)
    assert is_halts_own(permit, golem.golem)
    own = golem.golem.address[2:].lower()
    permit.calls = [{**row, "data": row["data"].replace(own, "11" * 20)} for row in rows]
    assert not is_halts_own(permit, golem.golem)
