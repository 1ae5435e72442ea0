"""Who loads the product: golems with wallets and keys, clients that preview and commit over HTTP, and their owners.

A client does what an agent does, again and again; an owner halts, resumes, sets limits, asks for changes, approves and
rejects them, meanwhile. Heartbeats tick by themselves. Amounts differ from call to call: no two actions are equal.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice

from archetypes_app.actions.create_api_key import create_api_key
from archetypes_app.models import Archetype, Golem, Heartbeat, ToolProfile
from archetypes_app.models.api_key import Scope
from archetypes_app.models.golem import Maker
from golem_project.embedded.world.fund import fund
from golem_project.heartbeat.owner_controls import save_heartbeat
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.halt import halt_golem
from permits_app.actions.request_change import request_operation
from permits_app.actions.set_limits import set_limits
from permits_app.approval_errors import ChangeStale
from permits_app.custody.create_wallet import create_wallet
from permits_app.doors.decide_change import decide_change
from permits_app.halts.resume import resume_golem
from permits_app.limits.suggested_allowlist import suggest_allowlist
from permits_app.models import PolicyCage, SpendingLimits
from permits_app.models.approval import Verdict
from tools_app.core import clock
from tools_app.core.errors import GolemError

CHAIN_ID = 31337
_FUNDS = {"USDC": 20_000 * 10**6, "WETH": 2 * 10**18}
_WEI = 10 * 10**18
_OUT_OF_THE_WAY = {
    "writes_per_hour": 1_000_000,
    "per_transaction_micro_usd": 10**12,
    "per_tick_micro_usd": 10**15,
    "per_day_micro_usd": 10**15,
    "per_session_micro_usd": 10**15,
    "trading_costs_per_day_micro_usd": 10**15,
    "trading_costs_per_pair_micro_usd": 10**15,
    "trading_costs_per_venue_micro_usd": 10**15,
}
_TICK_SECONDS = 30
_OWNERS_DO_THIS = {"GOLEM_HALTED", "POLICY_CHANGED", "PERMIT_NOT_COMMITTABLE", "ACCOUNT_BLOCKED"}
"""What halts, limits and many clients of one account lead to; any other refusal is a fault of the product."""
_TIMEOUT_SECONDS = 60.0
_ITS_TIME_WAS_OVER = {"COMMIT_NOT_SIGNED", "CAP_EXPIRED"}
"""On a machine that is busy with something else: nothing was signed, and the way on is a preview of the same wish."""
_MOST_PATIENCE_SECONDS = 60.0
_MOST_PREVIEWS = 4
_BUSY = 429
_UNDER_WAY = {"COMMITTING", "UNKNOWN"}
_LOOK_SECONDS = 0.5
_AMOUNTS = itertools.count(1_000_000)


def make_golem(owner: User, name: str, *, wei: int = _WEI, funds: Mapping[str, int] = _FUNDS) -> Golem:
    """A golem with funds on the local chain, whose limits are out of the way and whose heart beats."""
    now = clock.now()
    golem = Golem.objects.create(
        name=f"{name} {uuid4().hex[:8]}",
        owner=owner,
        archetype=Archetype.objects.get(name="golem-instance"),
        home_chain_id=CHAIN_ID,
        made_by=Maker.MEASUREMENT,
    )
    golem.profiles.set(ToolProfile.objects.filter(name__in=["trader", "lp", "learning"]))
    PolicyCage.objects.create(golem=golem, max_position_bps=10_000, max_concentration_bps=10_000)
    SpendingLimits.objects.create(golem=golem, **_OUT_OF_THE_WAY)
    create_wallet(golem=golem, actor="system:proof", now=now)
    golem.refresh_from_db()
    fund(settings.GOLEM_RPC_URLS[CHAIN_ID][0], golem.address, wei, funds)
    allow_addresses(golem=golem, choices=suggest_allowlist(CHAIN_ID), actor="system:proof", now=now)
    heartbeat = Heartbeat(golem=golem, is_on=True, base_interval_seconds=_TICK_SECONDS)
    save_heartbeat(heartbeat=heartbeat, was_on=False, now=now)
    return golem


def make_owner() -> User:
    """An owner of their own golem, with a second factor."""
    owner = User.objects.create(username=f"load-{uuid4().hex[:8]}", is_staff=True)
    TOTPDevice.objects.create(user=owner, name="load", confirmed=True)
    return owner


def next_code(owner: User) -> str:
    """What the owner's authenticator shows; the device forgets that it saw one in this half minute before."""
    TOTPDevice.objects.filter(user=owner).update(last_t=-1, drift=0, throttling_failure_count=0)
    device = TOTPDevice.objects.get(user=owner, confirmed=True)
    code = TOTP(device.bin_key, device.step, device.t0, device.digits)
    code.time = clock.now().timestamp()
    return f"{code.token():06d}"


def make_token(golem: Golem, owner: User) -> str:
    """A fresh key of the golem with every scope."""
    now = clock.now()
    return create_api_key(golem=golem, scopes=Scope.values, label="load", created_by=owner, now=now).token


@dataclass
class Client:
    """One agent's loop against `url`, until it is told to stop; counts what it was answered."""

    url: str
    token: str = field(repr=False)
    statuses: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    times_ms: list[float] = field(default_factory=list)
    accepted: frozenset[str] = frozenset()
    """Refusals besides those that owners lead to."""
    refusal: str = ""
    """The code of the last one."""
    previewed_again: set[str] = field(default_factory=set)
    """Permits whose time was over before they were signed, and whose wish was asked for once more."""

    def next_body(self) -> dict[str, Any]:
        """What is previewed next: a swap."""
        return {
            "action_type": "swap",
            "venue": "uniswap",
            "token_in": "USDC",
            "token_out": "WETH",
            "amount": str(next(_AMOUNTS)),
            "slippage_bps": 100,
        }

    def note(self, permit: Mapping[str, Any]) -> None:
        """How a commit ended."""
        self.statuses[permit["status"]] += 1

    def run(self, is_over: threading.Event) -> None:
        """Preview and commit, again and again."""
        headers = {"Authorization": f"Bearer {self.token}"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=_TIMEOUT_SECONDS) as client:
            while not is_over.is_set():
                started = time.perf_counter()
                if not self._act(client):
                    # Refused, as by a halt: an agent waits a moment.
                    is_over.wait(0.2)
                    continue
                self.times_ms.append((time.perf_counter() - started) * 1000)

    def _act(self, client: httpx.Client) -> bool:
        """One wish; where its permit ended because its time was over, previewed again as the refusal says."""
        body = self.next_body()
        for _ in range(_MOST_PREVIEWS):
            permit = self._ask(client, "preview_action", body)
            if permit is None:
                return False
            permit_id = str(permit["permit_id"])
            answer = self._ask(client, "commit_action", {"permit_id": permit_id})
            status = ""
            if answer is not None:
                ended = self._follow(client, answer["permit"])
                self.note(ended)
                status, self.refusal = ended["status"], str((ended.get("problem") or {}).get("code", ""))
            if self.refusal not in _ITS_TIME_WAS_OVER:
                return bool(status == "COMMITTED")
            self.previewed_again.add(permit_id)
        self.failures.append(f"commit_action: {self.refusal} for {_MOST_PREVIEWS} permits in a row of one wish")
        return False

    def _follow(self, client: httpx.Client, permit: Mapping[str, Any]) -> Mapping[str, Any]:
        """The permit once it is not under way any more, or as it is after a minute."""
        patience = clock.Deadline.after_ms(_MOST_PATIENCE_SECONDS * 1000)
        while permit["status"] in _UNDER_WAY and not patience.is_over:
            time.sleep(_LOOK_SECONDS)
            try:
                response = client.get(f"/api/v1/pi/permits/{permit['permit_id']}")
            except httpx.HTTPError:
                continue
            permit = response.json() if response.status_code == httpx.codes.OK else permit
        return permit

    def _ask(self, client: httpx.Client, tool: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """The answer; None for a refusal. Who is told to wait waits for as long as it says, and asks the same again."""
        patience, self.refusal = clock.Deadline.after_ms(_MOST_PATIENCE_SECONDS * 1000), ""
        while True:
            try:
                response = client.post(f"/api/v1/pi/{tool}", json=body)
            except httpx.HTTPError as error:
                self.failures.append(f"{tool}: {type(error).__name__}")
                return None
            if response.status_code in (200, 202):
                answer: dict[str, Any] = response.json()
                return answer
            problem = response.json() if "json" in response.headers.get("content-type", "") else {}
            self.refusal = str(problem.get("code", ""))
            self.codes[f"{response.status_code} {self.refusal}"] += 1
            is_told_to_wait = response.status_code == _BUSY and problem.get("recovery") == "WAIT"
            if not is_told_to_wait or patience.is_over:
                break
            time.sleep(float(response.headers.get("retry-after", 1)))
        is_over = problem.get("recovery") == "PREVIEW_AGAIN" and self.refusal in _ITS_TIME_WAS_OVER
        is_fault = response.status_code >= 500 or self.refusal not in _OWNERS_DO_THIS | self.accepted
        if is_fault and not is_over:
            self.failures.append(f"{tool}: {response.status_code} {self.refusal} {problem.get('detail', '')}")
        return None


@dataclass
class Owner:
    """Changes one golem while its agents act: halts, limits, requests that are rejected."""

    golem: Golem
    owner: User
    seed: int
    done: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    _verdicts: tuple[Verdict, Verdict] = (Verdict.APPROVE, Verdict.REJECT)

    def run(self, is_over: threading.Event) -> None:
        """One change after the other, at random, with pauses in which agents come to act."""
        chance = random.Random(self.seed)
        try:
            while not is_over.wait(chance.uniform(1.0, 3.0)):
                change = chance.choice((self._halt, self._limit, self._limit, self._ask_and_decide))
                try:
                    change(is_over)
                    self.done[change.__name__.strip("_")] += 1
                except ChangeStale:
                    # What was approved before is carried out by a worker, here between the asking and the deciding.
                    self.done["stale"] += 1
                except GolemError as error:
                    self.failures.append(f"{change.__name__.strip('_')}: {error.code} {error.detail}")
        except Exception as error:
            self.failures.append(f"{type(error).__name__}: {error}")
        finally:
            connection.close()

    def _halt(self, is_over: threading.Event) -> None:
        halt_golem(golem=self.golem, reason="load", actor=self._actor, now=clock.now())
        is_over.wait(0.3)
        resume_golem(golem=self.golem, reason="load", actor=self._actor, now=clock.now())

    def _limit(self, is_over: threading.Event) -> None:
        limits = {"per_day_micro_usd": 10**15 - next(_AMOUNTS)}
        set_limits(golem=self.golem, limits=limits, choices=(), actor=self._actor, now=clock.now())

    def _ask_and_decide(self, is_over: threading.Event) -> None:
        request = request_operation(
            golem=self.golem,
            name="strategy",
            owner=self.owner,
            reason="load",
            now=clock.now(),
            arguments={"section": "Load", "text": f"Line {next(_AMOUNTS)} of a proof"},
        )
        verdict = self._verdicts[sum(self.done.values()) % 2]
        decide_change(
            request_id=request.pk,
            owner=self.owner,
            verdict=verdict,
            reason="load",
            code=next_code(self.owner),
            seen_digest=request.digest,
            now=clock.now(),
        )

    @property
    def _actor(self) -> str:
        return f"owner:{self.owner.pk}"
