"""The door to eth-account. Importing it costs half a second of pairing tables, which only a signing process pays."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eth_account import Account


@cache
def load_accounts() -> type[Account]:
    """eth-account's Account, imported when a key is first touched."""
    from eth_account import Account

    return Account


def read_typed_transaction(raw: bytes) -> dict[str, Any]:
    """The fields of a signed typed transaction. Raises what eth-account raises for anything else."""
    from eth_account.typed_transactions import TypedTransaction
    from hexbytes import HexBytes

    return dict(TypedTransaction.from_bytes(HexBytes(raw)).as_dict())
