"""The server's account that carries out what strangers pay golems with: it holds coins for gas and nothing else.

Its key is derived from the keystore's passphrase: every process has the same one and none is stored. Whoever has it can
spend that gas; what was signed by payers goes to golems, whoever sends it.
"""

from __future__ import annotations

from typing import Any, Final

from Crypto.Hash import SHA256
from Crypto.Protocol.KDF import HKDF
from django.conf import settings

from golem_project.runtime.local_faucet import LocalFaucet
from tools_app.chain.networks import get_network
from tools_app.chain.node_errors import RpcTimeout, RpcUnavailable
from tools_app.core.taint import Secret
from tools_app.standards.x402.facilitator import NOBODY_ANSWERS, Facilitator
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.faucets import MOST_COINS_WEI, FaucetRefused, Gift

_INFO: Final = b"golem x402 settler v1"
_LEAST_WEI: Final = MOST_COINS_WEI // 10

_key: Secret | None = None


def configure(passphrase: Secret) -> None:
    """Derive the key, once per process. Called by wiring."""
    global _key
    derived: Any  # Any: pycryptodome types bytes or a tuple of them
    derived = HKDF(passphrase.reveal().encode(), 32, b"", SHA256, context=_INFO)
    _key = Secret("0x" + derived.hex())


def find_address() -> str:
    """Whom to send coins for gas."""
    # Slow to load, and few processes sell.
    from eth_account import Account

    return str(Account.from_key(_get_key().reveal()).address)


def open_facilitator(reader: ChainReader) -> Facilitator:
    """The facilitator on a chain; on a local one its account is given gas. Raises ChainNotSupported."""
    _fill(reader)
    url = get_network(reader.chain_id).rpc_urls[0]
    return Facilitator(key=_get_key(), chain_id=reader.chain_id, rpc_url=url, wait_seconds=settings.GOLEM_SALE_SECONDS)


def say_away(reader: ChainReader) -> str:
    """Why payments are not carried out on a chain now, in words; empty where they are. Raises ChainNotSupported."""
    try:
        return open_facilitator(reader).say_away(find_address())
    except (RpcUnavailable, RpcTimeout):
        return NOBODY_ANSWERS


def _fill(reader: ChainReader) -> None:
    faucet, address = LocalFaucet(), find_address()
    if not faucet.gives_on(reader.chain_id) or reader.native_balance(address) >= _LEAST_WEI:
        return
    try:
        faucet.give(chain_id=reader.chain_id, account=address, gift=Gift("ETH", is_native=True, raw=MOST_COINS_WEI))
    except FaucetRefused:
        # Another process gave it meanwhile, or the payment is refused for want of gas.
        return


def _get_key() -> Secret:
    if _key is None:
        raise RuntimeError(
            "golem_project.a2a.payment_gas_account was not configured; golem_project.wiring does it at start-up"
        )
    return _key
