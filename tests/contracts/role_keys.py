"""Keys of two more roles beside the golem's own: one that trades, and one that pays."""

from __future__ import annotations

from eth_account.signers.local import LocalAccount

from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.contract import (
    Refill,
    Rule,
    payout_rule,
    recipient_rule,
    role_allowance_rule,
    role_call_rule,
    role_spender_rule,
)
from tests.proof.caged.engines import COINS_WEI, Sent, make_account
from tests.proof.caged.safe import TRADE, USD, CagedSafe, selector

DAY = 86_400
HOUR = 3_600
TRADER, PAYER = 1, 2
WAGE = 1_000 * USD


def give_role(
    caged: CagedSafe,
    role: int,
    key: LocalAccount,
    *,
    operations: int = 100,
    budget: int = 10_000 * USD,
    seconds: int = 10 * DAY,
) -> None:
    """The owners appoint the key of a role."""
    assert appoint(caged, role, key.address, operations=operations, budget=budget, seconds=seconds).succeeded


def appoint(
    caged: CagedSafe, role: int, key: str, *, operations: int = 100, budget: int = 10_000 * USD, seconds: int = 10 * DAY
) -> Sent:
    data = cage_contract.encode_appoint(
        role, key=key, expires_at=caged.engine.now() + seconds, operations=operations, budget_micro_usd=budget
    )
    return caged.owner_call(caged.cage, data)


def trader_rules(caged: CagedSafe, role: int = TRADER) -> list[Rule]:
    """A role that may trade at the venue: 3,000 USD of USDC and one WETH, a quarter of which comes back every hour."""
    usdc, weth = caged.coins["USDC"], caged.coins["WETH"]
    return [
        role_call_rule(role, caged.venue, selector(TRADE)),
        role_spender_rule(role, caged.venue),
        role_allowance_rule(role, usdc.address, Refill(3_000 * USD, 750 * USD, HOUR)),
        role_allowance_rule(role, weth.address, Refill(weth.units(1), weth.units("0.25"), HOUR)),
    ]


def payer_rules(caged: CagedSafe, role: int = PAYER) -> list[Rule]:
    """A role that may pay one recipient 1,000 USD, again every day."""
    return [
        recipient_rule(7, caged.stranger.address),
        payout_rule(role, 7, caged.coins["USDC"].address, Refill(WAGE, WAGE, DAY)),
    ]


def pay(caged: CagedSafe, amount: int, *, key: LocalAccount, recipient: int = 7, asset: str | None = None) -> Sent:
    data = cage_contract.encode_pay_out(recipient=recipient, asset=asset or caged.coins["USDC"].address, amount=amount)
    return caged.engine.send(key, caged.cage, data)


Roles = tuple[CagedSafe, LocalAccount, LocalAccount]


def set_up_roles(caged: CagedSafe) -> Roles:
    """A trader and a payer beside the golem's own key."""
    trader, payer = make_account("trader"), make_account("payer")
    for key in (trader, payer):
        caged.engine.give_coins(key.address, COINS_WEI)
    caged.change(*trader_rules(caged), *payer_rules(caged))
    give_role(caged, TRADER, trader)
    give_role(caged, PAYER, payer)
    return caged, trader, payer
