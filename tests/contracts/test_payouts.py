"""Whom a role may pay: registered recipients, up to an allowance that refills, and nobody else."""

from __future__ import annotations

import pytest

from permits_app.policy_cage.contract import (
    AssetRule,
    Refill,
    Rule,
    RuleKind,
    asset_rules,
    payout_key,
    payout_rule,
    recipient_rule,
)
from permits_app.policy_cage.safe_tx import NONCE, ZERO_ADDRESS
from tests.contracts.attackers import list_hooked_token, listen, sign_a_deposit
from tests.contracts.role_keys import DAY, HOUR, PAYER, TRADER, WAGE, Roles, give_role, pay
from tests.contracts.test_governance import inner_error
from tests.contracts.test_outcome_rules import expect
from tests.proof.caged.safe import USD, CagedSafe, deploy
from tools_app.chain.abi import encode_call
from tools_app.toolkit.views import NATIVE


def test_a_payout_is_counted_and_is_no_loss(roles: Roles) -> None:
    caged, _, payer = roles
    usdc = caged.coins["USDC"].address
    before = caged.balance("USDC")
    expect(caged, pay(caged, WAGE, key=payer), None)
    assert before - caged.balance("USDC") == caged.balance("USDC", caged.stranger.address) == WAGE
    assert caged.ask("spent", usdc) == WAGE
    assert caged.ask("spent", "0x" + "00" * 19 + "01") == 0
    assert caged.ask("purseOf", int(RuleKind.PAYOUT), payout_key(PAYER, 7, usdc))[0] == WAGE
    refused = (int(RuleKind.PAYOUT), payout_key(PAYER, 7, usdc), WAGE + 1, WAGE)
    expect(caged, pay(caged, 1, key=payer), ("AllowanceUsedUp", refused))
    caged.engine.advance(DAY)
    expect(caged, pay(caged, WAGE, key=payer), None)


def test_a_payout_reaches_the_registered_and_nobody_else(roles: Roles) -> None:
    caged, trader, payer = roles
    usdc = caged.coins["USDC"].address
    for number in (0, 8, 255, 256, 2**160 + 7, 2**256 - 1):
        expect(caged, pay(caged, 1, key=payer, recipient=number), ("RecipientUnknown", (number,)))
    # A recipient of somebody else's, an asset nobody gave, and what is no asset.
    kind, weth = int(RuleKind.PAYOUT), caged.coins["WETH"].address
    expect(caged, pay(caged, 1, key=trader), ("AllowanceUsedUp", (kind, payout_key(TRADER, 7, usdc), 1, 0)))
    expect(caged, pay(caged, 1, key=caged.session), ("AllowanceUsedUp", (kind, payout_key(0, 7, usdc), 1, 0)))
    expect(caged, pay(caged, 1, key=payer, asset=weth), ("AllowanceUsedUp", (kind, payout_key(PAYER, 7, weth), 1, 0)))
    expect(caged, pay(caged, 1, key=payer, asset=caged.venue), ("AssetNotApproved", (caged.venue,)))
    expect(caged, pay(caged, 1, key=caged.stranger), ("NotSessionKey", (caged.stranger.address,)))


def test_a_batch_that_pays_is_a_loss_whatever_may_be_paid_out(roles: Roles) -> None:
    """A payout is a door of its own: nothing else happens in it, so no loss of a batch passes for one."""
    caged, _, payer = roles
    caged.change(payout_rule(0, 7, caged.coins["USDC"].address, Refill(10_000 * USD)))
    expect(caged, pay(caged, 100 * USD, key=caged.session), None)
    sent = caged.execute(*caged.take("USDC", 100 * USD))
    expect(caged, sent, ("LossTooLarge", (100 * USD, 3 * USD)))
    # Nor is what was paid the loss window's: a batch may lose as much as before.
    expect(caged, caged.execute(*caged.trade("WETH", 10**17, "USDC", 291 * USD)), None)
    assert caged.ask("spent", "0x" + "00" * 19 + "01") == 9 * USD


def test_a_recipient_that_was_struck_off_is_paid_no_more(roles: Roles) -> None:
    caged, _, payer = roles
    assert caged.propose(recipient_rule(7, ZERO_ADDRESS)).succeeded
    expect(caged, pay(caged, 1, key=payer), ("RecipientUnknown", (7,)))
    # Another under the same number waits two days, like the first.
    assert caged.ask("delayOf", int(RuleKind.RECIPIENT), (7).to_bytes(32, "big"), int(caged.deployer.address, 16)) == (
        2 * DAY
    )


def test_a_right_to_pay_that_was_taken_is_gone_at_once(roles: Roles) -> None:
    caged, _, payer = roles
    usdc = caged.coins["USDC"].address
    assert caged.propose(Rule(RuleKind.PAYOUT, payout_key(PAYER, 7, usdc), 0)).succeeded
    kind = int(RuleKind.PAYOUT)
    expect(caged, pay(caged, 1, key=payer), ("AllowanceUsedUp", (kind, payout_key(PAYER, 7, usdc), 1, 0)))


@pytest.mark.parametrize(
    ("becomes", "waits"),
    [
        (Refill(WAGE - 1, WAGE - 1, DAY), False),
        (Refill(WAGE, WAGE, DAY + 1), False),
        (Refill(WAGE, WAGE - 1, DAY), False),
        (Refill(WAGE), False),
        (Refill(WAGE + 1, WAGE, DAY), True),
        (Refill(WAGE, WAGE, DAY - 1), True),
        (Refill(WAGE - 1, WAGE - 1, DAY - 1), True),
    ],
)
def test_less_of_an_allowance_holds_at_once_and_more_waits(roles: Roles, becomes: Refill, waits: bool) -> None:
    caged, _, _ = roles
    rule = payout_rule(PAYER, 7, caged.coins["USDC"].address, becomes)
    assert caged.ask("delayOf", int(rule.kind), rule.key, rule.value) == (2 * DAY if waits else 0)
    assert caged.propose(rule).succeeded
    assert (caged.rule(rule) == rule.value) is not waits


def test_neither_the_account_nor_the_cage_is_a_recipient(caged: CagedSafe) -> None:
    for each in (caged.safe, caged.cage):
        assert inner_error(caged.propose(recipient_rule(1, each))) == ("TargetForbidden", (each,))
    too_many = Rule(RuleKind.RECIPIENT, (256).to_bytes(32, "big"), 1)
    assert inner_error(caged.propose(too_many)) == ("OutOfRange", (256, 255))


def test_coins_are_paid_out_where_they_are_an_asset(roles: Roles) -> None:
    caged, _, payer = roles
    feed = caged.coins["WETH"].feed
    coins = asset_rules(NATIVE, AssetRule(feed, HOUR, 18, 8), per_batch=10**18, per_window=10**18)
    caged.change(*coins, payout_rule(PAYER, 7, NATIVE, Refill(10**17, 10**17, DAY)))
    give_role(caged, PAYER, payer)
    caged.engine.give_coins(caged.safe, 10**18)
    before = caged.engine.balance(caged.stranger.address)
    expect(caged, pay(caged, 10**17, key=payer, asset=NATIVE), None)
    assert caged.engine.balance(caged.stranger.address) - before == 10**17
    assert caged.engine.balance(caged.safe) == 9 * 10**17


def test_a_payout_of_what_nobody_can_price_waits(roles: Roles) -> None:
    caged, _, payer = roles
    caged.engine.advance(2 * HOUR)
    data = encode_call("function setUpdatedAt(uint256 unixSeconds)", caged.engine.now() - 2 * HOUR)
    assert caged.engine.send(caged.deployer, caged.coins["USDC"].feed, data).succeeded
    assert caged.error(pay(caged, 1, key=payer))[0] == "PriceStale"


def test_owners_transactions_do_not_run_inside_a_payout(roles: Roles) -> None:
    caged, _, payer = roles
    token = list_hooked_token(caged)
    caged.change(payout_rule(PAYER, 7, token, Refill(10**18)))
    give_role(caged, PAYER, payer)
    listen(caged, token, caged.safe, sign_a_deposit(caged, 30_000))
    [nonce] = caged.read(caged.safe, NONCE)
    expect(caged, pay(caged, 1, key=payer, asset=token), ("AccountActed", (nonce + 1, nonce)))


def test_a_payout_that_moves_nothing_is_none(roles: Roles) -> None:
    """A token may say yes and do nothing, and one could take more than it was asked for."""
    caged, _, payer = roles
    token = deploy(caged, "FragileToken")
    asset = asset_rules(token, AssetRule(caged.coins["USDC"].feed, HOUR, 18, 8), per_batch=10**20, per_window=10**20)
    caged.change(*asset, payout_rule(PAYER, 7, token, Refill(10**18)))
    give_role(caged, PAYER, payer)
    expect(caged, pay(caged, 0, key=payer), ("PayoutNotMade", (0, 0)))
    assert caged.error(pay(caged, 1, key=payer, asset=token))[0] in ("CallFailed", "PayoutNotMade")
