"""One caged Safe per engine; what a test does to it is undone."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.contracts.role_keys import Roles, set_up_roles
from tests.evm.world import World
from tests.proof.caged.engines import Engine, InProcessEngine, NodeEngine
from tests.proof.caged.safe import CagedSafe, build_caged_safe


@pytest.fixture(scope="module", params=["in process", "anvil"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each of the two machines; the node is as before when the module is over."""
    if request.param == "in process":
        yield InProcessEngine()
        return
    world: World = request.getfixturevalue("world")
    snapshot = world.rpc.call("evm_snapshot")
    world.rpc.call("evm_setTime", int(time.time()))
    yield NodeEngine(world.rpc)
    assert world.rpc.call("evm_revert", snapshot)
    world.rpc.call("evm_setTime", int(time.time()))


@pytest.fixture(scope="module")
def built(engine: Engine) -> CagedSafe:
    """The Safe as every test finds it."""
    return build_caged_safe(engine)


@pytest.fixture
def caged(built: CagedSafe) -> Iterator[CagedSafe]:
    """The Safe, with what the test does undone after it."""
    snapshot = built.engine.snapshot()
    yield built
    built.engine.revert(snapshot)


@pytest.fixture
def roles(caged: CagedSafe) -> Roles:
    """The Safe with two more keys, undone with it."""
    return set_up_roles(caged)
