"""Zodiac Roles v2, given what the rules of a cage say: it refuses by itself what they refuse before a call."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from permits_app.policy_cage.contract import RuleKind, decode_cage_event
from permits_app.policy_cage.roles_manifest import RolesManifest, build_manifest
from permits_app.policy_cage.state import CageState
from permits_app.policy_cage.zodiac_roles_calls import (
    ALLOW_FUNCTION,
    FenceState,
    compare_fence,
    follow_fence,
    list_calls,
)
from tests.proof.caged.aave import BORROW, REPAY, SUPPLY, WITHDRAW
from tests.proof.caged.safe import APPROVE, TRADE, TRANSFER, USD, selector
from tests.proof.caged.uniswap import COLLECT, DECREASE, EXACT_IN, INCREASE, MINT_V3
from tests.proof.heist import run_scene
from tests.proof.heists.moves import Thief
from tests.proof.heists.roles import ANY_SIZE, EXECUTE, deploy_roles
from tests.proof.heists.scene import DEPOSIT, SET_ADDRESS, TAKE_OUT, Scene
from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call

ROLE = b"golem".ljust(32, b"\0")


class Fenced:
    """A Roles contract that the Safe owns, and a manifest made of its cage's rules."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.caged = scene, scene.caged
        self.key = scene.caged.session.address
        self.roles = deploy_roles(scene, owner=scene.caged.safe)
        self.state = self.follow_cage()
        self.manifest = build_manifest(self.state, self.signatures())

    def follow_cage(self) -> CageState:
        caged = self.caged
        state = CageState(cage=caged.cage, account=caged.safe, base_asset=caged.coins["USDC"].address)
        for log, at in caged.engine.history:
            event = decode_cage_event(log) if log.address == caged.cage else None
            if event is not None:
                state.apply_event(event, block_time=at)
        return state

    def signatures(self) -> dict[tuple[str, bytes], str]:
        scene = self.scene
        known = {
            scene.market.pool: (SUPPLY, BORROW, REPAY, WITHDRAW),
            scene.v3.npm: (MINT_V3, COLLECT, INCREASE, DECREASE),
            scene.vault: (DEPOSIT, TAKE_OUT),
            scene.router: (EXACT_IN,),
            scene.open_router: (EXACT_IN,),
            scene.owned: (SET_ADDRESS,),
        }
        return {(target, selector(text)): text for target, texts in known.items() for text in texts}

    def read(self) -> list[str]:
        return compare_fence(self.manifest, self.key, self.now())

    def now(self) -> FenceState:
        logs = [log for log, _ in self.caged.engine.history if log.address == self.roles]
        return follow_fence(logs, ROLE)

    def carry_out(self) -> int:
        calls = list_calls(self.roles, ROLE, self.key, self.manifest, self.now())
        for call in calls:
            assert self.caged.owner_call(call.to, call.data).succeeded, call.label
        return len(calls)

    def runs(self, *calls: Call) -> bool:
        """Whether Roles lets the key make these calls, and they come through."""
        engine = self.caged.engine
        snapshot = engine.snapshot()
        try:
            for call in calls:
                data = encode_call(EXECUTE, call.to, call.value, call.data, 0, ROLE, True)
                if not engine.send(self.caged.session, self.roles, data).succeeded:
                    return False
            return True
        finally:
            engine.revert(snapshot)


@pytest.fixture(scope="module")
def fenced() -> Iterator[Fenced]:
    with run_scene(ANY_SIZE) as scene:
        yield Fenced(scene)


def test_the_owners_calls_make_the_chain_say_what_the_manifest_says() -> None:
    # A scene of its own: on the others' the owners may have made their calls already.
    with run_scene(ANY_SIZE) as scene:
        fenced = Fenced(scene)
        assert len(fenced.read()) > len(fenced.manifest.permissions)
        assert fenced.carry_out() > 20
        assert fenced.read() == []
        # Sent again there is nothing to send.
        assert fenced.carry_out() == 0


def test_what_the_rules_of_the_cage_refuse_before_a_call_roles_refuses_by_itself(fenced: Fenced) -> None:
    fenced.carry_out()
    caged, scene = fenced.caged, fenced.scene
    thief, me = Thief(scene), caged.stranger.address
    usdc = caged.coins["USDC"].address
    assert fenced.runs(*thief.swap("USDC", 300 * USD, "WETH"))
    assert fenced.runs(*thief.supply("USDC", 300 * USD), thief.withdraw("USDC", 100 * USD))
    assert not fenced.runs(*thief.supply("USDC", 300 * USD), thief.withdraw("USDC", 100 * USD, me))
    assert not fenced.runs(caged.call(usdc, TRANSFER, me, USD))
    assert not fenced.runs(caged.call(usdc, APPROVE, me, USD))
    assert not fenced.runs(caged.call(scene.market.pool, SUPPLY, usdc, USD, me, 0))
    assert not fenced.runs(*thief.mint("WETH", 100, me))
    assert fenced.runs(*thief.mint("WETH", 100, caged.safe))
    assert not fenced.runs(caged.call(scene.vault, TAKE_OUT, USD, me, caged.safe))
    # The day's cap of an asset is an allowance.
    most = next(each.most for each in fenced.manifest.allowances if int.from_bytes(each.key, "big") == int(usdc, 16))
    assert fenced.runs(caged.approve("USDC", most, scene.router))
    assert not fenced.runs(caged.approve("USDC", most, scene.router), caged.approve("USDC", 1, scene.router))


def test_what_somebody_changes_in_roles_is_seen(fenced: Fenced) -> None:
    fenced.carry_out()
    assert fenced.read() == []
    caged = fenced.caged
    snapshot = caged.engine.snapshot()
    data = encode_call(ALLOW_FUNCTION, ROLE, fenced.scene.market.pool, selector(SUPPLY), 0)
    assert caged.owner_call(fenced.roles, data).succeeded
    extra = encode_call(ALLOW_FUNCTION, ROLE, fenced.scene.market.pool, selector(TRADE), 0)
    assert caged.owner_call(fenced.roles, extra).succeeded
    found = fenced.read()
    assert len(found) == 2
    assert any("under other conditions" in line for line in found)
    assert any("may be called, and should not" in line for line in found)
    assert fenced.carry_out() == 2
    assert fenced.read() == []
    caged.engine.revert(snapshot)


def test_what_roles_cannot_say_is_left_out_or_named(fenced: Fenced) -> None:
    made: RolesManifest = fenced.manifest
    assert [line for line in made.looser if "tokens of its path" in line]
    without = build_manifest(fenced.state, {})
    wrapped = [line for line in without.left_out if "does not open what it wraps" in line]
    assert len(wrapped) == 1, "the bundle of the position manager"
    assert len(without.left_out) - len(wrapped) == sum(
        value > 1 for (kind, _), value in fenced.state.rules.items() if kind == RuleKind.CALL
    )
    closed = {(one.target, one.selector) for one in without.permissions}
    assert (fenced.scene.market.pool, selector(SUPPLY)) not in closed
