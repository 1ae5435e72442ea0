"""Ten weeks of one golem at lenders with rewards, issuers of restaked ether, savings, and vaults that pay later: what
came of it adds up to the cent.
"""

from __future__ import annotations

import pytest

from golem_project.embedded.world.accounts import derive_account
from permits_app.performance.nav_parts import sum_parts
from tests.catalogue.door import Door
from tests.catalogue.lives import CENT, DAI, ETH, USD, Life, go_with_the_chain
from tests.evm.world import World
from tests.tools_app.protocols.erc4626.people import VAULT, settle
from tests.tools_app.protocols.liquid_restaking.issuers import as_admin, pay_all
from tools_app.toolkit.views import NATIVE

WORLDS = ("compound_v3", "moonwell", "liquid_restaking", "erc4626", "curve")
ISSUERS = ("etherfi", "renzo", "kelp")
OUT = "settleRedeem(uint256)"


@pytest.fixture
def life(local_chain: World, door: Door, monkeypatch: pytest.MonkeyPatch) -> Life:
    return Life(door, go_with_the_chain(local_chain, monkeypatch))


def let_wait(life: Life) -> None:
    """Issuers pay what they were asked for, and the vault settles it."""
    pay_all(life.door.stage.world)
    settle(life.door.stage.world, what=OUT)


@pytest.mark.protocols(*WORLDS)
def test_ten_weeks_at_lenders_issuers_and_vaults_that_pay_later_end_with_parts_that_add_up_to_the_cent(
    life: Life,
) -> None:
    world, savings, pool = life.door.stage.world, life.at("erc4626", "susds"), life.at("curve", "pool_3pool")
    began, first = life.value(), life.wallet_worth()
    assert abs(first - began.nav_micro_usd) <= CENT
    life.act("vault_deposit", vault=savings, amount=str(10_000 * DAI))
    life.act("curve_add_liquidity", pool=pool, amounts=[str(5_000 * DAI), str(5_000 * USD), "0"])
    life.act("convex_stake_lp", pool=pool, amount="max")
    held, parts = life.live_a_week(began)
    assert parts.price == parts.moved == 0 and parts.fees_and_interest > 0

    for issuer in ISSUERS:
        life.act("lrt_deposit", protocol=issuer, amount=str(10 * ETH))
    life.act("vault_deposit", vault=VAULT, amount=str(10_000 * USD))
    held, parts = life.live_a_week(held)
    assert parts.price == parts.moved == 0

    # A loop over two lenders: what is borrowed of one covers a debt at the other, which goes back to the first.
    life.act("compound_v3_supply", market="USDC", asset="WETH", amount=str(8 * ETH))
    life.act("compound_v3_borrow", market="USDC", amount=str(6_000 * USD))
    life.act("moonwell_supply", asset="USDC", amount=str(6_000 * USD))
    life.act("moonwell_borrow", asset="DAI", amount=str(2_000 * DAI))
    life.act("compound_v3_supply", market="USDC", asset="DAI", amount=str(2_000 * DAI))
    held, parts = life.live_a_week(held)
    assert parts.price == parts.moved == 0 and abs(held.debt_micro_usd - 8_000 * USD) < 100 * USD

    # The vault gives its shares at the price of one.
    settle(world)
    life.act("vault_claim_request", vault=VAULT, request="deposit")
    life.pay_in(1_000)
    held, parts = life.live_a_week(held)
    assert (parts.price, parts.moved) == (0, 1_000 * USD)

    # A quiet week with a dearer coin: all that is more is its price, or was earned.
    ether = life.ether_in(held)
    was, old = life.price_of(NATIVE), life.move_price("WETH", 102)
    held, parts = life.live_a_week(held)
    assert abs(parts.price - ether * (life.price_of(NATIVE) - was)) <= CENT
    assert parts.gas == parts.slippage == parts.moved == 0 and parts.fees_and_interest > 0

    # Rewards are claimed everywhere, and what they count as before and after is the same.
    life.tell_price("WETH", old)
    for tool, params in (
        ("convex_claim_rewards", {"pool": pool}),
        ("compound_v3_claim_rewards", {"market": "USDC"}),
        ("moonwell_claim_rewards", {}),
    ):
        life.act(tool, **params)
    held, parts = life.live_a_week(held, late=10 * CENT)
    assert parts.price < 0 == parts.moved and parts.fees_and_interest > 0

    # An issuer's validators lose a tenth of what everybody has there.
    lost = life.ether_in(held)
    staked = int(
        world.rpc.read(life.at("liquid_restaking", "etherfi_pool"), "getTotalPooledEther()", returns="(uint256)")[0]
    )
    as_admin(world, "etherfi_pool", "rebase(int128)", -staked // 10)
    held, parts = life.live_a_week(held)
    lost -= life.ether_in(held)
    assert abs(lost - ETH) < ETH // 1_000
    assert parts.price == parts.moved == 0 > parts.fees_and_interest + int(lost * life.price_of(NATIVE)) * 9 // 10

    # It asks for a part of everything back, and the vault earned a thousandth until it pays.
    for issuer in ISSUERS:
        life.act("lrt_withdraw", protocol=issuer, amount=str(4 * ETH), mode="queue")
    life.act("vault_withdraw", vault=VAULT, shares=str(5_000 * 10**18))
    world.fund(derive_account("erc4626 safe").address, ETH, {"USDC": 100_000 * USD})
    held, parts = life.live_a_week(held)
    settle(world, 10_010 * USD, what=OUT)
    life.act("vault_claim_request", vault=VAULT, request="withdrawal")
    life.act("moonwell_repay", asset="DAI", amount="max")
    life.act("compound_v3_repay", market="USDC", amount="max")
    held, parts = life.live_a_week(held, late=10 * CENT)
    assert held.debt_micro_usd == 0 and parts.fees_and_interest > 9 * USD

    # The tenth: its owner ends it, and everything else is taken out.
    life.take_everything_out(lambda: let_wait(life))
    ended, parts = life.live_a_week(held, late=10 * CENT)
    assert sum(abs(each.micro_usd or 0) for each in ended.positions) <= CENT, ended.positions
    total = sum_parts(life.weeks)
    assert len(life.weeks) == 10 and abs(total.moved - life.paid_in) <= CENT
    assert abs(life.wallet_worth() - ended.nav_micro_usd) <= CENT
    assert abs(total.profit - (life.wallet_worth() - first - life.paid_in)) <= CENT
    assert total.gas < 0 == total.slashes
