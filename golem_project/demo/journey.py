"""The main job over REST, as an agent does it: from the manifest to the episode in memory.

Every step is timed and checked against the chain itself; nothing here reaches into the product's own code.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import httpx

from golem_project.demo.answers import (
    DemoChecked,
    DemoChosen,
    DemoCommitAnswer,
    DemoCommitted,
    DemoEpisode,
    DemoEpisodes,
    DemoFoundEpisode,
    DemoFoundPermit,
    DemoLatency,
    DemoManifest,
    DemoNewPermit,
    DemoNodeAnswer,
    DemoNothing,
    DemoPreviewed,
    DemoProblem,
    DemoQuote,
    DemoQuoteAnswer,
    DemoReadBack,
    DemoReceipt,
    DemoRefused,
    DemoStep,
    DemoToolNames,
    DemoWalletAnswer,
)
from tools_app.chain.blocks import parse_log
from tools_app.core.stored_json import read_stored
from tools_app.standards.token_logs import read_transfers

# Of the USDC that the golem holds: no run asks for what an earlier one asked for, and none finds the wallet empty.
SHARE_SWAPPED = 40
GAS_TOLERANCE_PERCENT = 5
WARM_PREVIEWS = 20
_EPISODE_WAIT_SECONDS = 30

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
Shown = TypeVar("Shown", bound="DataclassInstance")


class StepFailed(Exception):
    """A step of the journey did not go as promised; the text says which figure differs."""


@dataclass
class Journey:
    """Plays the main job against `base_url` with `token` and keeps what happened, step by step."""

    base_url: str
    token: str = field(repr=False)
    rpc_url: str = field(repr=False)
    on_step: Callable[[DemoStep], None]
    steps: list[DemoStep] = field(default_factory=list)
    amount: int = 0
    """Base units of USDC that this run swaps; known once the wallet was read."""

    def play(self, *, measures: bool) -> bool:
        """Run every step; returns whether all were ok. A failed step ends it. `measures` adds warm previews."""
        with httpx.Client(
            base_url=self.base_url, headers={"Authorization": f"Bearer {self.token}"}, timeout=60
        ) as client:
            try:
                self._step("manifest", lambda: self._read_manifest(client))
                self._step("query_state: wallet_status", lambda: self._choose_amount(client))
                self._step("query_state: quote", lambda: self._quote(client))
                permit = self._step("preview_action: swap", lambda: self._preview(client))
                self._step("permit read back", lambda: self._read_back(client, permit))
                answer = self._step("commit_action", lambda: self._commit(client, permit))
                self._step("outcome against the receipt", lambda: self._check_receipts(answer))
                self._step("second commit refused", lambda: self._commit_again(client, permit))
                self._step("query_grimoire: episode found", lambda: self._find_episode(client, permit))
                if measures:
                    self._step(f"preview latency, {WARM_PREVIEWS} warm calls", lambda: self._measure(client))
            except StepFailed:
                return False
        return all(step.ok for step in self.steps)

    def _step(self, name: str, act: Callable[[], Shown]) -> Shown:
        started = time.perf_counter()
        facts, problem = None, ""
        try:
            facts = act()
        except (StepFailed, httpx.HTTPError, KeyError, IndexError, ValueError) as error:
            problem = f"{error}"
        took = round((time.perf_counter() - started) * 1000, 1)
        step = DemoStep(name, not problem and facts is not None, took, facts, problem)
        self.steps.append(step)
        self.on_step(step)
        if facts is None or problem:
            raise StepFailed(problem)
        return facts

    def _read_manifest(self, client: httpx.Client) -> DemoToolNames:
        names = [tool.name for tool in _ok(client.get("/api/v1/pi/manifest"), DemoManifest).tools]
        if len(names) != 8:
            raise StepFailed(f"the manifest lists {len(names)} tools instead of 8")
        return DemoToolNames(names)

    def _choose_amount(self, client: httpx.Client) -> DemoChosen:
        # Its key is an ordinary one: what is not in the core is loaded first, as any agent does.
        loads = {"query": "load_tools", "tools": ["wallet_get_status"]}
        _ok(client.post("/api/v1/pi/query_state", json=loads), DemoNothing)
        asked = client.post("/api/v1/pi/query_state", json={"query": "wallet_status"})
        held = next(each for each in _ok(asked, DemoWalletAnswer).data.balances if each.token.symbol == "USDC")
        self.amount = int(held.balance) // SHARE_SWAPPED
        if not self.amount:
            raise StepFailed("the demo golem holds no USDC any more; `make reset` begins anew")
        return DemoChosen(holds=held.balance_units, amount_in=str(self.amount))

    def _quote(self, client: httpx.Client) -> DemoQuote:
        body = {"query": "quote", "token_in": "USDC", "token_out": "WETH", "amount": str(self.amount)}
        return _ok(client.post("/api/v1/pi/query_state", json=body), DemoQuoteAnswer).data

    def _preview(self, client: httpx.Client) -> DemoPreviewed:
        permit = _ok(client.post("/api/v1/pi/preview_action", json=self._swap_body()), DemoNewPermit)
        expected = permit.expected_outcome
        return DemoPreviewed(
            permit_id=permit.permit_id,
            plan_hash=permit.plan_hash,
            simulation_hash=permit.simulation_hash,
            risk_tier=permit.risk_tier,
            worst_cost_usd=expected.worst_cost_usd,
            predicted=expected.balance_deltas,
            gas_predicted=expected.gas_used,
            fidelity=permit.fidelity,
            expires_at=permit.expires_at,
        )

    def _read_back(self, client: httpx.Client, permit: DemoPreviewed) -> DemoReadBack:
        found = _ok(client.get(f"/api/v1/pi/permits/{permit.permit_id}"), DemoFoundPermit)
        if found.plan_hash != permit.plan_hash or found.status != "CREATED":
            raise StepFailed("the permit read back is not the one that was given")
        return DemoReadBack(found.status)

    def _commit(self, client: httpx.Client, permit: DemoPreviewed) -> DemoCommitted:
        asked = client.post("/api/v1/pi/commit_action", json={"permit_id": permit.permit_id})
        answer = _ok(asked, DemoCommitAnswer)
        if answer.permit.status != "COMMITTED":
            raise StepFailed(f"the permit is {answer.permit.status}: {answer.permit.status_reason}")
        actual = answer.result.actual_outcome
        return DemoCommitted(
            status=answer.permit.status,
            predicted=permit.predicted,
            actual=actual.balance_deltas,
            gas_predicted=permit.gas_predicted,
            gas_actual=actual.gas_used,
            fee_wei=actual.fee_wei,
            tx_hashes=actual.tx_hashes,
            ground_truth_source=answer.result.ground_truth_source,
        )

    def _check_receipts(self, answer: DemoCommitted) -> DemoChecked:
        """Read the receipts from the node itself and compare amounts to the base unit and gas to 5%."""
        receipts = [self._read_receipt(tx_hash) for tx_hash in answer.tx_hashes]
        predicted = {delta.token: int(delta.raw) for delta in answer.predicted}
        actual = {delta.token: int(delta.raw) for delta in answer.actual}
        account = receipts[0].sender.lower()
        moved: Counter[str] = Counter()
        for log in (log for receipt in receipts for log in receipt.logs):
            for each in read_transfers(parse_log(log)):
                sign = (each.recipient.lower() == account) - (each.sender.lower() == account)
                moved[each.token.lower()] += sign * each.amount
        on_chain = {token: delta for token, delta in moved.items() if delta}
        for name, claimed in (("predicted", predicted), ("reported", actual)):
            if {token.lower(): delta for token, delta in claimed.items() if delta} != on_chain:
                raise StepFailed(f"the {name} amounts {claimed} are not those of the receipts {on_chain}")
        gas = sum(receipt.gas_used for receipt in receipts)
        if abs(gas - answer.gas_predicted) * 100 > GAS_TOLERANCE_PERCENT * gas:
            raise StepFailed(f"predicted gas {answer.gas_predicted} is more than 5% from {gas}")
        return DemoChecked(
            amounts_equal=True, gas_on_chain=gas, gas_predicted=answer.gas_predicted, tx_hashes=answer.tx_hashes
        )

    def _commit_again(self, client: httpx.Client, permit: DemoPreviewed) -> DemoRefused:
        response = client.post("/api/v1/pi/commit_action", json={"permit_id": permit.permit_id})
        problem = read_stored(DemoProblem, response.json())
        if response.status_code != 409 or problem.code != "PERMIT_ALREADY_COMMITTED":
            raise StepFailed(f"a second commit answered {response.status_code} {problem.code}")
        return DemoRefused(code=problem.code, recovery=problem.recovery)

    def _find_episode(self, client: httpx.Client, permit: DemoPreviewed) -> DemoFoundEpisode:
        deadline = time.monotonic() + _EPISODE_WAIT_SECONDS
        while time.monotonic() < deadline:
            body = {"query": "swap USDC for WETH on Uniswap", "store": "episodes", "limit": 10}
            found = _ok(client.post("/api/v1/pi/query_grimoire", json=body), DemoEpisodes)
            for hit in found.episodes:
                if permit.permit_id in str(hit):
                    return DemoFoundEpisode(read_stored(DemoEpisode, hit).id, found.mode)
            time.sleep(0.2)
        raise StepFailed(f"no episode of the swap within {_EPISODE_WAIT_SECONDS} s")

    def _measure(self, client: httpx.Client) -> DemoLatency:
        times, workers = [], []
        for _ in range(WARM_PREVIEWS):
            started = time.perf_counter()
            response = client.post("/api/v1/pi/preview_action", json=self._swap_body())
            times.append((time.perf_counter() - started) * 1000)
            permit = _ok(response, DemoNewPermit)
            workers.append(permit.timings_ms)
            client.post(
                "/api/v1/pi/cancel_action", json={"permit_id": permit.permit_id, "reason": "measured only"}
            ).raise_for_status()
        names = sorted({name for timing in workers for name in timing})
        breakdown = {
            name: round(statistics.median(timing[name] for timing in workers if name in timing), 1) for name in names
        }
        p50 = statistics.median(times)
        inside = sum(breakdown.values())
        return DemoLatency(
            p50_ms=round(p50, 1),
            p95_ms=round(sorted(times)[int(len(times) * 0.95) - 1], 1),
            breakdown_ms={**breakdown, "http, queue and rendering": round(p50 - inside, 1)},
        )

    def _swap_body(self) -> dict[str, object]:
        return {
            "action_type": "swap",
            "venue": "uniswap",
            "token_in": "USDC",
            "token_out": "WETH",
            "amount": str(self.amount),
            "slippage_bps": 50,
        }

    def _read_receipt(self, tx_hash: str) -> DemoReceipt:
        method = "eth_getTransactionReceipt"
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": [tx_hash]}
        result = read_stored(DemoNodeAnswer, httpx.post(self.rpc_url, json=body, timeout=10).json()).result
        match result:
            case None:
                raise StepFailed(f"the node does not know what {method} was asked for")
            case {"from": str(sender), "gasUsed": str(gas), "logs": list(logs)}:
                return DemoReceipt(sender, int(gas, 16), logs)
        raise StepFailed(f"{method} answered no receipt")


def _ok(response: httpx.Response, kind: type[T]) -> T:
    """The answer read into its type. Raises StepFailed for a refusal, ValueError for what is none of the type."""
    if response.status_code != 200:
        told = response.json() if "json" in response.headers.get("content-type", "") else {}
        problem = read_stored(DemoProblem, told)
        detail = response.text[:200] if problem.detail is None else problem.detail
        raise StepFailed(f"{response.status_code} {problem.code or ''}: {detail}")
    return read_stored(kind, response.json())
