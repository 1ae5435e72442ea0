"""Agents that call the product over HTTP: golems with a funded wallet and a token each, and what their calls met."""

from __future__ import annotations

import http.client
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.models import Archetype, Golem, ToolOverride, ToolProfile
from archetypes_app.models.api_key import Scope
from archetypes_app.models.golem import Maker
from archetypes_app.models.override import OverrideMode
from golem_project.demo.seed import CHAIN_ID, seed_demo
from golem_project.embedded.product_process_plans import WEB_HOST
from golem_project.embedded.world.fund import fund
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.custody.create_wallet import create_wallet
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import PolicyCage, SpendingLimits
from tools_app.core import clock
from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY

_FUNDS = {"USDC": 50_000 * 10**6, "WETH": 10 * 10**18}
_WEI = 10 * 10**18
_PATIENCE_SECONDS = 60.0
# The web server closes what was idle for five seconds; a request into a closed connection is never sent twice.
_KEPT_IDLE_MS = 2_000
_FIRST_AMOUNT = 5_000_000  # base units of USDC


@dataclass
class Met:
    """What the calls of some agents met: milliseconds of each that was answered as it should, and how many were not."""

    times: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def server_errors(self) -> int:
        """Answers of 5xx."""
        return sum(count for status, count in self.statuses.items() if status >= 500)

    def add(self, other: Met) -> None:
        """Count what another agent met too."""
        self.times += other.times
        self.statuses += other.statuses
        self.refused += other.refused

    def describe(self) -> str:
        """In words, for a reference."""
        others = ", ".join(f"{count} {code}" for code, count in sorted(self.refused.items())) or "none refused"
        return f"{self.server_errors} answers of 5xx, {others}"


class HttpAgent:
    """One client of one golem, on one kept-alive connection. Not for two threads."""

    def __init__(self, *, port: int, token: str, first_amount: int = _FIRST_AMOUNT) -> None:
        self._connection = http.client.HTTPConnection(WEB_HOST, port, timeout=_PATIENCE_SECONDS)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._amount = first_amount
        self._used_at_ms = clock.monotonic_ms()
        self.met = Met()

    def call(self, tool: str, body: dict[str, Any], **headers: str) -> tuple[int, dict[str, Any]]:
        """Status and answer of one call."""
        return self._ask("POST", tool, json.dumps(body), headers)

    def look(self, permit: dict[str, Any]) -> dict[str, Any]:
        """A permit as it is now."""
        _, answer = self._ask("GET", f"permits/{permit['permit_id']}", None, {})
        return answer

    def _ask(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
        if clock.monotonic_ms() - self._used_at_ms > _KEPT_IDLE_MS:
            self._connection.close()
        try:
            self._connection.request(method, f"/api/v1/pi/{path}", body, {**self._headers, **headers})
            response = self._connection.getresponse()
            raw = response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
        self._used_at_ms = clock.monotonic_ms()
        self.met.statuses[response.status] += 1
        return response.status, json.loads(raw)

    def preview(self, **changes: Any) -> dict[str, Any] | None:
        """The permit of a swap no other preview asked for; None, and counted, when it was refused."""
        self._amount += 1
        swap = {"action_type": "swap", "token_in": "USDC", "token_out": "WETH", "amount": str(self._amount)}
        status, answer = self.call("preview_action", {**swap, **changes})
        if status != http.client.OK:
            self.met.refused[str(answer.get("code", status))] += 1
            return None
        return answer

    def preview_and_time(self) -> None:
        """One preview, its time counted."""
        started = clock.monotonic_ms()
        if self.preview() is not None:
            self.met.times.append(clock.monotonic_ms() - started)

    def commit(self, permit: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to the commit of a permit whose outcome is verified; None, and counted, for any other."""
        status, answer = self.call("commit_action", {"permit_id": permit["permit_id"]})
        state = answer.get("status") if status == http.client.OK else answer.get("code", status)
        if state == "COMMITTED" and is_verified(answer["permit"]):
            return answer
        self.met.refused[f"{state} {answer.get('permit', {}).get('status_reason', '')}".strip()] += 1
        return None

    def commit_later(self, permit: dict[str, Any]) -> bool:
        """Start the commit of a permit and wait for nothing; False, and counted, when it was refused."""
        status, answer = self.call("commit_action", {"permit_id": permit["permit_id"]}, Prefer="respond-async")
        if status in (http.client.OK, http.client.ACCEPTED):
            return True
        self.met.refused[str(answer.get("code", status))] += 1
        return False

    def swap_and_time(self) -> None:
        """Preview, commit, verified: one swap; its time is counted when all of it succeeded."""
        started = clock.monotonic_ms()
        permit = self.preview()
        if permit is not None and self.commit(permit) is not None:
            self.met.times.append(clock.monotonic_ms() - started)


def open_agents(port: int, tokens: Iterable[str], *, first_amount: int = _FIRST_AMOUNT) -> list[HttpAgent]:
    """One client for each token, of the web server on `port`."""
    return [HttpAgent(port=port, token=token, first_amount=first_amount) for token in tokens]


def is_verified(permit: dict[str, Any]) -> bool:
    """Whether it was committed as expected; what is committed and not verified says why."""
    return permit.get("status") == "COMMITTED" and not permit.get("status_reason")


def make_golems(count: int, *, name: str, now: datetime) -> list[tuple[Golem, str]]:
    """New golems with a wallet, funds, an allowlist and limits out of the way, each with a token."""
    owner = seed_demo(now=now, with_token=False).golem.owner
    return [_make_golem(f"{name} {number}", owner, now) for number in range(count)]


def _make_golem(name: str, owner: User, now: datetime) -> tuple[Golem, str]:
    golem = Golem.objects.create(
        owner=owner,
        name=name,
        archetype=Archetype.objects.get(name="golem-instance"),
        home_chain_id=CHAIN_ID,
        permit_ttl_seconds=300,
        made_by=Maker.MEASUREMENT,
    )
    golem.profiles.set(ToolProfile.objects.filter(name__in=["trader", "lp", "learning"]))
    for tool in REGISTRY.by_category(Category.WALLET):
        ToolOverride.objects.create(golem=golem, tool_name=tool.name, mode=OverrideMode.INCLUDE)
    PolicyCage.objects.create(golem=golem, max_position_bps=10_000, max_concentration_bps=10_000)
    SpendingLimits.objects.create(
        golem=golem,
        writes_per_hour=1_000_000,
        per_day_micro_usd=10**15,
        per_session_micro_usd=10**15,
        trading_costs_per_day_micro_usd=10**15,
        trading_costs_per_pair_micro_usd=10**15,
        trading_costs_per_venue_micro_usd=10**15,
    )
    create_wallet(golem=golem, actor="system:bench", now=now)
    golem.refresh_from_db()
    fund(settings.GOLEM_RPC_URLS[CHAIN_ID][0], golem.address, _WEI, _FUNDS)
    allow_addresses(golem=golem, choices=suggest_allowlist(CHAIN_ID), actor="system:bench", now=now)
    key = create_api_key(golem=golem, scopes=Scope.values, label="bench", created_by=owner, now=now)
    return golem, key.token


def act_together(agents: Sequence[HttpAgent], act: Callable[[HttpAgent], None], *, seconds: float) -> tuple[Met, float]:
    """Each agent acts again and again on a thread of its own; what they met, and the seconds it took."""
    deadline = clock.Deadline.after_ms(seconds * 1000)
    failures: list[BaseException] = []

    def loop(agent: HttpAgent) -> None:
        try:
            while not deadline.is_over and not failures:
                act(agent)
        except BaseException as error:
            failures.append(error)

    started = clock.monotonic_ms()
    threads = [threading.Thread(target=loop, args=(agent,)) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took_seconds = (clock.monotonic_ms() - started) / 1000
    if failures:
        raise failures[0]
    met = Met()
    for agent in agents:
        met.add(agent.met)
    return met, took_seconds
