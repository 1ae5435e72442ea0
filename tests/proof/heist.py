"""Proof of what a thief owns afterwards: heists among real markets, and every hole that was once there found again.

`cage.holes` puts the holes of an old attack back, one at a time: all fifteen but the one that lay in the server, which
took any contract for a cage that answered like one. Each round ends when heists have found the hole, and its code must
not pass for the published one. `cage.heists` is heists against the cage as it is. The short form runs in the tests.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from golem_project.embedded.world.node import run_node
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.embedded.world.saved_world import find_anvil
from golem_project.embedded.world.solidity import load_contract
from permits_app.policy_cage.published_code import mask_immutables
from tests.proof.cage import hash_contract
from tests.proof.caged.engines import NodeEngine, Sent, install_permit2
from tests.proof.heists.campaign import Campaign
from tests.proof.heists.crew import Outcome, call_together
from tests.proof.heists.holes import HOLES, Carpenter, Hole
from tests.proof.heists.judging import Judge
from tests.proof.heists.plans import Planner
from tests.proof.heists.scene import Scene, build_scene
from tests.proof.heists.scouting import Place, find_places
from tests.proof.heists.steps import Finding, Heist, Order
from tests.proof.heists.watch import Seen, Watch
from tests.proof.registry import Progress, proof
from tools_app.simulation.revm_screening.screening import is_turbo_installed

if TYPE_CHECKING:
    from tests.proof.heists.machine import Machine

MOST_BATCHES_TO_FIND_A_HOLE = 100_000
ROUNDS_OF_HEISTS = 1_000
ROUNDS_PER_REPORT = 10


@dataclass(frozen=True, slots=True)
class Played:
    """A heist, what each of its steps did, and what was found."""

    heist: Heist
    sent: tuple[Sent, ...]
    found: list[tuple[Finding, str]]
    places: list[Place]


class Gang:
    """Plans heists at a scene, carries them out and judges them."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.planner, self.watch = Planner(scene), Watch(scene)
        self.machine = self._make_machine()

    def run(self, order: Order) -> Played:
        """One heist, on the machine in this process where there is one."""
        return self.run_together([order])[0]

    def run_together(self, orders: Sequence[Order]) -> list[Played]:
        """Heists of one trunk: they differ in the way of their last turn alone."""
        if self.machine is None:
            return [self.run_on_node(order) for order in orders]
        heists = [self.planner.make(order) for order in orders]
        return [self._judge(heist, done) for heist, done in zip(heists, self.machine.run(heists), strict=True)]

    def run_on_node(self, order: Order) -> Played:
        """The same on the node, whose rules are the newest."""
        heist = self.planner.make(order)
        return self._judge(heist, self.see(heist))

    def see(self, heist: Heist) -> list[tuple[Sent, Seen]]:
        """What each step of a heist does on the node, and what is seen after it."""
        return self.watch.read(heist, self.scene.engine.rpc.call("eth_simulateV1", *self.watch.ask(heist)))

    def search(self, hole: Hole, *, most_batches: int = MOST_BATCHES_TO_FIND_A_HOLE) -> tuple[int, str]:
        """How many batches it took to find what an open hole leads to, and the finding; empty when there was none.

        The node must find it too.
        """
        campaign = Campaign()
        with call_together(self) as crew:
            for wave in itertools.count():
                for outcome in campaign.run_wave(wave, crew):
                    if any(finding in hole.findings for finding, _ in outcome.found):
                        for finding, line in self.run_on_node(outcome.order).found:
                            if finding in hole.findings:
                                return campaign.tally.batches, line
                if campaign.tally.batches >= most_batches:
                    break
        return campaign.tally.batches, ""

    def _judge(self, heist: Heist, done: Sequence[tuple[Sent, Seen]]) -> Played:
        judge = Judge(self.scene, heist)
        found = judge.check(done)
        return Played(heist, tuple(sent for sent, _ in done), found, find_places(heist, done, judge.percent_lost))

    def _make_machine(self) -> Machine | None:
        if not is_turbo_installed():
            return None
        from tests.proof.heists.machine import Machine

        return Machine(self.scene, self.watch)


@contextmanager
def run_scene(*options: str) -> Iterator[Scene]:
    """On a node of its own, which knows nothing else; `options` are the node's."""
    with (
        tempfile.TemporaryDirectory(prefix="golem-heist-") as folder,
        run_node(find_anvil(), Path(folder), *options) as url,
    ):
        rpc = JsonRpc(url)
        try:
            engine = NodeEngine(rpc)
            install_permit2(engine)
            yield build_scene(engine)
        finally:
            rpc.close()


@proof(
    id="cage.holes",
    what="heists find every old hole of the cage that is put back",
    rounds=len(HOLES),
)
def prove_holes(progress: Progress) -> None:
    """A round for each hole. Begins again when the contract is another."""
    begin_again_for_another_cage(progress)
    with run_scene() as scene:
        gang = Gang(scene)
        carpenter = Carpenter(scene, gang.machine)
        for number in progress.remaining():
            note, findings = look_for(HOLES[number], gang, carpenter)
            progress.notes.append(note)
            progress.findings += findings


@proof(
    id="cage.heists",
    what="a thief among real markets leaves the owners what the rules say",
    rounds=ROUNDS_OF_HEISTS,
)
def prove_heists(progress: Progress) -> None:
    """Waves of about a thousand batches. Begins again when the contract is another."""
    path = progress.path.with_name("heists.json")
    if begin_again_for_another_cage(progress) or not progress.done:
        path.unlink(missing_ok=True)
    campaign = Campaign.load(path)
    subject = progress.notes[0]
    with run_scene() as scene:
        gang = Gang(scene)
        with call_together(gang) as crew:
            for number in progress.remaining():
                for outcome in campaign.run_wave(number, crew):
                    if outcome.found:
                        progress.findings += describe_findings(outcome, gang)
                campaign.save(path)
                progress.notes = [subject, campaign.describe()]
                if (number + 1) % ROUNDS_PER_REPORT == 0:
                    sys.stderr.write(f"{progress.id}: {campaign.describe()}; {len(progress.findings)} findings\n")
                    sys.stderr.flush()


def begin_again_for_another_cage(progress: Progress) -> bool:
    """Whether what was done so far was about another contract, and is forgotten."""
    subject = f"PolicyCage sha256:{hash_contract()}"
    if progress.notes[:1] == [subject]:
        return False
    progress.done, progress.findings, progress.notes = 0, [], [subject]
    return True


def describe_findings(outcome: Outcome, gang: Gang) -> list[str]:
    """What a worker found, and whether the node finds the same."""
    told = [line for _, line in outcome.found]
    again = [line for _, line in gang.run_on_node(outcome.order).found]
    return told if again == told else [*told, f"heist {outcome.order}: the node found {again or 'nothing'}"]


def look_for(hole: Hole, gang: Gang, carpenter: Carpenter) -> tuple[str, list[str]]:
    """A note, and a finding where a hole stays unfound or its code would pass for the published one."""
    codes = carpenter.open(hole)
    try:
        batches, line = gang.search(hole)
    finally:
        carpenter.close()
    passed = [name for name, code in codes.items() if is_published(name, code)]
    findings = [f"{hole.id}: {name} with the hole in it passes for the published one" for name in passed]
    if not line:
        findings.append(f"{hole.id}: not found within {batches:,} batches: {hole.what}")
    return f"{hole.id}: found after {batches:,} batches: {line}", findings


def is_published(name: str, code: bytes) -> bool:
    """Whether code on a chain is that of our contract, but for what its constructor wrote, as what owners are asked to
    sign for is compared.
    """
    contract = load_contract(name)
    return mask_immutables(code, contract.immutables) == bytes.fromhex(contract.deployed_bytecode[2:])
