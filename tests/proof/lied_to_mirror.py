"""A mirror that a node lies to: a golem whose cage is a contract, which changes while the lie is told."""

from __future__ import annotations

from uuid import uuid4

from django.contrib.auth.models import User

from archetypes_app.models import Archetype, Golem
from golem_project.embedded.world.rpc import JsonRpc
from permits_app.actions.sync_policy_cage import register_cage, sync_policy_cage
from permits_app.models import CageMirror
from permits_app.policy_cage.state import CageState
from tests.proof.caged.engines import NodeEngine
from tests.proof.caged.safe import build_caged_safe, set_session
from tests.proof.lying_node import Lie, LyingNode
from tests.proof.walks import require
from tools_app.core import clock
from tools_app.core.errors import GolemError

_ROUNDS_AFTER = 3


class Mirrored:
    """One caged Safe on the real chain, and the mirror of its cage behind the lying node."""

    def __init__(self, node: LyingNode, real: JsonRpc, *, owner: User, chain_id: int) -> None:
        self._node, self._real = node, real
        first = int(real.call("eth_blockNumber"), 16)
        self._caged = build_caged_safe(NodeEngine(real))
        golem = Golem.objects.create(
            name=f"mirrored {uuid4().hex[:12]}",
            owner=owner,
            home_chain_id=chain_id,
            archetype=Archetype.objects.get(name="golem-instance"),
        )
        self._mirror_id = register_cage(
            golem_id=golem.pk, chain_id=chain_id, contract=self._caged.cage, deployed_block=first, now=clock.now()
        ).pk
        self._operations = 1_000

    def play(self, lie: Lie) -> None:
        """The owners name a session while the lie is told. Raises AssertionError where the mirror ends up wrong, or
        says so without a problem that is told.
        """
        engine = self._caged.engine
        # Others mined blocks meanwhile, and their chain may be ahead of the engine's clock.
        head = self._real.call("eth_getBlockByNumber", "latest", False)
        engine.advance(max(0, int(head["timestamp"], 16) + 1 - engine.now()))
        self._operations += 1
        with self._node.lying(lie):
            set_session(self._caged, operations=self._operations)
            changed_at = int(self._real.call("eth_blockNumber"), 16)
            for _ in range(2):
                self._check(self._sync(), changed_at)
        for _ in range(_ROUNDS_AFTER):
            mirror = self._sync()
            if not mirror.problem:
                break
        require(not mirror.problem, f"the mirror still says {mirror.problem}")
        require(mirror.block_number >= changed_at, "the mirror does not follow any more")
        self._check(mirror, changed_at)

    def _sync(self) -> CageMirror:
        try:
            return sync_policy_cage(mirror_id=self._mirror_id, now=clock.now())
        except GolemError:
            return CageMirror.objects.get(pk=self._mirror_id)

    def _check(self, mirror: CageMirror, changed_at: int) -> None:
        if mirror.problem or mirror.block_number < changed_at:
            return
        told = CageState.from_dict(mirror.state).session
        require(told.operations_left == self._operations, f"the mirror shows {told.operations_left} operations")
        require(told.key == self._caged.session.address, "the mirror shows another session key")
