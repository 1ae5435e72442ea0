"""The people of the local world. Their keys follow from a public phrase, so they may never hold anything of worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from eth_utils.crypto import keccak

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

# Public on purpose. Everything that signs with these keys signs for chain 31337, where balances are made by asking.
PHRASE = "golem local world; chain 31337 only; worthless"
CHAIN_ID = 31337


def derive_account(role: str) -> LocalAccount:
    """The account of one role, the same on every machine."""
    # Signing brings half a second of pairing tables, which only building and funding the world should pay.
    from eth_account import Account

    account: LocalAccount = Account.from_key(keccak(text=f"{PHRASE}: {role}"))
    return account


@dataclass(frozen=True)
class Actors:
    """Who built the world and who trades in it."""

    deployer: LocalAccount
    makers: tuple[LocalAccount, ...]
    traders: tuple[LocalAccount, ...]

    def everyone(self) -> tuple[LocalAccount, ...]:
        """All of them, deployer first."""
        return (self.deployer, *self.makers, *self.traders)


def derive_actors() -> Actors:
    """One deployer (it owns tokens and feeds), two market makers, four traders."""
    return Actors(
        deployer=derive_account("deployer"),
        makers=tuple(derive_account(f"market maker {number}") for number in (1, 2)),
        traders=tuple(derive_account(f"trader {number}") for number in (1, 2, 3, 4)),
    )
