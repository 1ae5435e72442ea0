"""Each process's clock goes forward or back by two hours and by a day, and returns, while agents trade.

libfaketime stands before the C library of each process and reads how far its wall clock is off from a file; the clock
that never jumps is left alone. A minute after a clock returned everything goes on: work that is scheduled, every queue,
a swap from preview to outcome. No permit lives longer than it may and nothing says that it ran in the future. In the
last round beat is frozen: readiness says so within a minute, and takes it back when beat goes on.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import connections
from django_celery_beat.models import PeriodicTask

from archetypes_app.models import Golem
from golem_project.embedded.product_process_plans import plan_product
from permits_app.models import ActionPermit
from tests.bench.agents import HttpAgent
from tests.proof.loaded.people import make_golem, make_owner, make_token
from tests.proof.loaded.servers import Product, running_product
from tests.proof.registry import Progress, proof
from tools_app.core import clock

_PACKAGE: Final = "libfaketime==3.0.1"
_ALL: Final = "all of them"
_JUMPS: Final = ("+7200s", "-7200s", "+86400s", "-86400s")
_AWAY_SECONDS: Final = 8.0
_RETURN_SECONDS: Final = 60.0
_NAMES: Final = (*(plan.name for plan in plan_product(1)), _ALL)
_ROUNDS: Final = [(name, jump) for jump in _JUMPS for name in _NAMES]


@proof(
    id="clock",
    what="each process's clock is moved by two hours and by a day and returns, during trades; then beat is frozen",
    rounds=len(_ROUNDS) + 1,
)
def prove_clock(progress: Progress) -> None:
    """The remaining rounds on one running product."""
    logs = Path(settings.GOLEM_REPORT_DIR) / "clock"
    logs.mkdir(parents=True, exist_ok=True)
    clocks = Clocks(logs)
    with running_product(logs, variables_of=clocks.variables_of) as product:
        owner = make_owner()
        golem = make_golem(owner, "Clock")
        agent = HttpAgent(port=int(product.url.rpartition(":")[2]), token=make_token(golem, owner))
        begun = _wait(lambda: _find_standing(product, agent, golem), seconds=120)
        if begun:
            progress.findings.append(f"before anything was moved: {begun}")
            return
        for number in progress.remaining():
            found = _freeze_beat(product) if number == len(_ROUNDS) else _move(product, agent, golem, clocks, number)
            progress.findings += found
            progress.notes.append(f"round {number}: {'; '.join(found) or 'goes on'}")


class Clocks:
    """How far the wall clock of each process is off, each in a file that libfaketime reads every second."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        target = folder / "libfaketime"
        if not target.exists():
            argv = [sys.executable, "-m", "uv", "pip", "install", "-q", "--target", str(target), _PACKAGE]
            subprocess.run(argv, check=True)
        self._library = next(target.rglob("libfaketime.so.1"))
        for name in _NAMES:
            self.set(name, "+0s")

    def variables_of(self, name: str) -> Mapping[str, str]:
        """The environment of a process whose clock can be moved."""
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._path(name)),
            "FAKETIME_CACHE_DURATION": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }

    def set(self, name: str, offset: str) -> None:
        """Put the clock of one process, or of all, off by so much."""
        for each in _NAMES if name == _ALL else (name,):
            new = self._path(each).with_suffix(".new")
            new.write_text(f"{offset}\n", encoding="ascii")
            # At once: half a line would be another time.
            new.rename(self._path(each))

    def _path(self, name: str) -> Path:
        return self._folder / f"{name.replace(' ', '_')}.offset"


def _move(product: Product, agent: HttpAgent, golem: Golem, clocks: Clocks, number: int) -> list[str]:
    name, jump = _ROUNDS[number]
    is_over = threading.Event()
    trading = threading.Thread(target=_trade, args=(agent, is_over), daemon=True)
    trading.start()
    clocks.set(name, jump)
    is_over.wait(_AWAY_SECONDS)
    clocks.set(name, "+0s")
    is_over.set()
    trading.join(_RETURN_SECONDS)
    standing = _wait(lambda: _find_standing(product, agent, golem), seconds=_RETURN_SECONDS)
    connections.close_all()
    return [f"{name} {jump}: {line}" for line in (standing, *_find_future(golem), *_find_dead(product)) if line]


def _trade(agent: HttpAgent, is_over: threading.Event) -> None:
    """Swaps while a clock is wrong: most are refused, and what is refused is no finding."""
    while not is_over.wait(0.2):
        try:
            agent.swap_and_time()
        except (OSError, ValueError, KeyError):
            continue


def _find_standing(product: Product, agent: HttpAgent, golem: Golem) -> str:
    """What does not go on, in words; empty where all does."""
    ready = _ask(product)
    if not ready.get("ready"):
        return f"not ready: {[each for each in ready.get('checks', []) if not each['ok']]}"
    if ready["stuck"]:
        return f"stuck: {[(each['what'], each['reason']) for each in ready['stuck']]}"
    done = len(agent.met.times)
    try:
        agent.swap_and_time()
    except (OSError, ValueError) as error:
        return f"a swap failed: {type(error).__name__}"
    if len(agent.met.times) == done:
        return f"a swap was refused: {dict(agent.met.refused)}"
    return ""


def _find_future(golem: Golem) -> list[str]:
    now = clock.now()
    tasks = PeriodicTask.objects.filter(last_run_at__gt=now + timedelta(seconds=5)).count()
    longest = now + timedelta(seconds=golem.permit_ttl_seconds + 5)
    permits = ActionPermit.objects.filter(golem=golem, status="CREATED", expires_at__gt=longest).count()
    leases = ActionPermit.objects.filter(lease_expires_at__gt=now + timedelta(minutes=15)).count()
    told = {"tasks ran in the future": tasks, "permits outlive their seconds": permits, "leases outlive all": leases}
    return [f"{count} {what}" for what, count in told.items() if count]


def _find_dead(product: Product) -> list[str]:
    return [f"{name} ended by itself" for name in product.list_dead()]


def _freeze_beat(product: Product) -> list[str]:
    beat = product.processes["beat"]
    os.kill(beat.pid, signal.SIGSTOP)
    try:
        unseen = _wait(lambda: "" if _names_beat(product) else "readiness does not name beat", seconds=_RETURN_SECONDS)
    finally:
        os.kill(beat.pid, signal.SIGCONT)
    back = _wait(lambda: "readiness still names beat" if _names_beat(product) else "", seconds=_RETURN_SECONDS)
    return [f"beat frozen: {line}" for line in (unseen, back) if line]


def _names_beat(product: Product) -> bool:
    ready = _ask(product)
    return bool(ready.get("degraded")) and any(each["what"] == "beat" for each in ready.get("stuck", []))


def _wait(look: Callable[[], str], *, seconds: float) -> str:
    """Look every second until there is nothing to say, or the seconds are over: what was said last."""
    deadline, pause = clock.Deadline.after_ms(seconds * 1000), threading.Event()
    while (said := look()) and not deadline.is_over:
        pause.wait(1)
    return said


def _ask(product: Product) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(f"{product.url}/readyz", timeout=20) as answer:
            found: dict[str, Any] = json.load(answer)
    except urllib.error.HTTPError as error:
        found = json.load(error)
    except OSError:
        return {}
    return found
