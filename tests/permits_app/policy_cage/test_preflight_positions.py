"""The pre-flight and the contract answer alike where positions have legs, on the real Aave V3 and Uniswap V3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.call_rules import list_rights
from permits_app.policy_cage.contract import BatchClass, Limit, decode_cage_error, decode_cage_event, limit_rule
from permits_app.policy_cage.preflight import MIXES, judge_growth, predict
from permits_app.policy_cage.preflight_simulation import read_measured
from permits_app.policy_cage.preflight_types import Measured, Observed, PreflightVerdict, Refusal, Refused
from permits_app.policy_cage.safe_tx import NONCE, ZERO_ADDRESS
from permits_app.policy_cage.state import POOLED, CageState
from tests.contracts.attackers import Lent, list_hooked_token, listen, ran, sign_a_deposit
from tests.contracts.pool_thief import SPACING, PoolThief
from tests.permits_app.policy_cage.test_preflight import follow
from tests.proof.caged.engines import InProcessEngine, Sent
from tests.proof.caged.safe import DEFAULT_LIMITS, TRANSFER, USD, CagedSafe, build_caged_safe
from tests.proof.caged.uniswap import V3, WHOLE
from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call


def look(caged: CagedSafe) -> Measured:
    return read_measured(caged.engine.read(caged.cage, encode_call(FUNCTIONS["measure"])))


def observe(caged: CagedSafe, calls: Sequence[Call]) -> Observed:
    """What the cage would see of a batch: the owners make the same calls from the Safe, and all of it is undone."""
    engine, before, at = caged.engine, look(caged), caged.engine.now()
    [nonce] = caged.read(caged.safe, NONCE)
    prices = {asset: caged.ask("priceOf", asset) for asset in caged.ask("assets")}
    is_owner = caged.read(caged.safe, "function isOwner(address owner) view returns (bool)", caged.session.address)
    snapshot = engine.snapshot()
    for call in calls:
        assert caged.owner_call(call.to, call.data).succeeded
    after = look(caged)
    engine.revert(snapshot)
    return Observed(
        now=at,
        prices=prices,
        before=before,
        after=after,
        hooks=frozenset({ZERO_ADDRESS, caged.handler}),
        modules=frozenset({caged.cage}),
        is_key_owner=bool(is_owner[0]),
        nonce=nonce,
    )


def said(caged: CagedSafe, sent: Sent) -> PreflightVerdict | Refusal:
    if not sent.succeeded:
        reason = decode_cage_error(sent.output)
        return Refusal(reason.name or "", tuple(reason.args.values()))
    events = [event for event in map(decode_cage_event, sent.logs) if event is not None]
    [done] = [event.args for event in events if event.name == "BatchExecuted"]
    return PreflightVerdict(BatchClass(done["batchClass"]), done["moved"], done["loss"])


def compare(caged: CagedSafe, *calls: Call) -> str:
    """The answer of both, by its name."""
    state = follow(caged.engine, caged)
    predicted = predict(state, calls, without_rights(observe(caged, calls), state, calls), sender=caged.session.address)
    answer = said(caged, caged.execute(*calls))
    assert predicted == answer
    return answer.name if isinstance(answer, Refusal) else BatchClass(answer.batch_class).name


def without_rights(observed: Observed, state: CageState, calls: Sequence[Call]) -> Observed:
    """Every right in these batches is used up in its batch."""
    nothing = dict.fromkeys(list_rights(state, calls), 0)
    return replace(observed, rights_before=nothing, rights_after=nothing)


@pytest.fixture
def lent() -> Lent:
    return Lent(InProcessEngine())


def test_a_life_with_a_loan_is_foreseen_step_by_step(lent: Lent) -> None:
    caged = lent.caged
    turned = [
        lent.withdraw("WETH", WHOLE),
        *caged.trade("WETH", WHOLE, "USDC", 3_000 * USD),
        *lent.supply("USDC", 3_000 * USD),
    ]
    steps: list[tuple[Sequence[Call], str]] = [
        (lent.supply("WETH", 4 * WHOLE), "OPENING"),
        (turned, "REBALANCE"),
        ([lent.borrow("USDC", 5_000 * USD)], "OPENING"),
        ([lent.borrow("USDC", 5_700 * USD)], "CoverTooLow"),
        ([lent.borrow("USDC", 500 * USD), *caged.take("USDC", 500 * USD)], "LossTooLarge"),
        ([lent.withdraw("WETH", WHOLE // 10), *caged.trade("WETH", WHOLE // 10, "WBTC", 500_000)], "RebalanceTooSoon"),
        ([lent.withdraw("WETH", WHOLE // 10), *caged.trade("WETH", WHOLE // 10, "USDC", 300 * USD)], "LEAVING"),
        ([lent.withdraw("USDC", 3_000 * USD)], "LEAVING"),
    ]
    for calls, expected in steps:
        assert compare(caged, *calls) == expected


def test_a_life_with_liquidity_is_foreseen_step_by_step() -> None:
    caged = build_caged_safe(InProcessEngine())
    usdc, weth = (caged.coins[symbol].address for symbol in ("USDC", "WETH"))
    v3 = V3(caged)
    v3.open_pool(usdc, weth, 3_000)
    assert compare(caged, *v3.open_position(usdc, weth, 3_000, 5_000)) == "OPENING"
    half = v3.leave(1, v3.liquidity(1) // 2)
    assert compare(caged, *half, *caged.trade("USDC", 600 * USD, "WBTC", 1_000_000)) == "OPENING"
    assert compare(caged, *v3.leave(1, v3.liquidity(1) // 2), *caged.take("USDC", 300 * USD)) == "LossTooLarge"
    assert compare(caged, *v3.leave(1, v3.liquidity(1))) == "LEAVING"


def test_what_may_not_go_into_pools_is_foreseen() -> None:
    caged = build_caged_safe(InProcessEngine())
    thief = PoolThief(caged)
    least = DEFAULT_LIMITS[Limit.MIN_RANGE_TICKS]
    thief.give(SPACING, 1_000)
    answers = {
        "of one spacing": compare(caged, *thief.minting(SPACING, 1_000)),
        "into what was given": compare(caged, *thief.increasing(1, 1_000)),
        "in a bundle": compare(caged, *thief.minting(least - SPACING, 1_000, in_bundle=True)),
    }
    assert set(answers.values()) == {"MayNotGrow"}
    assert compare(caged, *thief.minting(least, 20_000)) == "OPENING"
    assert compare(caged, *thief.minting(least, 10_000)) == "PooledInWindowTooLarge"
    assert compare(caged, *thief.minting(least, 4_000)) == "OPENING"
    assert compare(caged, *thief.minting(least, 2_000)) == "PooledInWindowTooLarge"
    assert compare(caged, *thief.v3.leave(1, thief.v3.liquidity(1))) == "LEAVING"
    [spent] = caged.read(caged.cage, FUNCTIONS["spent"], POOLED)
    assert spent == follow(caged.engine, caged).spent(POOLED, now=caged.engine.now()) > 23_000 * USD


def test_a_contract_before_version_8_is_read_and_has_no_rules_of_pools() -> None:
    lists = "uint256[],uint256[],uint256[],uint256[],uint256[],uint256[],int256,uint256[],int256[],uint256[]"
    told = ([5], [6], [7], [0], [7], [MIXES | 1], 13, [7], [5], [0])
    was = read_measured(encode_call(f"function measure(({lists}) told)", told)[4:])
    assert (was.balances, was.held, was.frozen) == ((5,), (0,), None)
    now = read_measured(encode_call(f"function measure(({lists},uint256[]) told)", (*told, [9]))[4:])
    assert (now.balances, now.frozen) == ((5,), (9,))
    usdc, pools = "0x" + "01" * 20, "0x" + "02" * 20
    state = CageState(cage="0x" + "0c" * 20, account="0x" + "0a" * 20, base_asset=usdc)
    state.assets, state.positions = [usdc], [pools]
    observed = Observed(now=1, prices={usdc: (1, 1)}, before=was, after=was)
    larger = replace(was, gross=(10**9,))
    judge_growth(state, observed, BatchClass.OPENING, was, larger, total_before=13)
    with pytest.raises(Refused, match="PooledInWindowTooLarge"):
        judge_growth(state, observed, BatchClass.OPENING, now, replace(now, gross=(10**9,)), total_before=13)


def with_the_owners_deposit(caged: CagedSafe) -> list[Call]:
    token = list_hooked_token(caged)
    listen(caged, token, caged.safe, sign_a_deposit(caged, 30_000))
    return [caged.call(token, TRANSFER, caged.venue, 0)]


def with_a_key_that_became_an_owner(caged: CagedSafe) -> list[Call]:
    add = "function addOwnerWithThreshold(address owner, uint256 threshold)"
    assert caged.owner_call(caged.safe, encode_call(add, caged.session.address, 2)).succeeded
    return [caged.approve("USDC", 0)]


def test_a_key_that_became_an_owner_is_foreseen() -> None:
    caged = build_caged_safe(InProcessEngine())
    assert compare(caged, *with_a_key_that_became_an_owner(caged)) == "KeyIsOwner"


def test_a_transaction_of_the_owners_inside_a_batch_is_foreseen() -> None:
    caged = build_caged_safe(InProcessEngine())
    calls = with_the_owners_deposit(caged)
    state, before = follow(caged.engine, caged), look(caged)
    [nonce] = caged.read(caged.safe, NONCE)
    prices = {asset: caged.ask("priceOf", asset) for asset in state.assets}
    observed = Observed(now=caged.engine.now(), prices=prices, before=before, after=before, nonce=nonce, acted=1)
    predicted = predict(state, calls, observed, sender=caged.session.address)
    assert predicted == said(caged, caged.execute(*calls)) == Refusal("AccountActed", (nonce + 1, nonce))


def test_a_phase_that_forbids_is_foreseen_with_legs(lent: Lent) -> None:
    caged = lent.caged
    ran(caged, caged.execute(*lent.supply("USDC", 1_000 * USD)))
    assert caged.propose(limit_rule(Limit.PHASE, 4)).succeeded
    turned = [
        lent.withdraw("USDC", 1_000 * USD),
        *caged.trade("USDC", 900 * USD, "WETH", 3 * WHOLE // 10),
        *lent.supply("WETH", 3 * WHOLE // 10),
    ]
    assert compare(caged, *turned) == "PhaseForbids"
