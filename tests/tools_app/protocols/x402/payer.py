"""A golem whose agent pays by x402, over REST."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.check_signed_promises import check_signed_promises
from permits_app.limits.suggested_allowlist import AllowlistChoice
from permits_app.models import SignedPromise
from permits_app.models.allowlist import AllowlistKind
from tests.evm.world import CHAIN_ID
from tests.golem_project.pi.conftest import Agent
from tests.live_golem import LiveGolem
from tests.tools_app.protocols.x402.payee import USD, Payee
from tools_app.core import clock
from tools_app.protocols.x402.addresses import NAME


@dataclass
class Payer:
    """A golem whose agent pays, and whom it pays."""

    live: LiveGolem
    agent: Agent
    payee: Payee

    def post(self, tool: str, **body: Any) -> tuple[int, dict[str, Any]]:
        response = self.agent.post(tool, body)
        return response.status_code, response.json()

    def do(self, **body: Any) -> dict[str, Any]:
        status, permit = self.post("preview_action", venue=NAME, **body)
        assert status == 200, permit
        _, done = self.post("commit_action", permit_id=permit["permit_id"])
        assert done["status"] == "COMMITTED", done
        return done

    def approve(self, amount: int = 10 * USD) -> None:
        self.do(action_type="approve_payments", token="USDC", amount=str(amount))

    def preview(self, header: str | None = None, **changes: Any) -> tuple[int, dict[str, Any]]:
        body = {
            "action_type": "pay",
            "venue": NAME,
            "payment_required": header or self.payee.ask(),
            "recipient": self.payee.address,
            "token": "USDC",
            "most": str(3 * USD),
        }
        return self.post("preview_action", **{**body, **changes})

    def pay(self, header: str | None = None, **changes: Any) -> dict[str, Any]:
        """What the agent hands in: PAYMENT-SIGNATURE before base64."""
        status, permit = self.preview(header, **changes)
        assert status == 200, permit
        _, done = self.post("commit_action", permit_id=permit["permit_id"])
        assert done["status"] == "COMMITTED", done
        told = done["result"]["data"]
        payment: dict[str, Any] = told["payment"]
        payment["payload"]["signature"] = told["signature"]
        return {**payment, "payment_id": told["payment_id"]}

    def refuse(self, code: str, header: str | None = None, **changes: Any) -> dict[str, Any]:
        status, problem = self.preview(header, **changes)
        assert (status >= 400, problem["code"]) == (True, code), problem
        return problem

    def status(self, payment: dict[str, Any]) -> dict[str, Any]:
        code, told = self.post("query_state", query="x402_payment", payment_id=payment["payment_id"])
        assert code == 200, told
        data: dict[str, Any] = told["data"]
        return data

    def follow(self, row: SignedPromise) -> SignedPromise:
        now = clock.now()
        for minutes in (1, 2):
            SignedPromise.objects.update(next_check_at=now)
            check_signed_promises(now=now + timedelta(minutes=minutes))
        row.refresh_from_db()
        return row

    def list_payee(self, address: str | None = None) -> None:
        choice = AllowlistChoice(CHAIN_ID, AllowlistKind.RECIPIENT, address or self.payee.address, "payee")
        allow_addresses(golem=self.live.golem, choices=[choice], actor="system:test", now=clock.now())
