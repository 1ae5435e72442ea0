"""The same hostile batches against the cage, Zodiac Roles v2 and MetaMask's enforcers: what each lets through.

Every batch meets the same Safe, holding something everywhere, and is undone. A row is one thing a thief tries.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from permits_app.policy_cage.contract import encode_execute
from tests.proof.caged.safe import USD
from tests.proof.heists.delegations import DelegationFence
from tests.proof.heists.judging import Judge
from tests.proof.heists.moves import Thief
from tests.proof.heists.plans import Planner
from tests.proof.heists.roles import RolesFence
from tests.proof.heists.scene import Scene
from tests.proof.heists.steps import Act, Heist, Order, Step
from tests.proof.heists.watch import Watch
from tools_app.toolkit.plan import Call

BATCHES_EACH = 20
DOLLARS_IN_POSITION = 4_000
ROWS = {
    "_swap": "swaps at an honest pool, of any size",
    "_swap_shamelessly": "swaps at a pool of the thief's, at twice the price",
    "_take": "pays a market that gives nothing back",
    "_lend": "lends, takes out, pays back",
    "_borrow_to_the_edge": "borrows to the edge of liquidation",
    "_withdraw_to_whom": "withdraws what is lent, to itself too",
    "_sell_what_is_lent": "sells what is lent",
    "_turn_what_is_lent": "turns what is lent into another asset",
    "_buy_with_what_is_left": "buys another asset with what it takes out of a position",
    "_grow_a_little": "puts a little more into a position",
    "_open_position": "opens V3 positions, for itself too",
    "_leave_position": "leaves V3 positions, to itself too, and takes what came",
    "_run_strange_code": "swaps over a token that sends what the owners signed",
    "_change_what_is_owned": "changes a contract that the Safe owns",
    "_use_vault": "uses a vault, for itself too",
    "_send_coins": "sends coins",
    "_open_narrow": "opens V3 positions of a few spacings",
    "_grow_what_there_is": "puts more into a V3 position that there may be",
    "_bundle": "does the same in a bundle of calls",
    "_give_identity": "gives the golem's identity away, or the right to it",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of so many batches: how many ran from beginning to end, and whole dollars the owners lost by the worst, whether
    it ran to its end or not.
    """

    ran: int
    most_lost: int


class Besides:
    """All three fences around one Safe."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.roles, self.delegations = RolesFence(scene), DelegationFence(scene)
        self.planner, self.watch = Planner(scene), Watch(scene)
        first = scene.first_token
        self.thief = Thief(scene, range(first, first + 1), (first, DOLLARS_IN_POSITION))

    def compare(self, move: str, *, batches: int = BATCHES_EACH) -> tuple[Outcome, ...]:
        """The cage's outcome, that of Roles, and that of MetaMask's enforcers."""
        outcomes: list[list[tuple[bool, int]]] = [[], [], []]
        for number in range(batches):
            rng = random.Random(f"{move} {number}")
            calls = getattr(self.thief, move)(rng)
            ways = self._through_cage(calls), self._through_roles(calls), self._through_delegations(calls)
            for which, steps in enumerate(ways):
                outcomes[which].append(self._run(steps))
        return tuple(Outcome(sum(ran for ran, _ in one), max(0, *(lost for _, lost in one))) for one in outcomes)

    def _through_cage(self, calls: Sequence[Call]) -> list[Step]:
        caged = self.scene.caged
        return [Step(Act.BATCH, caged.session.address, caged.cage, encode_execute(calls), 60, tuple(calls))]

    def _through_roles(self, calls: Sequence[Call]) -> list[Step]:
        key = self.scene.caged.session.address
        return [
            Step(Act.BATCH, key, self.roles.address, self.roles.execute(call), 0 if index else 60, (call,))
            for index, call in enumerate(calls)
        ]

    def _through_delegations(self, calls: Sequence[Call]) -> list[Step]:
        key, fence = self.scene.caged.session.address, self.delegations
        return [Step(Act.BATCH, key, fence.manager, fence.execute(calls), 60, tuple(calls))]

    def _run(self, steps: list[Step]) -> tuple[bool, int]:
        before = self.planner.hold_everything(self.thief, DOLLARS_IN_POSITION)
        first = self.scene.first_token
        heist = Heist(Order(0), (*before, *steps), tokens=range(first, first + 3))
        answer = self.scene.engine.rpc.call("eth_simulateV1", *self.watch.ask(heist))
        done = self.watch.read(heist, answer)
        assert all(sent.succeeded for sent, _ in done[: len(before)]), "the Safe did not come to hold everything"
        judge = Judge(self.scene, heist)
        lost = judge.wealth(done[len(before) - 1][1]) - judge.wealth(done[-1][1])
        return all(sent.succeeded for sent, _ in done[len(before) :]), lost // USD


HEAD = f"""\
| Of {BATCHES_EACH} batches in which the key | cage: ran | most lost, USD | Roles: ran | lost | enforcers: ran | lost |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def render_table(besides: Besides) -> str:
    """All rows as Markdown."""
    return HEAD + "".join(render_row(besides, move) for move in ROWS)


def render_row(besides: Besides, move: str) -> str:
    """One of them."""
    found = " | ".join(f"{one.ran} | {one.most_lost:,}" for one in besides.compare(move))
    return f"| {ROWS[move]} | {found} |\n"
