"""`signer`: which account a golem acts with, and who signs for it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from archetypes_app.models import Golem
from permits_app.approval_errors import ChangeStale, ChangeUnchanged
from permits_app.approvals.holdings_at_stake import read_stake
from permits_app.approvals.operations.base import BeforeAndAfter, Proposal
from permits_app.custody.choose_wallet import WalletChoice, choose_wallet
from permits_app.custody.read_wallet_choice import read_wallet_choice
from permits_app.models import ChangeRequest, SigningKey, Wallet
from permits_app.models.signing_key import KeyState
from permits_app.models.wallet import WalletKind
from permits_app.permits.former_account_holdings import measure_account, say_held
from tools_app.toolkit.enums import RiskTier

_HOLDS: Final = "The account holds"


class ChooseSigner:
    """`arguments`: `kind`, a WalletKind, and with it `safe`, `wallet_id`, `account` or `address`.

    See read_wallet_choice.
    """

    name = "signer"

    def observe(self, golem: Golem, arguments: Mapping[str, object], *, now: datetime) -> dict[str, Any]:
        """What the chain, Privy or ZeroDev says of the wallet. Raises what read_wallet_choice raises."""
        seen = read_wallet_choice(golem=golem, arguments=arguments, now=now)
        held = {
            "left": measure_account(chain_id=golem.home_chain_id, account=golem.address, now=now),
            "taken": measure_account(chain_id=golem.home_chain_id, account=seen["address"], now=now),
        }
        return {**arguments, "seen": seen, "held": held}

    def propose(self, golem: Golem, arguments: Mapping[str, Any]) -> Proposal:
        """From the wallet it has to the one that was seen."""
        seen, before = arguments["seen"], _describe_present(golem)
        kind = WalletKind(seen["kind"])
        after = {name: seen[name] for name in ("kind", "address", "key", "external_id")}
        if (before["kind"], before["address"], before["key"]) == (after["kind"], after["address"], after["key"]):
            raise ChangeUnchanged("the golem acts with this wallet already")
        held = arguments.get("held", {})
        lines: tuple[BeforeAndAfter, ...] = (
            BeforeAndAfter("Wallet", _spell_kind(before["kind"]), str(kind.label), seen["note"]),
            BeforeAndAfter("Account", before["address"] or "none", after["address"], "whose funds it moves"),
            BeforeAndAfter("Signs", before["key"] or "nobody", after["key"], "the former key gets no more to sign"),
        )
        if before["address"] and before["address"] != after["address"]:
            lines = (*lines, _say_what_stays(before["address"], after["address"], held))
        is_safe = kind in (WalletKind.GNOSIS_SAFE, WalletKind.POLICY_CAGE)
        title = f"Let it act with {'the Safe' if is_safe else 'the account'} {after['address']}"
        return Proposal(
            title[:200],
            {"before": before, "after": after, "held_micro_usd": _write_held(held.get("left"))},
            lines,
            RiskTier.CRITICAL,
            value_micro_usd=read_stake(golem),
        )

    def check_current(self, golem: Golem, change: Mapping[str, object]) -> None:
        """It still acts with what it acted with."""
        if _describe_present(golem) != change["before"]:
            raise ChangeStale("the golem's wallet or its key changed since")

    def apply(
        self, *, golem: Golem, change: Mapping[str, Any], actor: str, reason: str, now: datetime
    ) -> dict[str, Any]:
        """Change it. Raises WalletBusy while an action is under way: the change is tried again."""
        after = change["after"]
        choice = WalletChoice(
            kind=WalletKind(after["kind"]),
            address=after["address"],
            key=after["key"],
            external_id=after["external_id"],
        )
        held = change.get("held_micro_usd")
        wallet = choose_wallet(
            golem=golem,
            choice=choice,
            actor=actor,
            reason=reason,
            now=now,
            held_micro_usd=int(held) if held else None,
        )
        return {"kind": wallet.kind, "address": wallet.address}


def takes_empty_account(request: ChangeRequest) -> bool:
    """Whether with this request a golem would act with an account that holds nothing, as it was when it was asked."""
    lines = request.shown.get("differences", []) if request.kind == ChooseSigner.name else []
    return any(line["words"] == _HOLDS and line["after"] == say_held(0) for line in lines)


def _say_what_stays(left: str, taken: str, held: Mapping[str, Any]) -> BeforeAndAfter:
    """What lies in the account it leaves and in the one it takes; nothing moves with the change."""
    stays, there = held.get("left"), held.get("taken")
    note = f"nothing moves with this: {say_held(stays)} stays in {left}, and whoever holds its keys moves it"
    if there is not None and say_held(there) == "nothing":
        note += f"; {taken} is EMPTY, so the golem can pay for no gas and trade nothing until somebody funds it"
    return BeforeAndAfter(_HOLDS, say_held(stays), say_held(there), note)


def _write_held(micro_usd: int | None) -> str:
    return "" if micro_usd is None else str(micro_usd)


def _describe_present(golem: Golem) -> dict[str, str]:
    wallet = Wallet.objects.filter(golem=golem).first()
    key = SigningKey.objects.filter(golem=golem, state=KeyState.ACTIVE).first()
    return {
        "kind": wallet.kind if wallet is not None else "",
        "address": golem.address,
        "key": key.address if key is not None else "",
    }


def _spell_kind(kind: str) -> str:
    return str(WalletKind(kind).label) if kind else "none"
