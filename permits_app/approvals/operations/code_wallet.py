"""`code_wallet`: a golem without a wallet gets a new key of this server, whose account runs known code (EIP-7702)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from permits_app.custody.account_code import find_account_code
from permits_app.custody.create_wallet import create_wallet
from permits_app.custody.safe_view import open_chain
from permits_app.models import SigningKey, Wallet
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.enums import RiskTier

CODE_WALLET: Final = "code_wallet"


@dataclass(frozen=True, slots=True)
class _SeenCode:
    """The code that accounts may run there: its contract, hash, and whose it is."""

    chain_id: str
    contract: str
    code_hash: str
    whose: str


@dataclass(frozen=True, slots=True)
class _CodeWalletArguments:
    """A name in words, and the code that was seen."""

    seen: _SeenCode
    label: str = ""


def read_seen_contract(arguments: Mapping[str, object]) -> str:
    """The contract whose code was seen, of arguments that were observed."""
    return read_stored(_CodeWalletArguments, arguments).seen.contract


class MakeCodeWallet:
    """Takes no arguments but a `label` in words. The relayer sends what the new key signs: it holds no coins yet."""

    name = CODE_WALLET

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, object]:
        """The code that accounts may run there. Raises ChainNotSupported, what a node raises."""
        found = find_account_code(open_chain(golem.home_chain_id, now=now))
        seen = _SeenCode(
            chain_id=str(golem.home_chain_id), contract=found.contract, code_hash=found.code_hash, whose=found.label
        )
        return {**arguments, "seen": asdict(seen)}

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From no wallet to a new key and its code. Raises ChangeUnchanged where it has one."""
        if golem.address:
            raise ChangeUnchanged("the golem has a wallet already; another is chosen on its page, Choose who signs")
        asked = read_stored(_CodeWalletArguments, arguments)
        seen = asked.seen
        lines = (
            BeforeAndAfter("Wallet", "none", "a new key of this server's keystore", "it is empty until it is funded"),
            BeforeAndAfter(
                "Code that its account runs (EIP-7702)",
                "none",
                f"{seen.whose} at {seen.contract}, code {seen.code_hash[:10]}…",
                "it gives nobody a right by itself: whoever acts through it has the key's signature. The account"
                " signs nothing until the chain has it, and runs nothing any more once the golem acts with another",
            ),
        )
        change: dict[str, object] = {"label": asked.label, **asdict(seen)}
        return Proposal("Make it a wallet whose account runs code", change, lines, RiskTier.HIGH)

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """It still has none."""
        if golem.address:
            raise ChangeStale("the golem got a wallet since")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Make it; its code follows by itself. Raises WalletExists, SignerUnavailable."""
        wallet = create_wallet(golem=golem, actor=actor, now=now)
        kept = read_stored(_SeenCode, change)
        runs = {kept.chain_id: {"contract": kept.contract, "code_hash": kept.code_hash}}
        Wallet.objects.filter(pk=wallet.pk).update(runs=runs)
        SigningKey.objects.filter(address=wallet.address).update(had_code=True)
        return {"kind": wallet.kind, "address": wallet.address, "contract": kept.contract}
