"""A bare ERC-20 transfer, the least that an agent's trade could take: signed, sent and mined, with no check at all.

Through web3.py, and over one kept connection with nothing but a signer; the faster of the two is what others are held
against. Nothing is simulated, no gas is estimated, and the nonce is counted here.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from eth_account import Account
from web3 import HTTPProvider, Web3

from golem_project.demo.seed import CHAIN_ID
from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.fund import fund, token_addresses
from tests.bench.figures import percentile, time_calls

_COUNT: Final = 30
_GAS: Final = 100_000
_FEE_WEI: Final = 10**10
_TRANSFER: Final = "a9059cbb"
_TO: Final = "99" * 20


@dataclass(frozen=True, slots=True)
class BareTransfers:
    """Medians in milliseconds by the way that was taken."""

    medians: dict[str, float]

    @property
    def fastest_ms(self) -> float:
        """Of the faster way."""
        return min(self.medians.values())

    def describe(self) -> str:
        """In words, for a reference."""
        told = ", ".join(f"{value:g} ms {way}" for way, value in self.medians.items())
        return f"a bare ERC-20 transfer in this run: {told}"


def measure_transfers() -> BareTransfers:
    """Both ways, from an account of their own."""
    url = settings.GOLEM_RPC_URLS[CHAIN_ID][0]
    account = derive_account("bench of bare transfers")
    fund(url, account.address, 10**19, {"USDC": 10**12})
    web3 = Web3(HTTPProvider(url))
    key = bytes(account.key)
    next_nonce = int(web3.eth.get_transaction_count(web3.to_checksum_address(account.address)))
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port or 80, timeout=30)

    def sign() -> bytes:
        nonlocal next_nonce
        transaction: dict[str, Any] = {
            "chainId": CHAIN_ID,
            "nonce": next_nonce,
            "to": token_addresses()["USDC"],
            "value": 0,
            "gas": _GAS,
            "maxFeePerGas": _FEE_WEI,
            "maxPriorityFeePerGas": 1,
            "data": f"0x{_TRANSFER}{_TO:0>64}{1:064x}",
        }
        next_nonce += 1
        return bytes(Account.sign_transaction(transaction, key).raw_transaction)

    def through_web3() -> None:
        digest = web3.eth.send_raw_transaction(sign())
        receipt = web3.eth.wait_for_transaction_receipt(digest, timeout=30, poll_latency=0.001)
        if receipt["status"] != 1:
            raise AssertionError("the transfer was reverted")

    def ask(method: str, *given: str) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": given})
        connection.request("POST", "/", body, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def by_hand() -> None:
        digest = ask("eth_sendRawTransaction", f"0x{sign().hex()}")
        while (receipt := ask("eth_getTransactionReceipt", digest)) is None:
            pass
        if receipt["status"] != "0x1":
            raise AssertionError("the transfer was reverted")

    ways: dict[str, Callable[[], None]] = {"through web3.py": through_web3, "with a signer and one connection": by_hand}
    return BareTransfers({way: percentile(time_calls(call, count=_COUNT), 50) for way, call in ways.items()})
