"""Caps by issuer, bridge and oracle: all that depends on one, wherever it lies, is held to the owner's share."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from permits_app.hook_rejection import Reject
from permits_app.models import PolicyCage
from permits_app.safety.holding_rules import judge_dependence
from permits_app.safety.hook import Allow
from permits_app.safety.hook_inputs_json import decode_facts
from permits_app.safety.measured_shares import judge_silent_oracles
from permits_app.safety.position_rules import Moved
from permits_app.safety.predicted_holdings import Dependent
from tests.evm.world import CHAIN_ID, World
from tests.live_golem import LiveGolem, make_live_golem
from tests.permits_app.safety.calls import SWAP_TOOL, WETH, swap_call
from tests.permits_app.safety.test_policy_cage import HOOK, measure, set_cage
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.errors import Recovery
from tools_app.portfolio.issuer_and_bridge_risk import Dependence, DependenceKind, depends_of_token
from tools_app.toolkit.positions import Leg, Position, PositionRef

ORACLE = "0x00000000000000000000000000000000000000aa"
TO_TETHER = {"token_in": "WETH", "token_out": "USDT", "amount": str(10**17)}


def judge(kind: str, after: int, *, before: int = 0, total: int = 10_000, most_bps: int = 3_000) -> Reject | None:
    dependent = Dependent(kind, "Somebody", before, after)
    return judge_dependence(dependent=dependent, total_micro_usd=total, most_bps=most_bps)


@pytest.mark.parametrize(("after", "passes"), [(2_999, True), (3_000, True), (3_001, False)])
def test_one_issuer_takes_exactly_its_share(after: int, passes: bool) -> None:
    refusal = judge("issuer", after)
    assert (refusal is None) == passes
    if refusal is not None:
        assert (refusal.rule, refusal.limit) == ("policy_cage.max_issuer", "3000 bps (30%)")
        assert "Somebody" in refusal.reason and "another issuer" in refusal.would_pass
        assert refusal.as_error("policy_cage").next_step is Recovery.FIX_PARAMS


@pytest.mark.parametrize(("after", "passes"), [(2_999, True), (3_000, True), (3_001, False)])
def test_one_bridge_takes_exactly_its_share(after: int, passes: bool) -> None:
    refusal = judge("bridge", after)
    assert (refusal is None) == passes and (refusal is None or refusal.rule == "policy_cage.max_bridge")


@pytest.mark.parametrize(("after", "passes"), [(2_999, True), (3_000, True), (3_001, False)])
def test_one_oracle_takes_exactly_its_share(after: int, passes: bool) -> None:
    refusal = judge("oracle", after)
    assert (refusal is None) == passes and (refusal is None or refusal.rule == "policy_cage.max_oracle")


def test_a_refusal_names_what_its_oracle_prices() -> None:
    ethereum = load_deployment(KNOWN_NETWORKS[1])
    usdc = next(each for each in ethereum.tokens if each.symbol == "USDC")
    feed = ethereum.feeds[usdc.address].address
    told = []
    for name in (f"1:{feed}", f"1:{ORACLE}"):
        refusal = judge_dependence(
            dependent=Dependent("oracle", name, 0, 9_000), total_micro_usd=10_000, most_bps=3_000
        )
        assert refusal is not None
        told.append(refusal.reason)
    assert f"is priced by the oracle of USDC ({feed} on Ethereum (1))" in told[0]
    assert f"is priced by the oracle {ORACLE} on Ethereum (1)" in told[1] and "1:0x" not in "".join(told)


def test_what_grows_no_further_is_not_refused_and_a_portfolio_of_nothing_has_no_share() -> None:
    assert judge("issuer", 9_000, before=9_000) is None
    assert judge("issuer", 8_000, before=9_000) is None
    assert judge("issuer", 1, total=0) is not None


def test_a_swap_into_more_of_one_issuer_than_its_owner_allows_is_refused_and_another_owners_is_not(
    live_golem: LiveGolem, local_chain: World
) -> None:
    other = make_live_golem(local_chain, name="Other", owner_name="owner-b")
    portfolio = measure(live_golem, SWAP_TOOL.name, TO_TETHER)
    [tether] = [each for each in portfolio.depending if each.name == "Tether"]
    assert tether.after > tether.before == 0 and tether.kind == "issuer"
    set_cage(live_golem, max_issuer_bps=tether.after * 10_000 // portfolio.total_before)
    refused = HOOK.check(swap_call(live_golem, **TO_TETHER))
    assert isinstance(refused, Reject) and refused.rule == "policy_cage.max_issuer", refused
    assert "Tether" in refused.reason and refused.data["name"] == "Tether"
    assert isinstance(HOOK.check(swap_call(other, **TO_TETHER)), Allow)
    # Less of it passes, and what somebody sent may be got rid of whatever the share.
    assert isinstance(HOOK.check(swap_call(live_golem, **{**TO_TETHER, "amount": str(9 * 10**16)})), Allow)
    set_cage(live_golem, max_issuer_bps=0)
    local_chain.fund(live_golem.golem.address, 10**18, {"USDT": 10**9})
    back = {"token_in": "USDT", "token_out": "WETH", "amount": str(10**8)}
    assert isinstance(HOOK.check(swap_call(live_golem, **back)), Allow)


def test_the_base_asset_by_itself_depends_on_nobody(live_golem: LiveGolem) -> None:
    portfolio = measure(live_golem, SWAP_TOOL.name, {"token_in": "WETH", "token_out": "USDC", "amount": str(10**17)})
    assert not [each for each in portfolio.depending if each.name == "Circle"]
    set_cage(live_golem, max_issuer_bps=0)
    swap = swap_call(live_golem, token_in="WETH", token_out="USDC", amount=str(10**17))
    assert isinstance(HOOK.check(swap), Allow)


def test_what_a_decision_depended_on_is_kept_with_it_for_drafts_of_the_policy(live_golem: LiveGolem) -> None:
    permit = live_golem.permit(live_golem.preview(**TO_TETHER)["permit_id"])
    kept = decode_facts(permit.facts, at=permit.created_at)
    assert kept is not None and kept.portfolio is not None
    assert [each.name for each in kept.portfolio.depending if each.after > each.before] == ["Tether"]


def test_more_in_a_position_whose_oracle_is_silent_is_refused_and_less_is_not() -> None:
    ref = PositionRef("lender", "market", CHAIN_ID, "1")

    def stands(raw: int, *, is_silent: bool) -> Position:
        silent = frozenset({ORACLE} if is_silent else ())
        return Position(ref, "A market", (Leg(WETH.address, raw),), oracles=frozenset({ORACLE}), silent_oracles=silent)

    before, more, less = stands(5, is_silent=True), stands(6, is_silent=True), stands(4, is_silent=True)
    refusal = judge_silent_oracles([Moved(ref, before, more)])
    assert refusal is not None and refusal.rule == "policy_cage.oracle_failed" and "A market" in refusal.reason
    assert refusal.as_error("simulator").next_step is Recovery.WAIT
    assert judge_silent_oracles([Moved(ref, None, more)]) is not None
    assert judge_silent_oracles([Moved(ref, before, less), Moved(ref, before, None)]) is None
    assert judge_silent_oracles([Moved(ref, before, stands(6, is_silent=False))]) is None


@pytest.mark.parametrize("column", ["max_issuer_bps", "max_bridge_bps", "max_oracle_bps"])
def test_the_database_keeps_no_share_above_the_whole(live_golem: LiveGolem, column: str) -> None:
    with pytest.raises(IntegrityError, match="cage_shares_of_what_can_fail"), transaction.atomic():
        PolicyCage.objects.filter(golem=live_golem.golem).update(**{column: 10_001})


def test_tokens_name_their_issuer_and_the_bridge_they_came_over() -> None:
    issuer, bridge = DependenceKind.ISSUER, DependenceKind.BRIDGE

    def told(chain_id: int, symbol: str) -> set[Dependence]:
        token = next(each for each in load_deployment(KNOWN_NETWORKS[chain_id]).tokens if each.symbol == symbol)
        return set(depends_of_token(chain_id, token.address))

    assert told(1, "USDC") == {Dependence(issuer, "Circle")}
    assert told(10, "USDT") == {Dependence(issuer, "Tether"), Dependence(bridge, "Optimism bridge")}
    assert told(1, "WETH") == set()
    assert told(1, "DAI") == {Dependence(issuer, "Maker")}, "a protocol says itself what it issues"
    assert told(137, "DAI") == {Dependence(issuer, "Maker"), Dependence(bridge, "Polygon PoS bridge")}
    assert told(CHAIN_ID, "USDT") == {Dependence(issuer, "Tether")}
