"""Whose code a golem's own account may run (EIP-7702): a contract that a protocol of the shelf vouches for, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from permits_app.errors import SignerMismatch
from permits_app.models import SigningKey, Wallet
from permits_app.models.signing_key import KeyHolder, KeyState
from tools_app.chain.networks import ChainNotSupported
from tools_app.chain.running_code import hash_code
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.protocol import SHELF

NO_CODE: Final = "0x" + "00" * 20
"""An account that names this one runs no code any more."""


@dataclass(frozen=True, slots=True)
class AccountCode:
    """The contract, whose it is in words, and the hash of what runs there."""

    contract: str
    label: str
    code_hash: str


def find_account_code(chain: ChainReader) -> AccountCode:
    """What a plain account may run on the reader's chain. Raises ChainNotSupported, and what a node raises."""
    found = SHELF.find_account_code(chain.chain_id)
    code = chain.code(found[1]) if found is not None else b""
    if found is None or not code:
        raise ChainNotSupported(
            f"no code that an account may run (EIP-7702) is known on chain {chain.chain_id}", chain_id=chain.chain_id
        )
    label, contract = found
    return AccountCode(contract, label, hash_code(code))


def is_known_code(*, chain_id: int, contract: str) -> bool:
    """Whether an account may run it there."""
    found = SHELF.find_account_code(chain_id)
    return found is not None and contract == found[1]


def check_known_code(*, chain_id: int, contract: str) -> None:
    """Raises SignerMismatch for any contract but the one that is known on the chain, and the one that ends it."""
    if contract != NO_CODE and not is_known_code(chain_id=chain_id, contract=contract):
        raise SignerMismatch(
            "an account runs the code of no contract that is not known here", contract=contract, chain_id=chain_id
        )


def choose_code(key: SigningKey, chain_id: int) -> str:
    """What the key's own account should run on a chain: what its owners agreed to while the golem acts with it, and
    nothing once it left the key or was retired.
    """
    if not key.had_code:
        return ""
    wallet = Wallet.objects.filter(golem_id=key.golem_id, address=key.address).first()
    is_used = key.state == KeyState.ACTIVE and key.holder == KeyHolder.LOCAL_KEYSTORE and not key.golem.retired_at
    agreed = wallet.runs.get(str(chain_id), {}) if wallet is not None and is_used else {}
    return str(agreed.get("contract", ""))
