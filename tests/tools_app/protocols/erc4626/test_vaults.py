"""A real OpenZeppelin vault: shares at what they stand for, a price that may not jump, every byte accounted for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.protocols import erc4626 as vault_world
from golem_project.embedded.world.rpc import checksum, encode_arguments
from permits_app.safety.position_rules import judge_changes, judge_gauges
from tests.evm.world import World
from tests.tools_app.factories import make_context, report_of, run_plan, view_receipt
from tests.tools_app.protocols.measured import Golem
from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError, InsufficientBalance, Recovery
from tools_app.protocols.erc4626.addresses import known_vaults
from tools_app.protocols.erc4626.protocol import PROTOCOL
from tools_app.protocols.erc4626.tools import VaultNotKnown
from tools_app.standards.erc4626 import SharePriceUnsafe, SharesMissing, Vault, VaultClosed, VaultFamily
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import Act, Wait, drive

pytestmark = pytest.mark.protocols("erc4626")
USDC = 10**6


def make_golem(chain: World) -> Golem:
    return Golem(chain, PROTOCOL, chain.new_account(10**18, {"USDC": 100_000 * USDC}))


def the_vault() -> Vault:
    return known_vaults(31337)[0]


def donate(chain: World, vault: str, amount: int) -> None:
    donor = chain.new_account(10**18, {"USDC": amount})
    chain.transact(donor, chain.tokens["USDC"].address, "transfer(address,uint256)", vault, amount)


def refuse(golem: Golem, error: type[GolemError], tool: str, **params: Any) -> GolemError:
    with pytest.raises(error) as refused:
        golem.plan(tool, **params)
    return refused.value


def test_shares_are_told_at_what_they_stand_for_and_given_back_whole(chain: World) -> None:
    golem, vault = make_golem(chain), the_vault()
    put = golem.act("vault_deposit", vault=vault.address, amount=str(10_500 * USDC))
    assert put.plan.action_class is ActionClass.NEW_POSITION
    report = report_of("vault_deposit", put)
    assert report["share_price_at_deposit"] == "1.050000000"
    assert (report["assets_deposited"], report["fee_deducted"]) == (str(10_500 * USDC), "0")
    (position,) = golem.positions()
    assert position.label == "Local USDC vault"
    assert position.claim_tokens == {vault.address}
    assert position.raw_of(vault.asset) in range(10_500 * USDC - 2, 10_500 * USDC + 1)
    part = golem.act("vault_withdraw", vault=vault.address, shares=str(4_000 * USDC))
    assert part.plan.action_class is ActionClass.DECREASE_POSITION
    # Something is earned in between: it is the position's, and no bound minds it.
    donate(chain, vault.address, 5_000 * USDC)
    rest = golem.act("vault_withdraw", vault=vault.address, shares="max")
    assert rest.plan.action_class is ActionClass.CLOSE_POSITION
    assert int(report_of("vault_withdraw", rest)["assets_received"]) > 6_300 * USDC
    assert golem.positions() == ()


def test_a_price_that_jumps_between_preview_and_commit_refuses_the_plan(chain: World) -> None:
    golem, vault = make_golem(chain), the_vault()
    deposit = golem.plan("vault_deposit", vault=vault.address, amount=str(1_000 * USDC))
    donate(chain, vault.address, 20_000 * USDC)
    result = golem.simulate(replace(deposit, gauges=()))
    reader = make_context(chain, address=golem.address).chain()
    # What is gained may look right: a share is dearer. The figure itself tells.
    assert judge_changes(plan=deposit, simulation=result, chain=reader) is None
    price = reader.call(vault.address, deposit.gauges[0].gauge.signature, *deposit.gauges[0].gauge.args)[0]
    refused = judge_gauges(plan=deposit, simulation=replace(result, gauges_after=(price,)))
    assert refused is not None and refused.rule == "simulator.gauge"


def test_a_first_depositor_s_donation_keeps_nothing_of_the_next_deposit(chain: World) -> None:
    golem, maker = make_golem(chain), chain.new_account(10**18, {"USDC": 1_000_000 * USDC})
    code, usdc = vault_world.compile_vault(vault_world.WORLD.fetch()), chain.tokens["USDC"].address
    arguments = encode_arguments("(address,string,string)", usdc, "Blown up", "BUP").hex()
    created = chain.send(maker, None, "0x" + code.removeprefix("0x") + arguments)["contractAddress"]
    vault = Vault(checksum(created), usdc, "Blown up")
    chain.transact(maker, usdc, "approve(address,uint256)", vault.address, 1)
    chain.transact(maker, vault.address, "deposit(uint256,address)", 1, maker.address)
    chain.transact(maker, usdc, "transfer(address,uint256)", vault.address, 500_000 * USDC)
    reader = make_context(chain, address=golem.address).chain()
    with pytest.raises(SharePriceUnsafe) as refused:
        VaultFamily("erc4626").plan_deposit(reader, golem.address, vault, 1_000 * USDC)
    assert refused.value.data["shares"] == "0"
    with pytest.raises(SharePriceUnsafe):
        VaultFamily("erc4626").plan_deposit(reader, golem.address, vault, 90_000_000_000)


def test_what_is_not_there_is_refused(chain: World) -> None:
    golem, vault = make_golem(chain), the_vault()
    refuse(golem, VaultNotKnown, "vault_deposit", vault=chain.tokens["USDC"].address, amount="1")
    refuse(golem, SharesMissing, "vault_withdraw", vault=vault.address, shares="max")
    refuse(golem, InsufficientBalance, "vault_deposit", vault=vault.address, amount=str(10**12))
    golem.act("vault_deposit", vault=vault.address, amount=str(1_000 * USDC))
    (held,) = golem.positions()
    short = refuse(golem, SharesMissing, "vault_withdraw", vault=vault.address, shares=str(1_001 * USDC))
    # A share stands for more than a dollar, so there are fewer of them.
    assert 0 < int(short.data["available"]) < 1_000 * USDC
    assert golem.positions() == (held,)


def test_the_way_out_gives_back_what_the_vault_takes(chain: World) -> None:
    golem, vault = make_golem(chain), the_vault()
    golem.act("vault_deposit", vault=vault.address, amount=str(1_000 * USDC))
    (position,) = golem.positions()
    assert PROTOCOL.exits is not None
    shut = replace(position, facts={**position.facts, "redeemable_shares": "0"})
    assert isinstance(PROTOCOL.exits.next_step(shut, {}, 0), Wait)
    held = int(position.facts["shares"])
    for redeemable, wanted in ((held, "max"), (held + 1, "max"), (held - 1, str(held - 1)), (1, "1")):
        short = replace(position, facts={**position.facts, "redeemable_shares": str(redeemable)})
        step = PROTOCOL.exits.next_step(short, {}, 0)
        assert isinstance(step, Act) and step.params["shares"] == wanted, "what the vault gives back now is asked for"
    assert golem.leave([vault.asset]) == ["vault_withdraw"]
    assert golem.positions() == ()


def test_shares_that_somebody_sent_are_found_in_the_logs(chain: World) -> None:
    golem, vault = make_golem(chain), the_vault()
    sender = derive_account("erc4626 depositor")
    receipt = chain.transact(sender, vault.address, "transfer(address,uint256)", golem.address, 7 * USDC)
    assert PROTOCOL.positions is not None
    (ref,) = PROTOCOL.positions.born(view_receipt(receipt).logs, golem.address, 31337)
    (position,) = golem.positions()
    assert position.ref == ref


def test_mints_and_withdrawals_are_read_and_foreign_bytes_are_a_veto(chain: World) -> None:
    golem, vault = make_golem(chain), the_vault()
    golem.act("vault_deposit", vault=vault.address, amount=str(1_000 * USDC))
    reader, other = make_context(chain, address=golem.address).chain(), chain.actors.makers[0].address
    me, effects = golem.address, Effects()
    assert PROTOCOL.effects is not None
    for data in (
        encode_call("function mint(uint256 shares, address receiver)", 100 * USDC, me),
        encode_call("function withdraw(uint256 assets, address receiver, address owner)", 50 * USDC, me, me),
    ):
        PROTOCOL.effects.read(Call(vault.address, data, 0, ""), earlier=(), account=me, chain=reader, into=effects)
    assert effects.spends[vault.asset] in range(105 * USDC - 2, 105 * USDC + 3)
    assert effects.receives[vault.asset] == 50 * USDC
    for data in (
        encode_call("function deposit(uint256 assets, address receiver)", 1, other),
        encode_call("function redeem(uint256 shares, address receiver, address owner)", 1, me, other),
        encode_call("function deposit(uint256 assets, address receiver)", 1, me) + b"\1",
        encode_call("function approve(address spender, uint256 amount)", other, 1),
    ):
        with pytest.raises(UnknownCall):
            PROTOCOL.effects.read(Call(vault.address, data, 0, ""), earlier=(), account=me, chain=reader, into=effects)


@pytest.fixture
def by_request(chain: World) -> tuple[Golem, Vault]:
    """A golem with a thousand dollars in a vault that is entered and left by request, nothing granted yet."""
    golem, giver = make_golem(chain), chain.new_account(10**18, {"USDC": 1_000 * USDC})
    usdc = chain.tokens["USDC"].address
    at = chain.deploy(chain.actors.deployer, "MadeUpRequestVault", "(address)", usdc)
    chain.transact(giver, usdc, "approve(address,uint256)", at, 1_000 * USDC)
    chain.transact(giver, at, "fulfil(uint256,address)", 1_000 * USDC, golem.address)
    return golem, Vault(at, usdc, "By request")


def test_a_vault_that_is_entered_by_request_is_refused_for_good_and_not_waited_for(
    chain: World, by_request: tuple[Golem, Vault]
) -> None:
    golem, vault = by_request
    stranger = chain.new_account(10**18, {"USDC": USDC}).address
    reader = make_context(chain, address=stranger).chain()
    with pytest.raises(VaultClosed) as refused:
        VaultFamily("erc4626").plan_deposit(reader, stranger, vault, USDC)
    assert refused.value.next_step is Recovery.GIVE_UP and "by request" in refused.value.detail
    # Who has shares of it is told before that nothing comes out.
    with pytest.raises(VaultClosed) as held:
        VaultFamily("erc4626").plan_deposit(reader, golem.address, vault, USDC)
    assert held.value.next_step is Recovery.WAIT


def test_what_a_request_granted_leaves_a_vault_whose_previews_revert(
    chain: World, by_request: tuple[Golem, Vault]
) -> None:
    golem, vault = by_request
    family = VaultFamily("erc4626")
    (position,) = drive(
        family.list_positions(31337, golem.address, (vault,)),
        make_context(chain, address=golem.address).chain().call_many,
    )
    assert [(each.reason, each.raw) for each in position.locked] == [("used", 1_000 * USDC)]
    with pytest.raises(VaultClosed) as shut:
        family.plan_redeem(make_context(chain, address=golem.address).chain(), golem.address, vault, None)
    assert (shut.value.next_step, shut.value.data["room"]) == (Recovery.WAIT, "0")
    chain.transact(chain.actors.deployer, vault.address, "grant(address,uint256)", golem.address, 400 * USDC)
    reader = make_context(chain, address=golem.address).chain()
    plan = family.plan_redeem(reader, golem.address, vault, 400 * USDC)
    assert plan.receives[0].expected == 400 * USDC
    assert run_plan(chain, golem.account, plan).deltas[vault.asset] == 400 * USDC
