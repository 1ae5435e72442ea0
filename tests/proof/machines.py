"""Two machines under kills, partitions, upgrades and a broker that falls over: nothing lost, doubled or stuck.

Four agents act over both machines while one of them is killed whole, cut off, or upgraded service by service, and while
the broker falls over; then an owner halts a golem, and both machines refuse it. A round is a minute, and an
interrupted run goes on with the next one. GOLEM_PROOF_MACHINE_SECONDS makes rounds longer.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import httpx
from django.conf import settings
from django.db import connections
from django.db.models import Q

from archetypes_app.models import Golem, Heartbeat
from golem_project.settings.environment import read_integer
from permits_app.actions.halt import halt_golem
from permits_app.models import OutboundTransaction
from permits_app.models.transaction import PayloadPurpose
from tests.proof.loaded import checks
from tests.proof.loaded.machines import Broker, Machine, list_lacking, running_machines
from tests.proof.loaded.people import Client, make_golem, make_owner, make_token
from tests.proof.registry import Progress, proof
from tools_app.core import clock

_AGENTS: Final = 4
_MOST_HALT_SECONDS: Final = 1.0
_JOIN_SECONDS: Final = 120.0
_MAY_BLOCK: Final = checks.EXPECTED_BLOCKS | {"COMMIT_NOT_SIGNED", "CAP_EXPIRED"}
_FAULTS: Final = ("kill", "partition", "upgrade", "failover")


class Agent:
    """One agent that goes to the other machine when one does not answer; what a fault answers is no finding."""

    def __init__(self, golem: Golem, token: str, machines: list[Machine], seed: int) -> None:
        self.golem, self.machines = golem, machines
        self.client = Client(machines[seed % len(machines)].url, token)
        self.chance = random.Random(seed)
        self.turns = 0

    def run(self, is_over: threading.Event) -> None:
        """Until told; a machine that is away is left for another."""
        while not is_over.is_set():
            stop = threading.Event()
            ending = threading.Timer(self.chance.uniform(3, 6), stop.set)
            ending.start()
            self.client.url = self.chance.choice(self.machines).url
            self.client.run(stop)
            ending.cancel()
            self.turns += 1


@proof(
    id="machines",
    what="two machines killed, cut off, upgraded, and a broker that falls over: 0 lost, 0 doubled, halts within 1 s",
    rounds=60,
)
def prove_machines(progress: Progress) -> None:
    """Every round has one fault, by turns."""
    lacking = list_lacking()
    if lacking:
        progress.findings.append(f"not run: {', '.join(lacking)} is missing")
        return
    seconds = read_integer("GOLEM_PROOF_MACHINE_SECONDS", 60)
    logs = Path(settings.GOLEM_REPORT_DIR) / "machines"
    with running_machines(logs) as (machines, broker):
        for number in progress.remaining():
            told = play_round(progress, machines, broker, number=number, seconds=seconds)
            progress.findings += [f"round {number}: {line}; logs in {logs}" for line in told]


def play_round(
    progress: Progress, machines: list[Machine], broker: Broker, *, number: int, seconds: float
) -> list[str]:
    """One fault in the middle of trades, and a halt at the end; what went wrong."""
    owners = [make_owner() for _ in range(_AGENTS)]
    golems = [make_golem(owner, "Machine") for owner in owners]
    agents = [
        Agent(golem, make_token(golem, owner), machines, number * _AGENTS + place)
        for place, (golem, owner) in enumerate(zip(golems, owners, strict=True))
    ]
    ids = [golem.pk for golem in golems]
    before, is_over = checks.count_deadlocks(), threading.Event()
    threads = [threading.Thread(target=agent.run, args=(is_over,), daemon=True) for agent in agents]
    for thread in threads:
        thread.start()
    fault, machine = _FAULTS[number % len(_FAULTS)], machines[number // len(_FAULTS) % len(machines)]
    is_over.wait(seconds / 4)
    _cause(fault, machine, broker, pause=seconds / 4)
    is_over.wait(seconds / 4)
    findings = [f"{each} ended by itself" for each in machine.list_dead()]
    took = _halt(golems[0], owners[0], agents[0], machines)
    is_over.set()
    for thread in threads:
        thread.join(_JOIN_SECONDS)
    connections.close_all()
    Heartbeat.objects.filter(golem_id__in=ids).update(is_on=False)
    if not checks.wait_until_quiet(ids):
        findings.append("permits are under way a minute after the last call")
    deadlocks = checks.count_deadlocks() - before
    findings += [f"{deadlocks} deadlocks"] if deadlocks else []
    findings += [f"{count} permits blocked: {code}" for code, count in checks.find_blocks(ids, _MAY_BLOCK).items()]
    findings += checks.find_broken(ids)
    findings += [
        f"{name} gave a permit {each:.2f} s after a halt" for name, each in took.items() if each > _MOST_HALT_SECONDS
    ]
    findings += _find_sent_after_halt(golems[0])
    times = [each for agent in agents for each in agent.client.times_ms]
    if not times:
        findings.append("nothing was committed")
    refused = sum((agent.client.codes for agent in agents), Counter[str]())
    unanswered = Counter(line.rpartition(" ")[2] for agent in agents for line in agent.client.failures)
    progress.notes.append(
        f"round {number}, {fault} of {machine.name}: {len(times)} commits; refused {dict(refused)};"
        f" met {dict(unanswered)}; halts {', '.join(f'{each:.2f} s' for each in took.values())}; deadlocks {deadlocks}"
    )
    return findings


def _cause(fault: str, machine: Machine, broker: Broker, *, pause: float) -> None:
    causes: dict[str, Callable[[], Any]] = {
        "kill": machine.kill,
        "partition": lambda: machine.pull_cable(is_out=True),
        "upgrade": machine.follow_up,
        "failover": broker.fall_over,
    }
    causes[fault]()
    if fault in {"kill", "partition"}:
        time.sleep(pause)
    if fault == "kill":
        machine.start()
        machine.wait_until_ready()
    elif fault == "partition":
        machine.pull_cable(is_out=False)
        machine.wait_until_ready()


def _halt(golem: Golem, owner: Any, agent: Agent, machines: list[Machine]) -> dict[str, float]:
    """For each machine the seconds after an owner's halt at which it was last asked for a permit and gave one."""
    begun = time.monotonic()
    halt_golem(golem=golem, reason="proof", actor=f"owner:{owner.pk}", now=clock.now())
    took = {machine.name: float("inf") for machine in machines}
    asking = [
        threading.Thread(target=_ask_until_refused, args=(machine, agent, begun, took), daemon=True)
        for machine in machines
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(_JOIN_SECONDS)
    return took


def _ask_until_refused(machine: Machine, agent: Agent, begun: float, took: dict[str, float]) -> None:
    given, headers = 0.0, {"Authorization": f"Bearer {agent.client.token}"}
    while time.monotonic() - begun < 10 * _MOST_HALT_SECONDS:
        asked = time.monotonic() - begun
        try:
            answer = httpx.post(
                f"{machine.url}/api/v1/pi/preview_action", json=agent.client.next_body(), headers=headers, timeout=30
            )
        except httpx.HTTPError:
            continue
        if answer.status_code == httpx.codes.OK:
            given = asked
        elif "HALTED" in answer.text:
            took[machine.name] = given
            return


def _find_sent_after_halt(golem: Golem) -> list[str]:
    """What is no part of the halt and was signed, or left for a node, more than a second after it. What was being
    stored at that moment is dropped before it is sent, and is none.
    """
    golem.refresh_from_db()
    if golem.halted_at is None:
        return ["the halted golem is not halted"]
    latest = golem.halted_at + timedelta(seconds=_MOST_HALT_SECONDS)
    late = OutboundTransaction.objects.filter(
        Q(created_at__gt=latest) | Q(broadcast_at__gt=latest),
        permit__golem=golem,
        purpose=PayloadPurpose.CALL,
        permit__halt_epoch__isnull=True,
    )
    return [f"{each.tx_hash} was signed or sent more than a second after the halt" for each in late]
