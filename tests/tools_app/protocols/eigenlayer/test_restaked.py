"""What is read of EigenLayer on the local chain: deposits, slashes, the queue, and who is put out by an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from golem_project.embedded.world.accounts import derive_account
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import make_context
from tools_app.chain.abi import encode_call
from tools_app.protocols.eigenlayer.addresses import deployments
from tools_app.protocols.eigenlayer.effects import EFFECTS
from tools_app.protocols.eigenlayer.math import WAD
from tools_app.protocols.eigenlayer.positions import RestakedExits, RestakedPositions
from tools_app.protocols.eigenlayer.reads import Restaked, ask_restaked
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import REQUEST_KIND, Act, Position, Wait, drive

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

pytestmark = pytest.mark.protocols("eigenlayer")
AT = dict(deployments(CHAIN_ID) or {})
DAI = 1_000 * 10**18
DELAY = 50
COMPLETE = "completeQueuedWithdrawal((address,address,address,uint256,uint32,address[],uint256[]),address[],bool)"
QUEUE = "queueWithdrawals((address[],uint256[],address)[])"


@pytest.fixture
def staker(chain: World) -> LocalAccount:
    """Somebody with a thousand dollars deposited, delegated to the open operator."""
    account = chain.new_account(WAD, {"DAI": DAI})
    token = chain.tokens["DAI"].address
    chain.transact(account, token, "approve(address,uint256)", AT["deposits"], DAI)
    deposit = "depositIntoStrategy(address,address,uint256)"
    chain.transact(account, AT["deposits"], deposit, AT["strategy_dai"], token, DAI)
    operator = derive_account("eigenlayer operator").address
    chain.transact(
        account, AT["delegation"], "delegateTo(address,(bytes,uint256),bytes32)", operator, (b"", 0), bytes(32)
    )
    return account


def restaked(chain: World, account: LocalAccount) -> Restaked:
    reader = make_context(chain, address=account.address).chain()
    return drive(ask_restaked(AT, account.address), reader.call_many)


def slash(chain: World, wad: int) -> None:
    service = derive_account("eigenlayer service")
    operator = derive_account("eigenlayer operator").address
    chain.transact(
        service,
        AT["magnitudes"],
        "slashOperator(address,(address,uint32,address[],uint256[],string))",
        service.address,
        (operator, 0, [AT["strategy_dai"]], [wad], "a test"),
    )


def queue_all(chain: World, account: LocalAccount) -> None:
    (held,) = restaked(chain, account).deposits
    entry = ([held.strategy], [held.deposited], account.address)
    chain.transact(account, AT["delegation"], QUEUE, [entry])


def positions(chain: World, account: LocalAccount) -> tuple[Position, ...]:
    reader = make_context(chain, address=account.address).chain()
    return drive(RestakedPositions().list(CHAIN_ID, account.address, ()), reader.call_many)


def read_effects(chain: World, account: LocalAccount, key: str, signature: str, *args: object) -> Effects:
    into = Effects()
    call = Call(AT[key], encode_call(signature, *args), 0, "a test")
    reader = make_context(chain, address=account.address).chain()
    EFFECTS.read(call, earlier=(), account=account.address, chain=reader, into=into)
    return into


def test_what_is_deposited_is_left_by_the_queue_which_says_until_when(chain: World, staker: LocalAccount) -> None:
    (held,) = positions(chain, staker)
    asked = RestakedExits().next_step(held, {}, chain.timestamp())
    assert isinstance(asked, Act) and asked.tool == "eigenlayer_queue_withdrawal"
    queue_all(chain, staker)
    (waiting,) = positions(chain, staker)
    assert waiting.ref.kind == REQUEST_KIND
    asked = RestakedExits().next_step(waiting, {}, chain.timestamp())
    assert isinstance(asked, Wait) and asked.until == chain.timestamp() + (DELAY + 1) * 12
    chain.rpc.call("anvil_mine", hex(DELAY + 1))
    (waiting,) = positions(chain, staker)
    asked = RestakedExits().next_step(waiting, {}, chain.timestamp())
    assert isinstance(asked, Act) and asked.params["withdrawal_root"] == waiting.ref.id


def test_paused_withdrawals_are_waited_for_and_told_as_locked(chain: World, staker: LocalAccount) -> None:
    chain.transact(derive_account("eigenlayer deployer"), AT["delegation"], "setPaused(uint256)", 2)
    (held,) = positions(chain, staker)
    assert isinstance(RestakedExits().next_step(held, {}, chain.timestamp()), Wait)
    assert held.locked[0].reason == "paused" and held.locked[0].raw == held.legs[0].raw


def test_undelegating_is_read_as_every_deposit_that_goes_into_the_queue(chain: World, staker: LocalAccount) -> None:
    into = read_effects(chain, staker, "delegation", "function undelegate(address)", staker.address)
    kinds = [(each.kind, each.raw > 0) for each in into.changes]
    assert kinds == [("restake", False), (REQUEST_KIND, True)]
    assert [each.key for each in into.statements] == ["operator"]
    with pytest.raises(UnknownCall):
        stranger = derive_account("eigenlayer guest").address
        read_effects(chain, staker, "delegation", "function undelegate(address)", stranger)


def test_completing_is_read_as_what_the_queue_gives_and_for_nobody_else(chain: World, staker: LocalAccount) -> None:
    queue_all(chain, staker)
    (waiting,) = restaked(chain, staker).waiting
    dai = chain.tokens["DAI"].address
    into = read_effects(chain, staker, "delegation", "function " + COMPLETE, waiting.as_argument, [dai], True)
    assert into.receives[dai] in range(DAI - 4, DAI + 1)
    stranger = chain.new_account(WAD)
    with pytest.raises(UnknownCall):
        read_effects(chain, stranger, "delegation", "function " + COMPLETE, waiting.as_argument, [dai], True)


def test_the_world_and_the_product_agree_on_the_addresses(chain: World) -> None:
    assert chain.protocols["eigenlayer"] == AT


def test_a_slash_makes_less_of_a_deposit_and_leaves_its_number(chain: World, staker: LocalAccount) -> None:
    (before,) = restaked(chain, staker).deposits
    assert before.worth in range(DAI - 2, DAI + 1)
    slash(chain, WAD // 4)
    (after,) = restaked(chain, staker).deposits
    assert after.deposited == before.deposited
    assert after.worth in range(DAI * 3 // 4 - 2, DAI * 3 // 4 + 1)


def test_a_withdrawal_is_slashable_until_its_last_block_and_then_gives_what_is_left(
    chain: World, staker: LocalAccount
) -> None:
    queue_all(chain, staker)
    (waiting,) = restaked(chain, staker).waiting
    assert waiting.free_block == waiting.start_block + DELAY + 1
    slash(chain, WAD // 2)
    chain.rpc.call("anvil_mine", hex(DELAY + 1))
    slash(chain, WAD // 2)
    (waiting,) = restaked(chain, staker).waiting
    assert waiting.parts[0].worth in range(DAI // 2 - 2, DAI // 2 + 1)
    token = chain.tokens["DAI"].address
    chain.transact(staker, AT["delegation"], COMPLETE, waiting.as_argument, [token], True)
    assert restaked(chain, staker).waiting == ()
    (balance,) = chain.rpc.read(token, "balanceOf(address)", staker.address, returns="(uint256)")
    assert balance == waiting.parts[0].worth


def test_a_staker_whom_the_operator_puts_out_finds_everything_in_the_queue(chain: World, staker: LocalAccount) -> None:
    operator = derive_account("eigenlayer operator")
    chain.transact(operator, AT["delegation"], "undelegate(address)", staker.address)
    found = restaked(chain, staker)
    assert found.operator is None and found.deposits == ()
    (waiting,) = found.waiting
    assert waiting.operator == operator.address and waiting.parts[0].worth in range(DAI - 2, DAI + 1)


def test_a_deposit_that_was_slashed_to_nothing_is_no_error_and_has_no_way_out(
    chain: World, staker: LocalAccount
) -> None:
    slash(chain, WAD)
    (held,) = positions(chain, staker)
    assert held.legs == () and held.facts["withdrawable"] == "0"
    assert RestakedExits().next_step(held, {}, chain.timestamp()) is None


def test_a_gift_to_a_strategy_belongs_to_who_is_inside(chain: World, staker: LocalAccount) -> None:
    (before,) = restaked(chain, staker).deposits
    giver = chain.new_account(WAD, {"DAI": 50 * DAI})
    chain.transact(giver, chain.tokens["DAI"].address, "transfer(address,uint256)", AT["strategy_dai"], 50 * DAI)
    (after,) = restaked(chain, staker).deposits
    assert after.deposited == before.deposited and after.worth > before.worth


@pytest.mark.parametrize(("raw", "is_left"), [(1_000, False), (1_001, True)])
def test_so_few_shares_that_nobody_would_be_paid_for_them_stay(chain: World, raw: int, is_left: bool) -> None:
    account = chain.new_account(WAD, {"DAI": DAI})
    token = chain.tokens["DAI"].address
    chain.transact(account, token, "approve(address,uint256)", AT["deposits"], raw)
    deposit = "depositIntoStrategy(address,address,uint256)"
    chain.transact(account, AT["deposits"], deposit, AT["strategy_dai"], token, raw)
    (held,) = positions(chain, account)
    assert (RestakedExits().next_step(held, {}, chain.timestamp()) is not None) is is_left
