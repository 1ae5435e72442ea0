"""Who pays for liquidity on the local chain: incentives of the staker, and lists of claims under a Merkle root."""

from __future__ import annotations

import json
from typing import Any

from eth_account.signers.local import LocalAccount
from eth_utils.crypto import keccak

from golem_project.embedded.world.protocols import find_protocol_worlds
from golem_project.embedded.world.protocols.uniswap_mining import LIST_FILE
from golem_project.embedded.world.rpc import encode_arguments
from tests.evm.world import CHAIN_ID, World
from tools_app.protocols.uniswap.liquidity_mining.addresses import MiningContracts, mining_on
from tools_app.protocols.uniswap.liquidity_mining.incentives import IncentiveKey

ETH = 10**18
DAY = 86_400
CREATE = "createIncentive((address,address,uint256,uint256,address),uint256)"


def mining() -> MiningContracts:
    found = mining_on(CHAIN_ID)
    assert found is not None
    return found


def open_incentive(world: World, *, reward: int = 365_000 * ETH, days: int = 365, symbol: str = "DAI") -> IncentiveKey:
    """Somebody pays `reward` base units over `days` for liquidity of WETH and USDC, from the next block on."""
    payer = world.new_account(ETH, {symbol: reward})
    return pay_for_liquidity(world, payer, world.tokens[symbol].address, reward=reward, days=days)


def pay_for_liquidity(world: World, payer: LocalAccount, address: str, *, reward: int, days: int) -> IncentiveKey:
    """The same in any token that `payer` has."""
    world.transact(payer, address, "approve(address,uint256)", mining().staker, reward)
    starts = world.timestamp() + 1
    pool = world.pool("v3", "USDC", "WETH", 500).address
    key = IncentiveKey(address, pool, starts, starts + days * DAY, payer.address)
    world.rpc.call("evm_setNextBlockTimestamp", starts)
    world.transact(payer, mining().staker, CREATE, key.parts, reward)
    return key


def leaf(index: int, account: str, amount: int) -> bytes:
    packed = index.to_bytes(32, "big") + bytes.fromhex(account[2:]) + amount.to_bytes(32, "big")
    return bytes(keccak(packed))


def list_claims(world: World, owed: list[tuple[str, int]], *, symbol: str = "DAI") -> list[str]:
    """The chain's list owes the first two of `owed` that much, and holds the money; each claim as its list tells it.

    Its root is part of its code: the same contract over another root takes its place.
    """
    token = world.tokens[symbol].address
    leaves = [leaf(index, account, amount) for index, (account, amount) in enumerate(owed)]
    root = bytes(keccak(min(leaves) + max(leaves)))
    fetched = find_protocol_worlds()["uniswap_mining"].fetch()
    code = bytes.fromhex(fetched.artifact("merkle_distributor", LIST_FILE)["bytecode"].removeprefix("0x"))
    payer = world.new_account(ETH, {symbol: sum(amount for _, amount in owed)})
    made = world.send(payer, None, "0x" + (code + encode_arguments("(address,bytes32)", token, root)).hex())
    listed = str(mining().distributor)
    world.rpc.call("anvil_setCode", listed, world.rpc.call("eth_getCode", made["contractAddress"], "latest"))
    world.transact(payer, token, "transfer(address,uint256)", listed, sum(amount for _, amount in owed))
    return [tell(index, amount, [leaves[1 - index]]) for index, (_, amount) in enumerate(owed)]


def tell(index: int, amount: int, proof: list[bytes]) -> str:
    told: dict[str, Any] = {"index": str(index), "amount": hex(amount), "proof": ["0x" + each.hex() for each in proof]}
    return json.dumps(told)
