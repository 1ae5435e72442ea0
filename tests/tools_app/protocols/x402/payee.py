"""A payee and its facilitator, in process: asks for money as a 402 answer does, and settles what it is handed."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from typing import Any

from tests.evm.world import CHAIN_ID, World
from tools_app.protocols.x402.addresses import EXACT, UPTO, deployments

USD = 10**6
URL = "https://weather.example/paris"
_PERMIT = "((address,uint256),uint256,uint256)"
SETTLE = {
    EXACT: f"settle({_PERMIT},address,(address,uint256),bytes)",
    UPTO: f"settle({_PERMIT},uint256,address,(address,address,uint256),bytes)",
}


@dataclass
class Payee:
    """Who is paid, and the account that settles."""

    world: World
    account: Any = None
    facilitator: Any = None
    handed: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.account, self.facilitator = self.world.new_account(), self.world.new_account()

    @property
    def address(self) -> str:
        return str(self.account.address)

    @property
    def usdc(self) -> str:
        return self.world.tokens["USDC"].address

    def item(self, scheme: str = EXACT, **changes: Any) -> dict[str, Any]:
        """One way to pay two dollars."""
        extra = {"name": "USDC", "version": "2", "assetTransferMethod": "permit2"}
        if scheme == UPTO:
            extra["facilitatorAddress"] = self.facilitator.address
        asked = {
            "scheme": scheme,
            "network": f"eip155:{CHAIN_ID}",
            "asset": self.usdc,
            "amount": str(2 * USD),
            "payTo": self.address,
            "maxTimeoutSeconds": 300,
            "extra": extra,
        }
        return {**asked, **changes}

    def ask(self, *items: dict[str, Any], url: str = URL, **changes: Any) -> str:
        """The header PAYMENT-REQUIRED."""
        resource = {"url": url, "description": "Weather", "mimeType": "application/json"}
        told = {"x402Version": 2, "error": "pay", "resource": resource, "accepts": list(items or (self.item(),))}
        return base64.b64encode(json.dumps({**told, **changes}).encode()).decode()

    def settle(self, payment: dict[str, Any], *, amount: int | None = None, by: Any = None, **changed: Any) -> bool:
        """Send what was handed in to its proxy, with other words where they are changed; whether it was taken."""
        from golem_project.embedded.world.rpc import call_data

        given = payment["payload"]
        told = {**given["permit2Authorization"], **changed}
        permit = (
            (told["permitted"]["token"], int(told["permitted"]["amount"])),
            int(told["nonce"]),
            int(told["deadline"]),
        )
        witness, signature = told["witness"], bytes.fromhex(given["signature"][2:])
        if "facilitator" in witness:
            most = permit[0][1] if amount is None else amount
            who = (witness["to"], witness["facilitator"], int(witness["validAfter"]))
            data = call_data(SETTLE[UPTO], permit, most, told["from"], who, signature)
        else:
            data = call_data(
                SETTLE[EXACT], permit, told["from"], (witness["to"], int(witness["validAfter"])), signature
            )
        proxy = (deployments(CHAIN_ID) or {})[payment["accepted"]["scheme"]]
        return bool(self.world.send(by or self.facilitator, proxy, data)["status"] == "0x1")

    def balance(self) -> int:
        """Base units of USDC."""
        return self.world.rpc.balance_of(self.usdc, self.address)
