"""The door to eth-account. Importing it costs half a second of pairing tables, which only a signing process pays."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eth_account import Account


@cache
def load_accounts() -> type[Account]:
    """eth-account's Account, imported when a key is first touched."""
    from eth_account import Account

    return Account
