"""A real vault that is entered and left by request, Lagoon's own code on the local chain.

What is asked for, what waits, what is claimed, who else may end it, and what is refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from golem_project.embedded.world.accounts import derive_account
from permits_app.safety.position_rules import judge_changes
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.factories import make_context, report_of, view_receipt
from tests.tools_app.protocols.erc4626.people import VAULT, settle, value
from tests.tools_app.protocols.measured import Golem
from tools_app.chain.abi import encode_call
from tools_app.core.errors import GolemError, Recovery
from tools_app.protocols.erc4626.addresses import deployments, find_vault
from tools_app.protocols.erc4626.protocol import PROTOCOL
from tools_app.standards.erc4626 import SharesMissing, Vault, VaultByRequest, VaultClosed, VaultFamily
from tools_app.standards.erc7540 import (
    ASK_IN,
    ASK_OUT,
    CLAIM_IN,
    TAKE_BACK,
)
from tools_app.standards.erc7540_plans import ClaimFirst, RequestNotClaimable
from tools_app.toolkit.effects import Effects, UnknownCall
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import (
    REQUEST_KIND,
    WHEN_REPAID,
    Act,
    ExitStep,
    Position,
    PositionRef,
    Wait,
)

pytestmark = pytest.mark.protocols("erc4626")
USDC, SHARE = 10**6, 10**18
IN_REF = PositionRef("erc4626", REQUEST_KIND, CHAIN_ID, f"deposit-{VAULT}")
OUT_REF = PositionRef("erc4626", REQUEST_KIND, CHAIN_ID, f"withdrawal-{VAULT}")


@pytest.fixture
def golem(chain: World) -> Golem:
    return Golem(chain, PROTOCOL, chain.new_account(10**18, {"USDC": 10_000 * USDC}))


def the_vault() -> Vault:
    found = find_vault(CHAIN_ID, VAULT)
    assert found is not None and found.by_request
    return found


def ask_in(golem: Golem, amount: int = 1_000 * USDC) -> dict[str, Any]:
    return report_of("vault_deposit", golem.act("vault_deposit", vault=VAULT, amount=str(amount)))


def hold(golem: Golem, amount: int = 1_000 * USDC) -> None:
    """The golem has shares for so much."""
    ask_in(golem, amount)
    settle(golem.chain)
    golem.act("vault_claim_request", vault=VAULT, request="deposit")


def ask_out(golem: Golem, shares: str = "max") -> dict[str, Any]:
    return report_of("vault_withdraw", golem.act("vault_withdraw", vault=VAULT, shares=shares))


def of(golem: Golem, ref: PositionRef) -> Position:
    (found,) = (each for each in golem.positions([ref]) if each.ref == ref)
    return found


def step(golem: Golem, ref: PositionRef) -> ExitStep | None:
    assert PROTOCOL.exits is not None
    return PROTOCOL.exits.next_step(of(golem, ref), {}, golem.chain.timestamp())


def refuse(golem: Golem, error: type[GolemError], tool: str, **params: Any) -> GolemError:
    with pytest.raises(error) as refused:
        golem.plan(tool, vault=VAULT, **params)
    return refused.value


def usdc(golem: Golem) -> int:
    return int(golem.chain.rpc.balance_of(the_vault().asset, golem.address))


def shares(golem: Golem) -> int:
    return int(golem.chain.rpc.balance_of(VAULT, golem.address))


def pause(chain: World, call: str = "pause()") -> None:
    chain.transact(derive_account("erc4626 deployer"), VAULT, call)


def test_the_world_and_the_product_agree_on_the_addresses(chain: World) -> None:
    assert chain.protocols["erc4626"] == deployments(CHAIN_ID)


def test_a_deposit_is_asked_for_waits_and_is_claimed_as_shares(golem: Golem) -> None:
    told = ask_in(golem)
    assert (told["shares_received"], told["assets_deposited"]) == ("0", str(1_000 * USDC))
    assert told["request_id"] == IN_REF.id and "settles" in told["note"] and told["share_price_at_deposit"] is None
    waits = of(golem, IN_REF)
    assert [(each.raw, each.free_at) for each in waits.legs] == [(1_000 * USDC, WHEN_REPAID)]
    assert refuse(golem, RequestNotClaimable, "vault_claim_request", request="deposit").next_step is Recovery.WAIT
    settle(golem.chain)
    ready = of(golem, IN_REF)
    assert [(each.raw, each.free_at) for each in ready.legs] == [(1_000 * USDC, None)]
    claim = golem.act("vault_claim_request", vault=VAULT, request="deposit")
    assert report_of("vault_claim_request", claim)["shares_received"] == str(shares(golem)) == str(1_000 * SHARE)
    (position,) = golem.positions()
    assert position.ref.kind == "vault" and position.raw_of(the_vault().asset) == 1_000 * USDC
    assert [each.reason for each in position.locked] == ["asked"]


def test_shares_are_asked_back_wait_and_are_claimed_at_what_the_vault_settled(golem: Golem) -> None:
    hold(golem)
    told = ask_out(golem, str(400 * SHARE))
    assert (told["assets_received"], told["shares_redeemed"]) == ("0", str(400 * SHARE))
    assert told["request_id"] == OUT_REF.id and told["share_price_at_withdraw"] is None
    waits = of(golem, OUT_REF)
    assert [(each.raw, each.free_at) for each in waits.legs] == [(400 * USDC, WHEN_REPAID)]
    # The vault earned a twentieth before it settled: it is in what waits as soon as it is told, and in what comes.
    fund_safe(golem.chain)
    settle(golem.chain, 1_050 * USDC, what="settleRedeem(uint256)")
    ready = of(golem, OUT_REF)
    assert ready.legs[0].free_at is None and ready.legs[0].raw in range(420 * USDC - 1, 420 * USDC + 1)
    before = usdc(golem)
    claim = golem.act("vault_claim_request", vault=VAULT, request="withdrawal")
    came = int(report_of("vault_claim_request", claim)["assets_received"])
    assert came == usdc(golem) - before == ready.legs[0].raw
    assert [each.ref.kind for each in golem.positions()] == ["vault"]


def fund_safe(chain: World) -> None:
    chain.fund(derive_account("erc4626 safe").address, 10**18, {"USDC": 100_000 * USDC})


def test_a_vault_that_loses_three_tenths_while_shares_wait_pays_what_is_left_and_tells_it_before(golem: Golem) -> None:
    hold(golem)
    ask_out(golem)
    settle(golem.chain, 700 * USDC, what="settleRedeem(uint256)")
    assert of(golem, OUT_REF).legs[0].raw in range(700 * USDC - 1, 700 * USDC + 1)
    before = usdc(golem)
    golem.act("vault_claim_request", vault=VAULT, request="withdrawal")
    assert usdc(golem) - before in range(700 * USDC - 1, 700 * USDC + 1)


def test_a_loss_between_preview_and_commit_refuses_to_ask_shares_back_as_the_preview_said(golem: Golem) -> None:
    hold(golem)
    plan = golem.plan("vault_withdraw", vault=VAULT, shares="max")
    stranger = Golem(golem.chain, PROTOCOL, golem.chain.new_account(10**18, {"USDC": 1_000 * USDC}))
    ask_in(stranger, 1_000 * USDC)
    settle(golem.chain, 700 * USDC)
    reader = make_context(golem.chain, address=golem.address).chain()
    refused = judge_changes(plan=plan, simulation=golem.simulate(plan), chain=reader)
    assert refused is not None and refused.rule.startswith("simulator.")


def test_a_gift_to_the_vault_moves_neither_what_waits_nor_what_is_claimed(golem: Golem) -> None:
    hold(golem)
    ask_out(golem, str(500 * SHARE))
    before = [(each.ref, each.legs) for each in golem.positions()]
    giver = golem.chain.new_account(10**18, {"USDC": 50_000 * USDC})
    golem.chain.transact(giver, the_vault().asset, "transfer(address,uint256)", VAULT, 50_000 * USDC)
    assert [(each.ref, each.legs) for each in golem.positions()] == before


def test_a_deposit_that_is_not_settled_is_taken_back_and_one_that_is_being_settled_is_not(golem: Golem) -> None:
    ask_in(golem)
    back = golem.act("vault_cancel_request", vault=VAULT)
    assert back.plan.action_class is ActionClass.CLOSE_POSITION
    assert report_of("vault_cancel_request", back)["assets_returned"] == str(1_000 * USDC)
    assert usdc(golem) == 10_000 * USDC and golem.positions() == ()
    refuse(golem, RequestNotClaimable, "vault_cancel_request")
    ask_in(golem)
    value(golem.chain, 0)
    tried = golem.simulate(golem.plan("vault_cancel_request", vault=VAULT))
    assert tried.failure is not None and "RequestNotCancelable" in str(tried.failure)
    assert of(golem, IN_REF).legs[0].raw == 1_000 * USDC


def test_what_can_be_claimed_is_claimed_before_more_is_asked_for_the_same_way(golem: Golem) -> None:
    ask_in(golem)
    settle(golem.chain)
    assert refuse(golem, ClaimFirst, "vault_deposit", amount="1").data["request"] == "deposit"
    assert refuse(golem, ClaimFirst, "vault_cancel_request").data["request"] == "deposit"
    assert refuse(golem, ClaimFirst, "vault_withdraw", shares="max").data["request"] == "deposit"
    golem.act("vault_claim_request", vault=VAULT, request="deposit")
    ask_out(golem, str(100 * SHARE))
    settle(golem.chain, what="settleRedeem(uint256)")
    assert refuse(golem, ClaimFirst, "vault_withdraw", shares="max").data["request"] == "withdrawal"
    # What can be claimed are the shares that were asked back; the others are still given by request alone.
    (held,) = (each for each in golem.positions() if each.ref.kind == "vault")
    assert held.facts["redeemable_shares"] == "0" and [each.reason for each in held.locked] == ["asked"]


def test_more_is_added_to_what_waits_until_the_vault_begins_to_settle(golem: Golem) -> None:
    ask_in(golem)
    more = golem.act("vault_deposit", vault=VAULT, amount=str(500 * USDC))
    assert more.plan.action_class is ActionClass.INCREASE_POSITION
    assert of(golem, IN_REF).legs[0].raw == 1_500 * USDC
    value(golem.chain, 0)
    tried = golem.simulate(golem.plan("vault_deposit", vault=VAULT, amount=str(USDC)))
    assert tried.failure is not None and "OnlyOneRequestAllowed" in str(tried.failure)


def test_a_request_that_somebody_else_ended_has_arrived_with_the_account(golem: Golem) -> None:
    ask_in(golem)
    settle(golem.chain)
    pushed = "claimSharesOnBehalf(address[])"
    golem.chain.transact(derive_account("erc4626 safe"), VAULT, pushed, [golem.address])
    assert shares(golem) == 1_000 * SHARE
    arrived = of(golem, IN_REF)
    assert arrived.is_settled and arrived.legs == () and step(golem, IN_REF) is None
    assert [each.ref.kind for each in golem.positions()] == ["vault"], "nobody else is told of what has arrived"


def test_dust_that_a_stranger_asks_for_in_its_name_keeps_nothing_from_being_taken_back_or_claimed(
    golem: Golem,
) -> None:
    ask_in(golem)
    stranger = golem.chain.new_account(10**18, {"USDC": USDC})
    golem.chain.transact(stranger, the_vault().asset, "approve(address,uint256)", VAULT, 2)
    asked = "requestDeposit(uint256,address,address)"
    receipt = golem.chain.transact(stranger, VAULT, asked, 1, golem.address, stranger.address)
    assert PROTOCOL.positions is not None
    assert PROTOCOL.positions.born(view_receipt(receipt).logs, golem.address, CHAIN_ID) == (IN_REF,)
    assert of(golem, IN_REF).legs[0].raw == 1_000 * USDC + 1
    golem.act("vault_cancel_request", vault=VAULT)
    assert usdc(golem) == 10_000 * USDC + 1
    # Once something is settled a stranger's dust has it claimed, to the account.
    ask_in(golem)
    settle(golem.chain)
    golem.chain.transact(stranger, VAULT, asked, 1, golem.address, stranger.address)
    assert shares(golem) == 1_000 * SHARE and of(golem, IN_REF).legs[0].raw == 1


def test_a_vault_that_is_paused_takes_and_gives_nothing_and_is_waited_for(golem: Golem) -> None:
    ask_in(golem)
    pause(golem.chain)
    for tool, params in (
        ("vault_deposit", {"amount": "1"}),
        ("vault_cancel_request", {}),
        ("vault_claim_request", {"request": "deposit"}),
        ("vault_withdraw", {"shares": "max"}),
    ):
        assert "paused" in refuse(golem, VaultClosed, tool, **params).detail
    waits = of(golem, IN_REF)
    assert [(each.reason, each.raw) for each in waits.locked] == [("paused", 1_000 * USDC)]
    assert isinstance(step(golem, IN_REF), Wait)
    pause(golem.chain, "unpause()")
    settle(golem.chain)
    pause(golem.chain)
    # What was settled counts on, at what was put in, while the vault tells nothing of it.
    assert of(golem, IN_REF).raw_of(the_vault().asset) == 1_000 * USDC


def test_the_way_out_takes_back_what_waits_asks_for_shares_and_claims(golem: Golem) -> None:
    ask_in(golem)
    early = step(golem, IN_REF)
    assert isinstance(early, Act) and (early.tool, early.is_early) == ("vault_cancel_request", True)
    assert golem.leave([the_vault().asset]) == ["vault_cancel_request"]
    assert usdc(golem) == 10_000 * USDC
    hold(golem)
    asked = PROTOCOL.exits.next_step(golem.positions()[0], {}, 0) if PROTOCOL.exits else None
    assert isinstance(asked, Act) and asked.tool == "vault_withdraw"
    golem.act(asked.tool, **asked.params)
    waits = step(golem, OUT_REF)
    assert isinstance(waits, Wait) and waits.until is None
    settle(golem.chain, what="settleRedeem(uint256)")
    assert golem.leave([the_vault().asset]) == ["vault_claim_request"]
    assert usdc(golem) == 10_000 * USDC and golem.positions() == ()


def test_a_vault_that_closed_for_good_gives_back_without_being_asked(golem: Golem) -> None:
    hold(golem)
    safe, valuer = derive_account("erc4626 safe"), derive_account("erc4626 valuer")
    golem.chain.transact(derive_account("erc4626 deployer"), VAULT, "initiateClosing()")
    golem.chain.transact(valuer, VAULT, "updateNewTotalAssets(uint256)", 1_000 * USDC)
    golem.chain.transact(safe, VAULT, "close(uint256)", 1_000 * USDC)
    assert golem.leave([the_vault().asset]) == ["vault_withdraw"]
    assert usdc(golem) == 10_000 * USDC


def test_what_is_not_there_is_refused(golem: Golem) -> None:
    refuse(golem, SharesMissing, "vault_withdraw", shares="max")
    refuse(golem, RequestNotClaimable, "vault_claim_request", request="withdrawal")
    hold(golem)
    short = refuse(golem, SharesMissing, "vault_withdraw", shares=str(1_001 * SHARE))
    assert short.data["available"] == str(1_000 * SHARE)
    ask_out(golem)
    gone = refuse(golem, SharesMissing, "vault_withdraw", shares="1")
    assert (gone.data["available"], gone.data["pending"]) == ("0", str(1_000 * SHARE))


def test_requests_for_others_parts_of_them_and_foreign_bytes_are_a_veto(golem: Golem) -> None:
    ask_in(golem)
    settle(golem.chain)
    me, other = golem.address, golem.chain.actors.makers[0].address
    reader = make_context(golem.chain, address=me).chain()
    assert PROTOCOL.effects is not None
    redeem = "function redeem(uint256 shares, address receiver, address owner)"
    for data in (
        encode_call(ASK_IN, 1, other, me),
        encode_call(ASK_IN, 1, me, other),
        encode_call(ASK_OUT, 1, other, me),
        encode_call(CLAIM_IN, 1_000 * USDC, other, me),
        encode_call(CLAIM_IN, 1_000 * USDC, me, other),
        encode_call(CLAIM_IN, 999 * USDC, me, me),
        encode_call(CLAIM_IN, 1_000 * USDC, me, me) + b"\1",
        encode_call(TAKE_BACK),
        encode_call(redeem, 1, me, other),
        encode_call("function deposit(uint256 assets, address receiver)", 1_000 * USDC, me),
        encode_call("function setOperator(address operator, bool approved)", other, True),
        encode_call("function syncDeposit(uint256 assets, address receiver, address referral)", 1, me, other),
        encode_call("function claimSharesAndRequestRedeem(uint256 sharesToRedeem)", 1),
    ):
        with pytest.raises(UnknownCall):
            PROTOCOL.effects.read(Call(VAULT, data, 0, ""), earlier=(), account=me, chain=reader, into=Effects())
    with pytest.raises(UnknownCall):
        coin = Call(VAULT, encode_call(ASK_IN, 1, me, me), 1, "")
        PROTOCOL.effects.read(coin, earlier=(), account=me, chain=reader, into=Effects())


def test_a_vault_that_is_not_known_to_be_asked_is_refused_with_what_is_under_way(golem: Golem) -> None:
    family, unknown = VaultFamily("erc4626"), replace(the_vault(), by_request=False)
    ask_in(golem)
    reader = make_context(golem.chain, address=golem.address).chain()
    with pytest.raises(VaultByRequest) as refused:
        family.plan_deposit(reader, golem.address, unknown, USDC)
    assert refused.value.next_step is Recovery.GIVE_UP and "by request" in refused.value.detail
    assert f"{1_000 * USDC} pending deposit" in refused.value.detail
    with pytest.raises(VaultByRequest) as held:
        family.plan_redeem(reader, golem.address, unknown, None)
    assert (held.value.next_step, held.value.data["pending_redeem"]) == (Recovery.ASK_OWNER, "0")


def test_shares_of_a_vault_that_is_paused_are_told_as_locked_and_waited_for(golem: Golem) -> None:
    hold(golem)
    pause(golem.chain)
    (held,) = golem.positions()
    assert [(each.reason, each.raw) for each in held.locked] == [("paused", 1_000 * USDC)]
    assert isinstance(step(golem, held.ref), Wait)
