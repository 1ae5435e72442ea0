"""`signer`: which account a golem acts with, and who signs for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Final

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.holdings_at_stake import read_stake
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal, read_shown
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.custody.read_wallet_choice import read_wallet_choice
from permits_app.models import ChangeRequest, SigningKey, Wallet
from permits_app.models.signing_key import KeyState
from permits_app.models.wallet import WalletKind
from permits_app.permits.former_account_holdings import measure_account, say_held
from tools_app.core.stored_json import read_stored
from tools_app.toolkit.enums import RiskTier

_HOLDS: Final = "The account holds"


@dataclass(frozen=True, slots=True)
class _SeenWallet:
    """A wallet as `read_wallet_choice` saw it."""

    kind: str
    address: str
    key: str
    external_id: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class _SignerHeld:
    """Micro-USD in the account it leaves and in the one it takes; None where nobody knows."""

    left: int | None = None
    taken: int | None = None


@dataclass(frozen=True, slots=True)
class _SignerArguments:
    """The wallet that was seen, and what the accounts hold."""

    seen: _SeenWallet
    held: _SignerHeld = _SignerHeld()


@dataclass(frozen=True, slots=True)
class _Present:
    """What a golem acts with now; empty for nothing."""

    kind: str
    address: str
    key: str


@dataclass(frozen=True, slots=True)
class _SignerChange:
    """What was asked for, as its request keeps it; `held_micro_usd` is decimal text, empty where nobody knew."""

    before: _Present
    after: _SeenWallet
    held_micro_usd: str = ""


class ChooseSigner:
    """`arguments`: `kind`, a WalletKind, and with it `safe`, `wallet_id`, `account` or `address`.

    See read_wallet_choice.
    """

    name = "signer"

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, object]:
        """What the chain, Privy or ZeroDev says of the wallet. Raises what read_wallet_choice raises."""
        seen = read_wallet_choice(golem=golem, arguments=arguments, now=now)
        taken = read_stored(_SeenWallet, seen).address
        held = {
            "left": measure_account(chain_id=golem.home_chain_id, account=golem.address, now=now),
            "taken": measure_account(chain_id=golem.home_chain_id, account=taken, now=now),
        }
        return {**arguments, "seen": seen, "held": held}

    def propose(self, golem: Golem, arguments: Mapping[str, object]) -> Proposal:
        """From the wallet it has to the one that was seen."""
        asked, before = read_stored(_SignerArguments, arguments), _describe_present(golem)
        seen, held = asked.seen, asked.held
        kind = WalletKind(seen.kind)
        if before == _Present(seen.kind, seen.address, seen.key):
            raise ChangeUnchanged("the golem acts with this wallet already")
        lines: tuple[BeforeAndAfter, ...] = (
            BeforeAndAfter("Wallet", _spell_kind(before.kind), str(kind.label), seen.note),
            BeforeAndAfter("Account", before.address or "none", seen.address, "whose funds it moves"),
            BeforeAndAfter("Signs", before.key or "nobody", seen.key, "the former key gets no more to sign"),
        )
        if before.address and before.address != seen.address:
            lines = (*lines, _say_what_stays(before.address, seen.address, held))
        is_safe = kind in (WalletKind.GNOSIS_SAFE, WalletKind.POLICY_CAGE)
        title = f"Let it act with {'the Safe' if is_safe else 'the account'} {seen.address}"
        after = {"kind": seen.kind, "address": seen.address, "key": seen.key, "external_id": seen.external_id}
        return Proposal(
            title[:200],
            {"before": asdict(before), "after": after, "held_micro_usd": _write_held(held.left)},
            lines,
            RiskTier.CRITICAL,
            value_micro_usd=read_stake(golem),
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """It still acts with what it acted with."""
        if _describe_present(golem) != read_stored(_SignerChange, change).before:
            raise ChangeStale("the golem's wallet or its key changed since")

    def apply(
        self, *, golem: Golem, change: Mapping[str, object], actor: str, reason: str, now: datetime
    ) -> dict[str, object]:
        """Change it. Raises WalletBusy while an action is under way: the change is tried again."""
        kept = read_stored(_SignerChange, change)
        choice = WalletChoice(
            kind=WalletKind(kept.after.kind),
            address=kept.after.address,
            key=kept.after.key,
            external_id=kept.after.external_id,
        )
        wallet = choose_wallet(
            golem=golem,
            choice=choice,
            actor=actor,
            reason=reason,
            now=now,
            held_micro_usd=int(kept.held_micro_usd) if kept.held_micro_usd else None,
        )
        return {"kind": wallet.kind, "address": wallet.address}


def takes_empty_account(request: ChangeRequest) -> bool:
    """Whether with this request a golem would act with an account that holds nothing, as it was when it was asked."""
    lines = read_shown(request.shown).differences if request.kind == ChooseSigner.name else ()
    return any(line.words == _HOLDS and line.after == say_held(0) for line in lines)


def _say_what_stays(left: str, taken: str, held: _SignerHeld) -> BeforeAndAfter:
    """What lies in the account it leaves and in the one it takes; nothing moves with the change."""
    stays, there = held.left, held.taken
    note = f"nothing moves with this: {say_held(stays)} stays in {left}, and whoever holds its keys moves it"
    if there is not None and say_held(there) == "nothing":
        note += f"; {taken} is EMPTY, so the golem can pay for no gas and trade nothing until somebody funds it"
    return BeforeAndAfter(_HOLDS, say_held(stays), say_held(there), note)


def _write_held(micro_usd: int | None) -> str:
    return "" if micro_usd is None else str(micro_usd)


def _describe_present(golem: Golem) -> _Present:
    wallet = Wallet.objects.filter(golem=golem).first()
    key = SigningKey.objects.filter(golem=golem, state=KeyState.ACTIVE).first()
    return _Present(wallet.kind if wallet is not None else "", golem.address, key.address if key is not None else "")


def _spell_kind(kind: str) -> str:
    return str(WalletKind(kind).label) if kind else "none"
