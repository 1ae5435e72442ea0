"""`new_wallet`: a golem without a wallet gets one, a new key of this server's keystore."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from permits_app.custody.create_wallet import create_wallet
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.enums import RiskTier


@dataclass(frozen=True, slots=True)
class _NewWalletArguments:
    """A name in words."""

    label: str = ""


class MakeWallet:
    """Takes no arguments but a `label` in words."""

    name = "new_wallet"

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From no wallet to a new key. Raises ChangeUnchanged where it has one."""
        if golem.address:
            raise ChangeUnchanged("the golem has a wallet already; another is chosen on its page, Choose who signs")
        line = BeforeAndAfter(
            "Wallet", "none", "a new key of this server's keystore", "it is empty until an owner funds it"
        )
        return Proposal(
            "Make it a wallet of its own",
            {"label": read_stored(_NewWalletArguments, arguments).label},
            (line,),
            RiskTier.HIGH,
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """It still has none."""
        if golem.address:
            raise ChangeStale("the golem got a wallet since")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Make it. Raises WalletExists, SignerUnavailable."""
        wallet = create_wallet(golem=golem, actor=actor, now=now)
        return {"kind": wallet.kind, "address": wallet.address}
