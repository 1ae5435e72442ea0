"""The people who run the local vault by request: whoever values it, and the safe that settles what is asked of it."""

from __future__ import annotations

from typing import Final

import rlp
from eth_account.signers.local import LocalAccount
from eth_utils.crypto import keccak

from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.protocols.erc4626 import FIRST_WORDS
from golem_project.embedded.world.rpc import checksum, encode_arguments
from tests.evm.world import World
from tools_app.protocols.erc4626.addresses import LOCAL_CHAIN_ID, REQUEST, deployments
from tools_app.standards.erc4626 import Vault

FEES_NONCE: Final = 2
"""The registry of fees is the third contract that its building creates."""
VAULT: Final = (deployments(LOCAL_CHAIN_ID) or {})[REQUEST]


def value(world: World, worth: int) -> None:
    """Whoever values it tells what everything in it is worth: from now on nothing more is taken back."""
    world.transact(derive_account("erc4626 valuer"), VAULT, "updateNewTotalAssets(uint256)", worth)


def settle(world: World, worth: int | None = None, *, what: str = "settleDeposit(uint256)") -> None:
    """Both of them, at what everything is worth (None: what it was); requests of both ways that can be are settled.

    The safe keeps what comes in, and pays what goes out of that.
    """
    if worth is None:
        (worth,) = world.rpc.read(VAULT, "totalAssets()", returns="(uint256)")
    assert isinstance(worth, int)
    value(world, worth)
    world.transact(derive_account("erc4626 safe"), VAULT, what, worth)


def open_listed(world: World, maker: LocalAccount) -> Vault:
    """Another of Lagoon's vaults, of the same code, whose `maker` runs it and keeps a list of those who may ask."""
    # A proxy names the code that it runs, and creates itself behind nine bytes of its own.
    proxy = bytes.fromhex(world.rpc.call("eth_getCode", VAULT, "latest")[2:])
    at = checksum(world.send(maker, None, "0x3d602d80600a3d3981f3" + proxy.hex())["contractAddress"])
    usdc, weth, me = world.tokens["USDC"].address, world.tokens["WETH"].address, maker.address
    first = encode_arguments(FIRST_WORDS, (usdc, "Listed", "LST", me, me, me, me, me, 0, 0, True, 0))
    builder = bytes.fromhex(derive_account("erc4626 deployer").address[2:])
    fees = checksum(keccak(rlp.encode([builder, FEES_NONCE]))[12:])
    world.transact(maker, at, "initialize(bytes,address,address)", first, fees, weth)
    world.transact(maker, usdc, "approve(address,uint256)", at, 2**255)
    return Vault(at, usdc, "Listed", by_request=True)
