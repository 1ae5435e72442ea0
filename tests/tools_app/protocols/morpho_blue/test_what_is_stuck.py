"""What is lent in a market of Morpho Blue out of which nothing can be taken: on the server, and in a cage."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from golem_project.embedded.world.accounts import derive_account
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import valuer_rule
from permits_app.policy_cage.preflight_simulation import read_measured
from permits_app.policy_cage.preflight_types import Measured
from tests.contracts.test_valuers import WorldCage
from tests.evm.world import World
from tests.tools_app.protocols.morpho_blue.golem import MORPHO, PARAMS, USDC, act_as, make_golem, usdc_market
from tools_app.chain.abi import encode_call
from tools_app.protocols.morpho_blue.addresses import known_markets
from tools_app.toolkit.positions import WHEN_REPAID

pytestmark = pytest.mark.protocols("morpho")


def take_all_that_is_left(chain: World, market: str) -> None:
    """The first lender takes out whatever nobody borrows."""
    lender = derive_account("morpho lender").address
    [params] = [each for each in known_markets(31337) if each.id == market]
    state = chain.rpc.read(
        MORPHO, "market(bytes32)", bytes.fromhex(market[2:]), returns="(" + ",".join(["uint128"] * 6) + ")"
    )
    # Interest of the seconds until it is mined leaves nothing to take and adds nothing to it.
    act_as(
        chain,
        "lender",
        f"withdraw({PARAMS},uint256,uint256,address,address)",
        params.as_tuple,
        int(state[0]) - int(state[2]),
        0,
        lender,
        lender,
    )


def test_what_is_lent_where_nothing_is_left_is_told_as_not_free_and_counts_in_full(chain: World) -> None:
    golem, market = make_golem(chain), usdc_market()
    golem.act("morpho_supply_market", market_id=market, amount=str(20_000 * USDC))
    (before,) = golem.positions()
    assert before.legs[0].free_at is None and "borrow" not in before.label
    take_all_that_is_left(chain, market)
    (after,) = golem.positions()
    assert (after.facts["available_liquidity"], after.legs[0].free_at) == ("0", WHEN_REPAID)
    assert "nothing can be taken out until borrowers repay" in after.label
    assert after.legs[0].raw >= before.legs[0].raw


@pytest.mark.parametrize("is_stuck", [False, True])
def test_what_is_lent_grows_behind_a_cage_where_others_can_take_out(chain: World, is_stuck: bool) -> None:
    golem, market = make_golem(chain), usdc_market()
    golem.act("morpho_supply_market", market_id=market, amount=str(1_000 * USDC))
    ids = [bytes.fromhex(each.id[2:]) for each in known_markets(31337)]
    valuer = chain.deploy(chain.actors.deployer, "MarketValuer", "(address,bytes32[])", MORPHO, ids)
    cage = WorldCage(chain, [valuer_rule(MORPHO, valuer)], SimpleNamespace(address=golem.address))
    worth = read_measured_of(cage)
    if is_stuck:
        take_all_that_is_left(chain, market)
    seen = read_measured_of(cage)
    # It counts in full, and may not grow: what were put in the other lender would take out.
    assert seen.gross[1] >= worth.gross[1] > 999 * 10**6
    assert len(seen.frozen or ()) == int(is_stuck)


def read_measured_of(cage: WorldCage) -> Measured:
    raw = cage.world.rpc.call(
        "eth_call", {"to": cage.cage, "data": "0x" + encode_call(FUNCTIONS["measure"]).hex()}, "latest"
    )
    return read_measured(bytes.fromhex(raw[2:]))
