"""Heists among real markets leave the owners what the rules say, and find a hole that is put back.

The long form is `make proof`: every hole, and a million batches (measured: docs/history/policy-cage-findings.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from golem_project.embedded.world.solidity import read_sources
from permits_app.policy_cage.contract import Limit, decode_cage_error
from tests.contracts.lent_safe import ANNOUNCE, OF_AAVE, OF_MORPHO
from tests.proof.caged.engines import Sent
from tests.proof.caged.morpho import AUTHORIZE, BORROW, FLASH_LOAN, LEND, PLEDGE, RELEASE, REPAY, SEIZE, TAKE_BACK
from tests.proof.caged.safe import DEFAULT_LIMITS, USD, selector
from tests.proof.caged.uniswap import INCREASE, MINT_V3
from tests.proof.heist import Gang, Played, is_published, look_for, run_scene
from tests.proof.heists.campaign import Campaign
from tests.proof.heists.crew import call_together
from tests.proof.heists.holes import HOLES, Carpenter, Hole, HoleNotThereError, change_sources
from tests.proof.heists.judging import Judge
from tests.proof.heists.plans import Planner
from tests.proof.heists.scene import AGGREGATE, MULTICALL
from tests.proof.heists.steps import Act, Finding, Heist, Order, Turn
from tests.proof.heists.watch import Seen
from tools_app.chain.abi import decode_input
from tools_app.simulation.revm_screening.screening import is_turbo_installed
from tools_app.toolkit.plan import Call

HEISTS = 150
# What the batches must at least have run into, or they would prove nothing.
REFUSALS = {
    "ConditionNotMet",
    "LossTooLarge",
    "PhaseForbids",
    "OutflowTooLarge",
    "TargetForbidden",
    "CoverTooLow",
    "RebalanceTooSoon",
    "PriceJumped",
    "SequencerNotUp",
    "RoleMayNotCall",
}
# Besides registering another, which harms none.
IDENTITY = (
    "safeTransferFrom(address,address,uint256)",
    "transferFrom(address,address,uint256)",
    "approve(address,uint256)",
    "setApprovalForAll(address,bool)",
    "setAgentURI(uint256,string)",
    "setMetadata(uint256,string,bytes)",
    "setAgentWallet(uint256,address,uint256,bytes)",
    "unsetAgentWallet(uint256)",
)
Kind = tuple[str, bytes]


@pytest.fixture(scope="module")
def gang() -> Iterator[Gang]:
    with run_scene() as scene:
        yield Gang(scene)


@pytest.fixture(scope="module")
def heists(gang: Gang) -> list[Played]:
    return [gang.run(Order(number)) for number in range(HEISTS)]


def test_after_heists_among_real_markets_the_owners_own_what_the_rules_leave_them(heists: list[Played]) -> None:
    answers: list[str] = []
    for number, played in enumerate(heists):
        assert played.found == [], f"heist {number}"
        for step, sent in zip(played.heist.steps, played.sent, strict=True):
            if step.act is Act.BATCH:
                answers.append("ran" if sent.succeeded else decode_cage_error(sent.output).name or "")
    assert len(answers) > 10 * HEISTS
    assert answers.count("ran") > len(answers) // 20
    assert set(answers) >= REFUSALS


def test_everything_that_a_thief_could_use_is_tried_and_what_may_run_has_run(gang: Gang, heists: list[Played]) -> None:
    scene, tried, ran, steps = gang.scene, Counter[Kind](), Counter[Kind](), Counter[Kind]()
    for played in heists:
        for step, sent in zip(played.heist.steps, played.sent, strict=True):
            kinds = [(call.to, call.data[:4]) for call in step.calls if step.act is Act.BATCH]
            tried.update(kinds)
            ran.update(kinds if sent.succeeded else [])
            steps[step.to, step.data[:4]] += not step.calls
    at, registry, npm, callback = scene.morpho.at, scene.registry, scene.v3.npm, scene.callback
    market = {(at, selector(text)) for text in (LEND, TAKE_BACK, PLEDGE, RELEASE, BORROW, REPAY, SEIZE)}
    bundles = {(scene.multicall, selector(AGGREGATE)), (npm, selector(MULTICALL))}
    given = {(registry, selector(f"function {text}")) for text in IDENTITY}
    back = {(at, selector(FLASH_LOAN)), (at, selector(AUTHORIZE)), (callback, selector(ANNOUNCE))}
    assert [kind for kind in market | bundles | given | back if not tried[kind]] == []
    # What may be done honestly is done, so that a loss would show.
    assert [kind for kind in market | bundles if not ran[kind]] == []
    assert [kind for kind in given | back if ran[kind]] == []
    # Ranges under the owners' least, alone and in a bundle, and what a stranger gave, with more put into it.
    calls = [call for played in heists for step in played.heist.steps if step.act is Act.BATCH for call in step.calls]
    minted = [data for data in map(_read_bundle, calls) if data[:4] == selector(MINT_V3)]
    widths = {asked[4] - asked[3] for asked in (decode_input(MINT_V3, data)[0] for data in minted)}
    assert min(widths) < DEFAULT_LIMITS[Limit.MIN_RANGE_TICKS] < max(widths)
    thief = scene.caged.stranger.address
    gifts = [step for played in heists for step in played.heist.steps if step.sender == thief and step.act is Act.SETUP]
    assert any((step.to, step.data[:4]) == (npm, selector(MULTICALL)) for step in gifts)
    assert tried[npm, selector(INCREASE)]
    # A stranger knocks at both doors with an announcement and with either lender's loan, and liquidates.
    knocks = {(to, selector(text)) for to in (scene.caged.safe, callback) for text in (ANNOUNCE, OF_MORPHO, OF_AAVE)}
    assert [kind for kind in (*knocks, (at, selector(SEIZE))) if not steps[kind]] == []


def _read_bundle(call: Call) -> bytes:
    """The call, or the one that a bundle has in it."""
    if call.data[:4] != selector(MULTICALL):
        return call.data
    [[only]] = decode_input(MULTICALL, call.data)
    return bytes(only)


@pytest.mark.skipif(not is_turbo_installed(), reason="not run: pyrevm (requirements-turbo.txt) is absent")
def test_the_machine_in_this_process_does_what_the_node_does_step_by_step(gang: Gang) -> None:
    assert gang.machine is not None
    ways = [Order(3, (Turn(12, way),)) for way in (1, 2)]
    turned = dict(zip(ways, gang.run_together(ways), strict=True))
    for order in (*map(Order, range(8)), *ways):
        here, there = turned.get(order) or gang.run(order), gang.run_on_node(order)
        assert [(sent.succeeded, sent.output, sent.at) for sent in here.sent] == [
            (sent.succeeded, sent.output, sent.at) for sent in there.sent
        ]
        assert here.found == there.found == []
        assert here.places == there.places


@pytest.mark.skipif(not is_turbo_installed(), reason="not run: pyrevm (requirements-turbo.txt) is absent")
def test_the_machine_in_this_process_holds_the_accounts_of_the_node(gang: Gang) -> None:
    from tests.proof.heists.machine import read_state

    assert gang.machine is not None
    evm = gang.machine.evm
    for address, account in read_state(gang.scene)["accounts"].items():
        info, code = evm.basic(address), bytes.fromhex(account["code"][2:])
        assert (info.nonce, info.balance) == (int(account["nonce"]), int(account["balance"], 16)), address
        # What was analysed is filled up with zeros.
        assert bytes(info.code or b"").rstrip(b"\0") == code.rstrip(b"\0"), address


@pytest.mark.skipif(not is_turbo_installed(), reason="not run: pyrevm (requirements-turbo.txt) is absent")
def test_the_twin_answers_every_batch_among_real_markets_as_the_cage_does(gang: Gang) -> None:
    from tests.proof.heists.twin import Twin

    assert gang.machine is not None
    twin = Twin(gang.scene, gang.machine)
    found = [line for number in range(40) for line in twin.compare(gang.planner.make(Order(number)))]
    assert found == []
    assert twin.answers.total() > 400 and twin.answers["ran"] > 50
    # A twin that foresees nothing would be noticed.
    twin.start.rules.clear()
    assert twin.compare(gang.planner.make(Order(1)))


def test_workers_find_what_one_process_finds(gang: Gang) -> None:
    with call_together(gang, workers=2) as crew:
        outcomes = list(crew.run([[Order(number)] for number in range(4)]))
    played = [gang.run(Order(number)) for number in range(4)]
    assert [one.order.number for one in outcomes] == [0, 1, 2, 3]
    assert [one.batches for one in outcomes] == [one.heist.batches for one in played]
    assert all(one.found == [] for one in outcomes)


def test_what_a_pushed_pool_gave_for_nothing_is_no_risk_and_what_was_paid_for_is(gang: Gang) -> None:
    heist, at, before, sent, after = _find_a_batch_of_a_phase_for_leaving(gang)
    done = gang.see(heist)[:at]

    def judge(usdc: int, weth: int) -> list[Finding]:
        wallet = {**before.wallet, "USDC": before.wallet["USDC"] + usdc, "WETH": before.wallet["WETH"] + weth}
        cut = replace(heist, steps=heist.steps[: at + 1])
        found = Judge(gang.scene, cut).check([*done, (sent, replace(before, nonce=after.nonce, wallet=wallet))])
        return [finding for finding, _ in found]

    # Sold dear at one pool and bought cheap at another: dollars and ether rose, and nothing fell.
    assert judge(300 * USD, 10**17) == []
    assert judge(-300 * USD, 10**17) == [Finding.RISKED]


def _find_a_batch_of_a_phase_for_leaving(gang: Gang) -> tuple[Heist, int, Seen, Sent, Seen]:
    """One that ran: its heist and place, and what was seen before it and after."""
    for number in range(100):
        heist = gang.planner.make(Order(number))
        if heist.phase < 3:
            continue
        done = gang.see(heist)
        for at, (step, (sent, after)) in enumerate(zip(heist.steps, done, strict=True)):
            if step.act is Act.BATCH and sent.succeeded and at >= heist.opening:
                return heist, at, done[at - 1][1], sent, after
    raise AssertionError("no batch of a phase for leaving ran")


def test_a_heist_depends_on_its_order_alone(gang: Gang) -> None:
    plain, other = Order(7), Order(8)
    turned = Order(7, (Turn(10, 1),))
    made = {order: Planner(gang.scene).make(order) for order in (plain, other, turned)}
    for order in (turned, other, plain, turned):
        assert gang.planner.make(order) == made[order]
    assert made[plain].steps != made[other].steps


def test_a_turned_heist_is_its_trunk_and_then_something_else(gang: Gang) -> None:
    trunk = gang.planner.make(Order(7))
    step = trunk.opening + 2
    one, other = (gang.planner.make(Order(7, (Turn(step, way),))) for way in (1, 2))
    assert one.steps[:step] == other.steps[:step] == trunk.steps[:step]
    assert one.steps[step:] != other.steps[step:]
    assert one.batches < one.depth
    longer = gang.planner.make(Order(7, (Turn(step, 1), Turn(len(one.steps), 1))))
    assert longer.depth > one.depth
    assert len(longer.tokens) > len(one.tokens) > len(trunk.tokens)


def test_heists_go_on_from_where_no_other_came(gang: Gang) -> None:
    campaign = Campaign()
    with call_together(gang) as crew:
        first, second = (list(campaign.run_wave(wave, crew)) for wave in range(2))
    assert not any(one.order.turns for one in first)
    assert any(one.order.turns for one in second)
    assert max(one.depth for one in second) > max(one.depth for one in first)
    assert all(one.found == [] for one in (*first, *second))
    known = {place.number for one in first for place in one.places}
    assert known < campaign.scout.known


def test_a_search_goes_on_where_it_stopped(gang: Gang, tmp_path: Path) -> None:
    whole, path = Campaign(), tmp_path / "heists.json"
    with call_together(gang) as crew:
        for _ in whole.run_wave(0, crew):
            pass
        whole.save(path)
        resumed = Campaign.load(path)
        assert resumed == whole
        assert resumed.scout.choose(90, 90) == whole.scout.choose(90, 90)
    assert Campaign.load(tmp_path / "none.json") == Campaign()


@pytest.mark.parametrize("name", ["L9", "N6", "N7"])
def test_a_hole_that_is_put_back_is_found_and_closed_again(gang: Gang, name: str) -> None:
    [hole] = [hole for hole in HOLES if hole.id == name]
    carpenter = Carpenter(gang.scene, gang.machine)
    assert all(is_published(name, code) for name, code in carpenter.deployed.items())
    note, findings = look_for(hole, gang, carpenter)
    assert findings == []
    assert any(finding in note for finding in hole.findings)
    assert gang.run(Order(1)).found == []


@pytest.mark.parametrize("hole", HOLES, ids=lambda hole: hole.id)
def test_every_hole_is_a_change_of_todays_source(hole: Hole) -> None:
    sources = read_sources()
    changed = change_sources(hole, sources)
    assert [name for name in sources if sources[name] != changed[name]] == [hole.file]
    with pytest.raises(HoleNotThereError, match=hole.id):
        change_sources(hole, changed)
