"""Uniswap's Universal Router as a target: how it is deployed, and a plan of several calls that ends in it."""

from __future__ import annotations

from typing import Any

from eth_abi.abi import encode

from golem_project.embedded.world.rpc import checksum, encode_arguments
from tests.evm.world import World
from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call

ROUTER_TYPES = "((address,address,address,address,bytes32,bytes32,address,address,address,address))"
EXECUTE = "function execute(bytes commands, bytes[] inputs, uint256 deadline) payable"
V3_EXACT_IN, V2_EXACT_IN = b"\x00", b"\x08"
TO_THE_SENDER = "0x" + "00" * 19 + "01"
ZERO = "0x" + "00" * 20
FAR = 2**40


def router_arguments(chain: World, *, v4_manager: str = ZERO, v4_positions: str = ZERO) -> tuple[Any, ...]:
    """Its constructor's parameters on the local world; without V4 when the world has none."""
    known = chain.contracts
    hashes = [bytes.fromhex(chain.deployments["init_code_hashes"][key][2:]) for key in ("uniswap_v2", "uniswap_v3")]
    return (
        known["permit2"],
        known["weth9"],
        known["uniswap_v2_factory"],
        known["uniswap_v3_factory"],
        *hashes,
        v4_manager,
        known["uniswap_v3_position_manager"],
        v4_positions,
        ZERO,
    )


def deploy_router(chain: World, bytecode: dict[str, str]) -> str:
    """The real contract on the local world, without V4."""
    code = (
        bytecode["UniversalRouter"].removeprefix("0x") + encode_arguments(ROUTER_TYPES, router_arguments(chain)).hex()
    )
    receipt = chain.send(chain.actors.deployer, None, "0x" + code, gas=16_000_000)
    assert receipt["status"] == "0x1"
    return checksum(receipt["contractAddress"])


def encode_v3_exact_in(chain: World, *, amount: int) -> bytes:
    """USDC for WETH through the 0.05% pool, from the sender's own tokens and to the sender."""
    usdc, wrapped = chain.tokens["USDC"].address, chain.contracts["weth9"]
    path = bytes.fromhex(usdc[2:]) + (500).to_bytes(3, "big") + bytes.fromhex(wrapped[2:])
    return encode(["address", "uint256", "uint256", "bytes", "bool"], [TO_THE_SENDER, amount, 1, path, True])


def encode_v2_exact_in(chain: World, *, amount: int) -> bytes:
    """The same through the pair of V2."""
    path = [chain.tokens["USDC"].address, chain.contracts["weth9"]]
    return encode(["address", "uint256", "uint256", "address[]", "bool"], [TO_THE_SENDER, amount, 1, path, True])


def plan_swap(chain: World, router: str, *, amount: int) -> tuple[Call, ...]:
    """Approve Permit2 for `amount` USDC, Permit2 the router, and swap four fifths in V3 and the rest in V2."""
    usdc, permit2 = chain.tokens["USDC"].address, chain.contracts["permit2"]
    in_v3 = amount * 4 // 5
    inputs = [encode_v3_exact_in(chain, amount=in_v3), encode_v2_exact_in(chain, amount=amount - in_v3)]
    return (
        Call(usdc, encode_call("function approve(address spender, uint256 value)", permit2, amount), 0, "approve USDC"),
        Call(
            permit2,
            encode_call(
                "function approve(address token, address spender, uint160 amount, uint48 expiration)",
                *(usdc, router, amount, FAR),
            ),
            0,
            "allow the router",
        ),
        Call(router, encode_call(EXECUTE, V3_EXACT_IN + V2_EXACT_IN, inputs, FAR), 0, "swap USDC for WETH"),
    )
