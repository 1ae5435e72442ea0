"""USDC as its makers run it (FiatToken 2.1), in place of the local chain's own token, which takes no authorizations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from golem_project.embedded.npm import load_lock
from golem_project.embedded.world.rpc import call_data
from tests.evm.world import World
from tests.tools_app.simulation.protocol_bytecode import fetch_or_skip

LOCK = Path(__file__).with_name("usdc_package.json")
FILE = "eth_defi/abi/centre/FiatTokenV2_1.json"
_SLOTS = 20
TRANSFER = "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"


def put_real_usdc(world: World) -> str:
    """Put the makers' code at the address of the chain's USDC, with nothing of what was there; that address."""
    [folder] = fetch_or_skip(load_lock(LOCK).values()).values()
    usdc, maker = world.tokens["USDC"].address, world.new_account()
    world.rpc.call("anvil_setCode", usdc, json.loads((folder / FILE).read_text())["deployedBytecode"])
    for slot in range(_SLOTS):
        world.rpc.call("anvil_setStorageAt", usdc, f"0x{slot:064x}", f"0x{0:064x}")
    people = [maker.address] * 4
    named = "initialize(string,string,string,uint8,address,address,address,address)"
    world.transact(maker, usdc, named, "USD Coin", "USDC", "USD", 6, *people)
    world.transact(maker, usdc, "initializeV2(string)", "USD Coin")
    world.transact(maker, usdc, "initializeV2_1(address)", world.new_account().address)
    world.transact(maker, usdc, "configureMinter(address,uint256)", maker.address, 10**15)
    world.real_usdc_maker = maker  # type: ignore[attr-defined]
    return usdc


def mint(world: World, account: str, amount: int) -> None:
    """Give somebody USDC."""
    maker: Any = world.real_usdc_maker  # type: ignore[attr-defined]
    world.transact(maker, world.tokens["USDC"].address, "mint(address,uint256)", account, amount)


def carry_out(world: World, payment: dict[str, Any]) -> None:
    """Anybody carries out what was signed."""
    given = payment["payload"]["authorization"]
    signature = bytes.fromhex(payment["payload"]["signature"][2:])
    data = call_data(
        TRANSFER,
        given["from"],
        given["to"],
        int(given["value"]),
        int(given["validAfter"]),
        int(given["validBefore"]),
        bytes.fromhex(given["nonce"][2:]),
        signature[64],
        signature[:32],
        signature[32:64],
    )
    assert world.send(world.new_account(), world.tokens["USDC"].address, data)["status"] == "0x1"
