"""The deploy command, and a real swap of a Safe judged before and by the contract."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from golem_project.cage_set_up.deployment import check_valuer, choose_left_out
from golem_project.cage_set_up.errors import CageNotDeployable
from golem_project.embedded.world.solidity import load_contract
from permits_app.actions.sync_policy_cage import sync_policy_cage
from permits_app.errors import CageMirrorBehind, CageWouldRefuse
from permits_app.hook_rejection import Reject
from permits_app.models import CageMirror, PolicyCage, SpendingLimits
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import (
    AssetRule,
    Limit,
    RuleKind,
    asset_rules,
    encode_deployment,
    encode_execute,
    encode_set_session,
    limit_rule,
)
from permits_app.policy_cage.mirror import list_allowed
from permits_app.policy_cage.preflight import MIXES
from permits_app.policy_cage.state import CageState
from permits_app.safety.cage_contract import judge_contract
from tests.contracts.test_valuers import POSITIONS
from tests.live_golem import LiveGolem
from tests.permits_app.local_safe import FUNDS, USD, LocalSafe
from tests.proof.caged.engines import make_account
from tests.proof.caged.safe import DEFAULT_LIMITS, CagedSafe
from tools_app import runner
from tools_app.chain.abi import encode_call
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.protocols.uniswap.v3 import plans as v3
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.plan import Call
from tools_app.toolkit.protocol import SHELF, Trait

CHAIN_ID = 31337
APPROVE = "function approve(address spender, uint256 amount)"


class SafeOfOne(LocalSafe):
    """A Safe with one owner, worth 20,000 USDC and 2 WETH."""

    def __init__(self, golem: LiveGolem) -> None:
        self.owner, self.session = make_account("sole owner"), make_account("sole session")
        super().__init__(golem.world, [self.owner])
        self.engine.give_coins(self.session.address, 10**21)
        golem.world.fund(self.address, 0, FUNDS)

    def swap(self, amount: int, least: int = 0) -> tuple[Call, ...]:
        """USDC for WETH at the real router, as the golem's tool plans it."""
        usdc, weth = self.world.tokens["USDC"].address, self.world.tokens["WETH"].address
        router = self.world.contracts["uniswap_v3_swap_router_02"]
        single = encode_call(v3.EXACT_IN_SINGLE, (usdc, weth, 500, self.address, amount, least, 0))
        return (
            Call(usdc, encode_call(APPROVE, router, amount), 0, "approve"),
            Call(router, encode_call(v3.MULTICALL_UNTIL, 2**40, [single]), 0, "swap"),
        )


def deploy(golem: LiveGolem, *extra: str, account: str) -> str:
    out = io.StringIO()
    call_command(
        "deploy_policy_cage",
        str(golem.golem.pk),
        "--account",
        account,
        "--high-water-mark-usd",
        "26000",
        "--send-locally",
        golem.world.rpc_url,
        *extra,
        stdout=out,
    )
    return out.getvalue()


@pytest.fixture
def caged(live_golem: LiveGolem) -> tuple[LiveGolem, SafeOfOne, CageMirror]:
    """The live golem's policy in a contract over a Safe, its session key appointed."""
    PolicyCage.objects.filter(golem=live_golem.golem).update(max_concentration_bps=6_000)
    SpendingLimits.objects.filter(golem=live_golem.golem).update(per_session_micro_usd=40_000 * USD)
    safe = SafeOfOne(live_golem)
    out = deploy(live_golem, account=safe.address)
    assert "NOT enforced on chain" in out and "its owners sign there" in out
    mirror = CageMirror.objects.get(cage__golem=live_golem.golem)
    typed = json.loads(out[out.index("{") :])
    enable = bytes.fromhex(typed["message"]["data"][2:])
    assert typed["message"]["to"] == typed["domain"]["verifyingContract"] == safe.address
    safe.engine._next = safe.engine._head_time() + 10
    safe.owner_call(safe.address, enable)
    session = encode_set_session(
        key=safe.session.address, expires_at=safe.engine.now() + 86_400, operations=10, budget_micro_usd=40_000 * USD
    )
    safe.owner_call(mirror.contract, session)
    mirror = sync_policy_cage(mirror_id=mirror.pk, now=clock.now())
    assert mirror.is_enforced
    return live_golem, safe, mirror


def hook_call(golem: LiveGolem, mirror: CageMirror, calls: tuple[Call, ...], **changes: Any) -> Any:
    """What hook 1 hands on, as far as the contract's rule reads it."""
    now = clock.now()
    reader = runner.open_reader(CHAIN_ID, now=now, deadline=Deadline.after_ms(10_000))
    facts = {
        "cage": PolicyCage.objects.select_related("mirror").get(pk=mirror.cage_id),
        "golem": golem.golem,
        "now": now,
        "plan": SimpleNamespace(calls=calls, promise=None),
        "chain": reader,
        "view": SimpleNamespace(address=mirror.account),
    }
    return SimpleNamespace(**{**facts, **changes})


def test_the_golems_policy_becomes_the_contracts_rules(caged: tuple[LiveGolem, SafeOfOne, CageMirror]) -> None:
    golem, _, mirror = caged
    state = CageState.from_dict(mirror.state)
    assert state.limit(Limit.MAX_CONCENTRATION_BPS) == 6_000
    assert state.limit(Limit.HIGH_WATER_MARK_MICRO_USD) == 26_000 * USD
    assert set(state.assets) == {token.address for token in golem.world.tokens.values()}
    assert golem.world.contracts["uniswap_v3_position_manager"] in state.positions
    known = SHELF.contracts_on(golem.golem.home_chain_id)
    # Where something may be held that nobody values, nothing is called; nor at what did not fit into one creation.
    places = SHELF.valued_on(golem.golem.home_chain_id)
    left = set(
        choose_left_out(
            golem.golem, open_reader(), {"high_water_mark_usd": "26000", "guardian": None, "account": mirror.account}
        )
    )
    assert "uniswap" not in left
    gone = {at for name in left for at in (SHELF.get(name).deployments(CHAIN_ID) or {}).values()}  # type: ignore[union-attr]
    there = {
        each for each in places.values() if each and golem.world.rpc.call("eth_getCode", each, "latest") != "0x"
    } - gone
    assert set(state.positions) == there
    counted = {at for at, _ in known if at not in gone and (places.get(at) in {None, *there} or at in state.assets)}
    selectors = {(address, text) for address, each in known if address in counted for text in each.functions}
    assert len(list_allowed(state, RuleKind.CALL)) == len(selectors) > 14
    assert len(list_allowed(state, RuleKind.CONDITION)) > 20
    # What sends to another chain takes nothing of a cage's account.
    crossing = {
        at for each in SHELF if Trait.CROSS_CHAIN in each.traits for at in (each.deployments(CHAIN_ID) or {}).values()
    }
    spenders = {at for at, contract in known if contract.takes_tokens and at not in gone | crossing}
    assert len(list_allowed(state, RuleKind.SPENDER)) == len(spenders) >= 3


@pytest.mark.protocols("aave_v3", "spark", "erc4626", "morpho", "maker", "lido", "rocketpool")
def test_what_no_chain_takes_at_once_is_left_out_and_told(live_golem: LiveGolem) -> None:
    out = deploy(live_golem, account=live_golem.golem.address)
    assert "not in this contract, for one holds only so many rules: " in out
    state = CageState.from_dict(CageMirror.objects.get().state)
    assert live_golem.world.contracts["uniswap_v3_position_manager"] in state.positions
    assert 1 < len(state.positions) < 8


def test_a_real_swap_is_let_through_by_pre_flight_and_by_the_contract(
    caged: tuple[LiveGolem, SafeOfOne, CageMirror],
) -> None:
    golem, safe, mirror = caged
    calls = safe.swap(3_000 * USD)
    assert judge_contract(hook_call(golem, mirror, calls)) is None
    sent = safe.engine.send(safe.session, mirror.contract, encode_execute(calls))
    assert sent.succeeded
    mirror = sync_policy_cage(mirror_id=mirror.pk, now=clock.now())
    assert CageState.from_dict(mirror.state).session.operations_left == 9


def test_what_the_contract_would_refuse_is_refused_before_anything_is_signed(
    caged: tuple[LiveGolem, SafeOfOne, CageMirror],
) -> None:
    golem, safe, mirror = caged
    calls = safe.swap(11_000 * USD)
    refusal = judge_contract(hook_call(golem, mirror, calls))
    assert isinstance(refusal, Reject)
    error = refusal.as_error("policy_cage")
    assert isinstance(error, CageWouldRefuse)
    assert error.data["error"] == "AllowanceTooLarge"
    assert error.data["values"] == ["11000000000", "10000000000"]
    sent = safe.engine.send(safe.session, mirror.contract, encode_execute(calls))
    caged_error = CagedSafe.error(None, sent)  # type: ignore[arg-type]
    assert caged_error == ("AllowanceTooLarge", {"observed": 11_000 * USD, "allowed": 10_000 * USD})


def test_rights_that_would_be_left_over_are_seen_before_anything_is_signed(
    caged: tuple[LiveGolem, SafeOfOne, CageMirror],
) -> None:
    golem, safe, mirror = caged
    usdc = golem.world.tokens["USDC"].address
    routers = [golem.world.contracts[key] for key in ("uniswap_v3_swap_router_02", "uniswap_v2_router")]
    calls = tuple(
        Call(usdc, encode_call(APPROVE, router, amount * USD), 0, "approve")
        for router, amount in zip(routers, (9_000, 1_001), strict=True)
    )
    refusal = judge_contract(hook_call(golem, mirror, calls))
    assert isinstance(refusal, Reject)
    assert (refusal.data["error"], refusal.data["values"][1:]) == ("OutflowTooLarge", ["10001000000", "10000000000"])
    sent = safe.engine.send(safe.session, mirror.contract, encode_execute(calls))
    name, args = CagedSafe.error(None, sent)  # type: ignore[arg-type]
    assert (name, [str(value) for value in args.values()]) == ("OutflowTooLarge", refusal.data["values"])
    assert judge_contract(hook_call(golem, mirror, calls[:1])) is None
    assert safe.engine.send(safe.session, mirror.contract, encode_execute(calls[:1])).succeeded


def test_a_mirror_that_is_behind_refuses_every_write(caged: tuple[LiveGolem, SafeOfOne, CageMirror]) -> None:
    golem, safe, mirror = caged
    CageMirror.objects.filter(pk=mirror.pk).update(synced_at=None)
    refusal = judge_contract(hook_call(golem, mirror, safe.swap(USD)))
    assert isinstance(refusal, Reject)
    error = refusal.as_error("policy_cage")
    assert isinstance(error, CageMirrorBehind)
    assert (error.code, str(error.next_step)) == ("CAGE_MIRROR_BEHIND", "WAIT")


def test_a_plain_account_is_mirrored_and_labelled_as_not_enforced(live_golem: LiveGolem) -> None:
    out = deploy(live_golem, account=live_golem.golem.address)
    assert "NOT enforced on chain" in out and "{" not in out
    mirror = CageMirror.objects.get()
    assert not mirror.is_enforced
    assert judge_contract(hook_call(live_golem, mirror, ())) is None
    # The figures of the row come from the contract now, and the golem acts under them as before.
    assert live_golem.preview()["permit_id"]


def test_the_owners_transactions_are_written_and_nothing_is_sent(live_golem: LiveGolem, tmp_path: Path) -> None:
    world, out = live_golem.world, tmp_path / "plan.json"
    before, said = int(world.rpc.call("eth_blockNumber"), 16), io.StringIO()

    def plan(*valuers: str) -> dict[str, Any]:
        given = [word for each in valuers for word in ("--valuer", each)]
        call_command(
            "deploy_policy_cage",
            live_golem.golem.name,
            "--account",
            live_golem.golem.address,
            "--high-water-mark-usd",
            "26000",
            *given,
            "--out",
            str(out),
            stdout=io.StringIO(),
            stderr=said,
        )
        told: dict[str, Any] = json.loads(out.read_text())
        return told

    first = plan()
    assert "deploy" not in first and "--valuer ADDRESS" in first["then"]
    assert int(world.rpc.call("eth_blockNumber"), 16) == before and not CageMirror.objects.exists()
    # The owner's wallet sends what is missing.
    made = [world.send(world.actors.deployer, None, each["data"]) for each in first["deploy_valuers_first"]]
    last = plan(*(each["contractAddress"] for each in made))
    assert last["deploy"]["data"].startswith("0x61")
    # What is left to do is told with the page where it is done, and how the local chain does it by itself.
    assert f'/golem/{live_golem.golem.pk}/cage/ press "Let the cage act for the Safe"' in last["at_last"]
    assert f"--send-locally {world.rpc_url}" in said.getvalue()
    with pytest.raises(CommandError, match="no valuer of anything"):
        plan(world.contracts["multicall3"])


def test_a_valuer_of_other_code_or_of_other_values_is_not_taken(live_golem: LiveGolem) -> None:
    world = live_golem.world
    manager = world.contracts["uniswap_v3_position_manager"]
    valuer = dict(SHELF.valuers_on(CHAIN_ID))[manager]
    right = world.deploy(world.actors.deployer, "V3PositionValuer", "(address)", manager)
    check_valuer(open_reader(), right, valuer)
    wrong = world.deploy(world.actors.deployer, "V3PositionValuer", "(address)", world.contracts["weth9"])
    with pytest.raises(CageNotDeployable, match="made of other values"):
        check_valuer(open_reader(), wrong, valuer)
    other = world.deploy(world.actors.deployer, "HostileValuer", "()")
    with pytest.raises(CageNotDeployable, match="is not that of V3PositionValuer"):
        check_valuer(open_reader(), other, valuer)


def test_registering_what_is_no_cage_says_so(live_golem: LiveGolem) -> None:
    with pytest.raises(CommandError, match="NOT_A_CAGE"):
        call_command("deploy_policy_cage", live_golem.golem.name, "--register", live_golem.world.contracts["weth9"])


def test_what_answers_as_a_cage_and_is_of_other_code_is_offered_to_nobody(live_golem: LiveGolem) -> None:
    """A cage in which changes may be applied for a second longer: it answers every question as the published one."""
    world = live_golem.world
    week, longer = bytes.fromhex("093a80"), bytes.fromhex("093a81")
    code = bytes.fromhex(load_contract("PolicyCage").bytecode[2:])
    assert week in code
    published, other = (create_cage(live_golem, each) for each in (code, code.replace(week, longer)))
    out = io.StringIO()
    call_command("deploy_policy_cage", live_golem.golem.name, "--register", published, stdout=out)
    assert published.lower() in out.getvalue().lower()
    with pytest.raises(CommandError, match="NOT_A_CAGE: the code at .* is not that of the published"):
        call_command("deploy_policy_cage", live_golem.golem.name, "--register", other, stdout=io.StringIO())
    assert runner_read(other, FUNCTIONS["GRACE_SECONDS"]) == (7 * 86_400 + 1,) and world


def create_cage(golem: LiveGolem, code: bytes) -> str:
    """A cage over the golem's plain account, with the fewest rules it may have."""
    usdc = golem.world.tokens["USDC"]
    asset = AssetRule(usdc.feed, 3_600, usdc.decimals, 8)
    rules = [limit_rule(limit, value) for limit, value in DEFAULT_LIMITS.items()]
    rules += asset_rules(usdc.address, asset, per_batch=0, per_window=0)
    data = encode_deployment(code, account=golem.golem.address, base_asset=usdc.address, rules=rules)
    receipt = golem.world.send(golem.world.actors.deployer, None, "0x" + data.hex(), gas=16_000_000)
    assert receipt["status"] == "0x1"
    return str(receipt["contractAddress"])


def test_a_real_v3_position_is_valued_and_its_fees_and_liquidity_cannot_be_sent_away(
    caged: tuple[LiveGolem, SafeOfOne, CageMirror],
) -> None:
    golem, safe, mirror = caged
    world, thief = golem.world, golem.world.actors.traders[0].address
    usdc, weth = world.tokens["USDC"].address, world.tokens["WETH"].address
    manager = world.contracts["uniswap_v3_position_manager"]
    (token0, amount0), (token1, amount1) = sorted(((usdc, 3_000 * USD), (weth, 10**18)), key=lambda t: int(t[0], 16))
    slot0 = "function slot0() view returns (uint160 price, int24 tick, uint16 a, uint16 b, uint16 c, uint8 d, bool e)"
    tick = int(runner_read(world.pool("v3", "USDC", "WETH", 500).address, slot0)[1]) // 10 * 10
    mint = encode_call(
        v3.MINT, (token0, token1, 500, tick - 2_000, tick + 2_000, amount0, amount1, 0, 0, safe.address, 2**40)
    )
    calls = (
        Call(usdc, encode_call(APPROVE, manager, 3_000 * USD), 0, "approve"),
        Call(weth, encode_call(APPROVE, manager, 10**18), 0, "approve"),
        Call(manager, mint, 0, "mint"),
    )
    assert judge_contract(hook_call(golem, mirror, calls)) is None
    assert safe.engine.send(safe.session, mirror.contract, encode_execute(calls)).succeeded
    mirror = sync_policy_cage(mirror_id=mirror.pk, now=clock.now())
    [measured] = runner_read(mirror.contract, FUNCTIONS["measure"])
    at = CageState.from_dict(mirror.state).positions.index(manager)
    assert measured[2][at] > 4_000 * USD
    assert abs(measured[6] - 26_000 * USD) < 100 * USD
    position_id = measured[5][at] - MIXES
    liquidity = runner_read(manager, POSITIONS, position_id)[7]
    sent_away = (
        Call(manager, encode_call(v3.DECREASE, (position_id, liquidity, 0, 0, 2**40)), 0, "decrease"),
        Call(manager, encode_call(v3.COLLECT, (position_id, thief, 2**128 - 1, 2**128 - 1)), 0, "collect for a thief"),
    )
    refusal = judge_contract(hook_call(golem, mirror, sent_away))
    assert isinstance(refusal, Reject) and refusal.data["error"] == "ConditionNotMet"
    theft = safe.engine.send(safe.session, mirror.contract, encode_execute(sent_away))
    assert CagedSafe.error(None, theft)[0] == "ConditionNotMet"  # type: ignore[arg-type]
    own = encode_call(v3.COLLECT, (position_id, safe.address, 2**128 - 1, 2**128 - 1))
    home = (sent_away[0], Call(manager, own, 0, "collect"))
    assert judge_contract(hook_call(golem, mirror, home)) is None
    assert safe.engine.send(safe.session, mirror.contract, encode_execute(home)).succeeded


def runner_read(to: str, signature: str, *args: Any) -> tuple[Any, ...]:
    return open_reader().call(to, signature, *args)


def open_reader() -> ChainReader:
    return runner.open_reader(CHAIN_ID, now=clock.now(), deadline=Deadline.after_ms(10_000))
