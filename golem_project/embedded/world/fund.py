"""Gives an account of the local chain coins and tokens: minted by their owner, wrapped where the token is WETH."""

from __future__ import annotations

import time
from collections.abc import Mapping

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.world.node import CHAIN_ID, SECOND_CHAIN_ID
from golem_project.embedded.world.rpc import JsonRpc, RpcError, call_data
from golem_project.embedded.world.world_table import read_world_table

DEPLOYMENTS_FILE = CHECKOUT / "tools_app" / "chain" / "deployments" / f"{CHAIN_ID}.json"
GAS_LIMIT = 300_000
MINING_TIMEOUT_SECONDS = 20
OWNER_RESERVE_WEI = 1_000 * 10**18
# Always the same, so that a transaction of another caller with the same nonce is refused and never replaces one.
FEES = {"maxFeePerGas": hex(10**12), "maxPriorityFeePerGas": hex(10**8)}
NONCE_TAKEN = ("replacement transaction underpriced", "nonce too low", "already imported")


def fund(rpc: str | JsonRpc, address: str, eth_wei: int, tokens: Mapping[str, int]) -> None:
    """Add `eth_wei` and `{symbol: base units}` to what `address` has; its nonce stays. Each is a block of its own.

    Raises EmbeddedError for an unknown symbol, a negative amount, a chain that is not the local one, and RpcError.
    """
    node = JsonRpc(rpc) if isinstance(rpc, str) else rpc
    try:
        addresses = token_addresses()
        for symbol, amount in {"ETH": eth_wei, **tokens}.items():
            if amount < 0:
                raise EmbeddedError(f"{amount} {symbol} cannot be given. Fix: choose 0 or more base units.")
            if symbol != "ETH" and symbol not in addresses:
                raise EmbeddedError(f"No token {symbol!r} in the local world. Fix: choose from {', '.join(addresses)}.")
        owner = find_owner(node, addresses)
        if eth_wei:
            provide_coins(node, owner, eth_wei)
            send(node, owner, address, value=eth_wei)
        for symbol, amount in tokens.items():
            if amount:
                mint(node, owner, symbol, addresses[symbol], address, amount)
    finally:
        if isinstance(rpc, str):
            node.close()


def mint(node: JsonRpc, owner: str, symbol: str, token: str, to: str, amount: int) -> None:
    """Give base units of one token of the world; WETH comes out of the owner's own coins."""
    if symbol == "WETH":
        provide_coins(node, owner, amount)
        send(node, owner, token, call_data("deposit()"), value=amount)
        send(node, owner, token, call_data("transfer(address,uint256)", to, amount))
    else:
        send(node, owner, token, call_data("mint(address,uint256)", to, amount))


def provide_coins(node: JsonRpc, owner: str, wei: int) -> None:
    """See that the owner has this much to give, and something for fees."""
    if int(node.call("eth_getBalance", owner, "latest"), 16) < wei + OWNER_RESERVE_WEI:
        node.call("anvil_setBalance", owner, hex(wei + 2 * OWNER_RESERVE_WEI))


def token_addresses() -> dict[str, str]:
    """Symbol -> address, from the committed table."""
    return {token.symbol: token.address for token in read_world_table(DEPLOYMENTS_FILE).tokens}


def find_owner(node: JsonRpc, addresses: Mapping[str, str]) -> str:
    """The account that owns our tokens, ready to send. Raises EmbeddedError when this is not the local world."""
    chain_id = int(node.call("eth_chainId"), 16)
    if chain_id not in (CHAIN_ID, SECOND_CHAIN_ID) or node.call("eth_getCode", addresses["USDC"], "latest") == "0x":
        raise EmbeddedError(f"Chain {chain_id} does not hold the local world. Fix: use the address of the local chain.")
    owner = str(node.read(addresses["USDC"], "owner()", returns="(address)")[0])
    node.call("anvil_impersonateAccount", owner)
    return owner


def send(node: JsonRpc, sender: str, to: str, data: str = "0x", *, value: int = 0, gas: int = GAS_LIMIT) -> str:
    """Send from an impersonated account and wait until it is mined; returns the transaction's hash.

    Several programs may do this at once. Raises EmbeddedError when it reverts.
    """
    transaction = {"from": sender, "to": to, "data": data, "value": hex(value), "gas": hex(gas), **FEES}
    deadline = time.monotonic() + MINING_TIMEOUT_SECONDS
    transaction_hash = submit(node, transaction, deadline)
    while time.monotonic() < deadline:
        receipt = node.find_receipt(transaction_hash)
        if receipt is not None:
            if not receipt.is_ok:
                raise EmbeddedError(f"The transaction {transaction_hash} of {sender} reverted.")
            return transaction_hash
        time.sleep(0.002)
    raise EmbeddedError(
        f"The local chain did not mine {transaction_hash}. Fix: switch its mining on (evm_setAutomine)."
    )


def submit(node: JsonRpc, transaction: dict[str, str], deadline: float) -> str:
    """Have the node choose the nonce; two callers at once may get the same one, then the later tries again."""
    while True:
        try:
            return str(node.call("eth_sendTransaction", transaction))
        except RpcError as error:
            if not any(sign in str(error) for sign in NONCE_TAKEN) or time.monotonic() > deadline:
                raise
