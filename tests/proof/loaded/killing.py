"""The agents of the proof `killed`: two golems trade, and each process that is named is killed under their trades.

`main` runs in a process of its own, in the environment of a running supervisor. The last line it writes is JSON:
seconds by victim, what the agents met, and what went wrong.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import redis
from django.conf import settings
from django.db import Error, connections

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.process import identify, identity_from, read_record
from golem_project.embedded.product_process_plans import WEB_HOST, answers_ok
from golem_project.embedded.world.rpc import JsonRpc
from tests.bench.agents import HttpAgent, is_verified, make_golems
from tests.bench.processor_time import find_listener
from tests.proof.loaded import checks
from tools_app.core import clock

_UNDER_WAY, _MOST_SECONDS, _LOOK_SECONDS = 4, 60.0, 0.05
_CHAIN_ID = 31337
_UNFINISHED = {"COMMITTING", "UNKNOWN"}


@dataclass
class Victims:
    """Finds who a victim is now, and whether it answers."""

    run_dir: Path
    port: int

    def find_pid(self, name: str) -> int | None:
        """Its process; None while there is none."""
        if name in ("web", "beat"):
            record = read_record(self.run_dir / "children.json").get(name)
            identity = identity_from(record) if isinstance(record, dict) else None
            return identity.pid if identity is not None and identity.is_alive() else None
        url = {
            "postgres": settings.DATABASE_URL,
            "valkey": settings.REDIS_URL,
            "chain": settings.GOLEM_RPC_URLS[_CHAIN_ID][0],
        }[name]
        found = find_listener(url)
        return found.pid if found is not None else None

    def answers(self, name: str) -> bool:
        """Whether it does what it is there for."""
        if name == "web":
            return answers_ok(f"http://{WEB_HOST}:{self.port}/healthz")
        if name == "beat":
            return self.find_pid("beat") is not None
        if name == "postgres":
            with suppress(psycopg.Error), psycopg.connect(settings.DATABASE_URL, connect_timeout=2) as asking:
                asking.execute("SELECT 1")
                return True
            return False
        if name == "valkey":
            with suppress(redis.RedisError):
                return bool(redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2).ping())
            return False
        node = JsonRpc(settings.GOLEM_RPC_URLS[_CHAIN_ID][0])
        try:
            return int(node.call("eth_blockNumber"), 16) >= 0
        except (OSError, EmbeddedError, ValueError):
            return False
        finally:
            node.close()


@dataclass
class Trader:
    """One golem's agent, on whom servers die: what does not answer is asked again."""

    port: int
    token: str
    refused: Counter[str] = field(default_factory=Counter)
    untold: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._agent = HttpAgent(port=self.port, token=self.token)

    def begin(self) -> None:
        """Commits under way, of which nothing is awaited."""
        for _ in range(_UNDER_WAY):
            self._try(lambda: self._begin_one() is not None)

    def commit_again(self, deadline: clock.Deadline) -> bool:
        """Until a new commit is verified."""
        while not deadline.is_over:
            if self._try(lambda: self._commit_one(deadline)):
                return True
            threading.Event().wait(_LOOK_SECONDS)
        return False

    def _begin_one(self) -> dict[str, object] | None:
        self._agent._amount += 1
        swap = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": str(self._agent._amount)}
        status, permit = self._agent.call("preview_action", swap)
        if status == http.client.OK:
            status, answer = self._agent.call(
                "commit_action", {"permit_id": permit["permit_id"]}, Prefer="respond-async"
            )
            if status in (http.client.OK, http.client.ACCEPTED):
                return permit
        else:
            answer = permit
        self._note(status, answer)
        return None

    def _commit_one(self, deadline: clock.Deadline) -> bool:
        permit = self._begin_one()
        if permit is None:
            return False
        while not deadline.is_over:
            seen = self._agent.look(permit)
            if seen.get("status") not in _UNFINISHED and seen.get("status") is not None:
                return is_verified(seen)
            threading.Event().wait(_LOOK_SECONDS)
        return False

    def _note(self, status: int, answer: dict[str, object]) -> None:
        code = str(answer.get("code", status))
        self.refused[code] += 1
        if not answer.get("recovery"):
            self.untold.append(f"{status} {code} says no way on")

    def _try(self, act: Callable[[], bool]) -> bool:
        try:
            return act()
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.refused[type(error).__name__] += 1
            return False


def kill(victims: Victims, name: str, traders: Sequence[Trader]) -> list[float]:
    """Kill it with commits under way; seconds from its answering again until each trader's commit is verified."""
    trading = [threading.Thread(target=trader.begin, daemon=True) for trader in traders]
    for thread in trading:
        thread.start()
    threading.Event().wait(0.3)
    pid = victims.find_pid(name)
    assert pid is not None, f"{name} does not run"
    before = identify(pid)
    os.kill(pid, signal.SIGKILL)
    deadline = clock.Deadline.after_ms(_MOST_SECONDS * 1000)
    while identify(pid) == before or not victims.answers(name):
        assert not deadline.is_over, f"{name} does not come back"
        threading.Event().wait(_LOOK_SECONDS)
    back_ms = clock.monotonic_ms()
    took: dict[int, float] = {}

    def again(number: int, trader: Trader) -> None:
        done = trader.commit_again(clock.Deadline.after_ms(_MOST_SECONDS * 1000))
        took[number] = (clock.monotonic_ms() - back_ms) / 1000 if done else _MOST_SECONDS

    for thread in trading:
        thread.join(_MOST_SECONDS)
    waiting = [threading.Thread(target=again, args=each, daemon=True) for each in enumerate(traders)]
    for thread in waiting:
        thread.start()
    for thread in waiting:
        thread.join(2 * _MOST_SECONDS)
    return [round(took.get(number, _MOST_SECONDS), 2) for number in range(len(traders))]


def main(run_dir: Path, names: Sequence[str]) -> None:
    """Play it, and tell. `run_dir` is the supervisor's."""
    port = urlsplit(os.environ["GOLEM_WEB_URL"]).port
    assert port is not None
    made = make_golems(2, name="Killed under", now=clock.now())
    traders = [Trader(port, token) for _, token in made]
    findings: list[str] = []
    seconds: dict[str, list[float]] = {}
    for trader in traders:
        if not trader.commit_again(clock.Deadline.after_ms(_MOST_SECONDS * 1000)):
            findings.append("no commit before anything was killed")
    victims = Victims(run_dir, port)
    for name in names:
        try:
            seconds[name] = kill(victims, name, traders)
        except AssertionError as error:
            findings.append(str(error))
            continue
        if max(seconds[name]) >= _MOST_SECONDS:
            findings.append(f"a golem commits nothing a minute after {name} is back")
    with suppress(Error):
        connections.close_all()
    ids = [golem.pk for golem, _ in made]
    if not checks.wait_until_quiet(ids):
        findings.append("permits are under way a minute after the last kill")
    # At most the one trade of each golem that was under way when the chain died.
    findings += [*checks.find_broken(ids), *checks.find_unverified(ids, most_without_past=len(ids))]
    findings += [line for trader in traders for line in dict.fromkeys(trader.untold)]
    met = sum((trader.refused for trader in traders), Counter[str]())
    told = {"seconds": seconds, "met": f"met {dict(sorted(met.items()))}", "findings": findings}
    sys.stdout.write(json.dumps(told) + "\n")
