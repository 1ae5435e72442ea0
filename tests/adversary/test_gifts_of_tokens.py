"""A cent of every token that is known, sent by anybody, takes up no room for the assets a golem may hold."""

from __future__ import annotations

from golem_project.embedded.world.seed_data import worth
from permits_app.errors import PolicyRejected
from permits_app.models import PolicyCage, SpendingLimits
from tests.live_golem import LiveGolem

CENTS = 100


def allow(live: LiveGolem, assets: int) -> None:
    if not PolicyCage.objects.filter(golem=live.golem).update(max_assets=assets):
        PolicyCage.objects.create(golem=live.golem, max_assets=assets)


def is_full(live: LiveGolem) -> bool:
    """Whether the swap is refused for the number of assets."""
    try:
        live.preview()
    except PolicyRejected as refused:
        assert refused.data["rule"] == "policy_cage.max_assets", refused
        return True
    return False


def test_gifts_of_a_cent_refuse_no_action_for_the_number_of_assets(live_golem: LiveGolem) -> None:
    world, golem = live_golem.world, live_golem.golem
    SpendingLimits.objects.filter(golem=golem).update(allowlist_mode="OFF")
    allow(live_golem, 1)
    assert is_full(live_golem), "what it holds itself still counts"
    assets = 1
    while is_full(live_golem):
        assets += 1
        allow(live_golem, assets)
    gifts = {symbol: worth(symbol, 1) // CENTS for symbol in ("DAI", "WBTC", "USDT") if symbol in world.tokens}
    assert gifts
    stranger = world.new_account(10**18, gifts)
    for symbol, raw in gifts.items():
        world.transact(stranger, world.tokens[symbol].address, "transfer(address,uint256)", golem.address, raw)
    allow(live_golem, assets)
    assert not is_full(live_golem)
    allow(live_golem, assets - 1)
    assert is_full(live_golem)
