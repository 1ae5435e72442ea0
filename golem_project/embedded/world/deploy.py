"""Deploys the contracts of the local world, always in the same order, so that their addresses never change."""

from __future__ import annotations

from dataclasses import dataclass, field

from golem_project.embedded.world.accounts import Actors
from golem_project.embedded.world.artifacts import Artifacts
from golem_project.embedded.world.history_writer import Ledger
from golem_project.embedded.world.rpc import encode_arguments
from golem_project.embedded.world.seed_data import FEED_DECIMALS, NATIVE_PRICE, TOKENS
from golem_project.embedded.world.solidity import load_contract

PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11"
# Follows from its code and the factory's address: `tools_app/standards/deadline_contract.py` computes it.
DEADLINE = "0xA2527f3A3ce04ba3222bDEf2d12dEE36d9bdF5CB"
V3_PERIPHERY = "artifacts/contracts"
LOWEST_V3_FEE = (100, 1)
SAFE_FILES = {
    "safe": "Safe.sol/Safe.json",
    "safe_proxy_factory": "proxies/SafeProxyFactory.sol/SafeProxyFactory.json",
    "safe_fallback_handler": "handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler.json",
    "safe_multi_send": "libraries/MultiSend.sol/MultiSend.json",
    "safe_multi_send_call_only": "libraries/MultiSendCallOnly.sol/MultiSendCallOnly.json",
}


@dataclass
class Deployed:
    """Where everything is; addresses are checksummed."""

    contracts: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)
    feeds: dict[str, str] = field(default_factory=dict)


def deploy_contracts(ledger: Ledger, actors: Actors, artifacts: Artifacts) -> Deployed:
    """Protocols, then tokens, then feeds. New things go to the end: an address follows from its place in this order."""
    deployed = Deployed()
    deploy_protocols(ledger, actors, artifacts, deployed)
    install_singletons(ledger, artifacts, deployed)
    deploy_tokens(ledger, actors, deployed)
    deploy_feeds(ledger, actors, deployed)
    deploy_safe(ledger, actors, artifacts, deployed)
    return deployed


def deploy_protocols(ledger: Ledger, actors: Actors, artifacts: Artifacts, deployed: Deployed) -> None:
    """WETH9, Uniswap V2 and V3 with their routers, quoter and position manager."""
    contracts = deployed.contracts

    def create(key: str, code: bytes, types: str = "()", *arguments: object) -> str:
        data = "0x" + (code + encode_arguments(types, *arguments)).hex()
        contracts[key] = ledger.send(actors.deployer, None, data, what=f"deploying {key}")
        return contracts[key]

    def periphery(file: str) -> bytes:
        return artifacts.creation_code("uniswap_v3_periphery", f"{V3_PERIPHERY}/{file}")

    weth = create("weth9", artifacts.creation_code("weth", "build/contracts/WETH9.json"))
    v2_factory_code = artifacts.creation_code("uniswap_v2_core", "build/UniswapV2Factory.json")
    v2_factory = create("uniswap_v2_factory", v2_factory_code, "(address)", actors.deployer.address)
    v2_router_code = artifacts.creation_code("uniswap_v2_periphery", "build/UniswapV2Router02.json")
    create("uniswap_v2_router", v2_router_code, "(address,address)", v2_factory, weth)
    v3_factory_file = "artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json"
    v3_factory = create("uniswap_v3_factory", artifacts.creation_code("uniswap_v3_core", v3_factory_file))
    ledger.transact(actors.deployer, v3_factory, "enableFeeAmount(uint24,int24)", *LOWEST_V3_FEE)
    create("uniswap_v3_swap_router", periphery("SwapRouter.sol/SwapRouter.json"), "(address,address)", v3_factory, weth)
    library = create("uniswap_v3_nft_descriptor", periphery("libraries/NFTDescriptor.sol/NFTDescriptor.json"))
    descriptor_file = "NonfungibleTokenPositionDescriptor.sol/NonfungibleTokenPositionDescriptor.json"
    descriptor_code = artifacts.linked_code(
        "uniswap_v3_periphery", f"{V3_PERIPHERY}/{descriptor_file}", {"NFTDescriptor": library}
    )
    descriptor = create(
        "uniswap_v3_position_descriptor", descriptor_code, "(address,bytes32)", weth, b"ETH".ljust(32, b"\0")
    )
    manager = create(
        "uniswap_v3_position_manager",
        periphery("NonfungiblePositionManager.sol/NonfungiblePositionManager.json"),
        "(address,address,address)",
        v3_factory,
        weth,
        descriptor,
    )
    create("uniswap_v3_quoter_v2", periphery("lens/QuoterV2.sol/QuoterV2.json"), "(address,address)", v3_factory, weth)
    create(
        "uniswap_v3_swap_router_02",
        artifacts.creation_code("uniswap_swap_router", f"{V3_PERIPHERY}/SwapRouter02.sol/SwapRouter02.json"),
        "(address,address,address,address)",
        v2_factory,
        v3_factory,
        manager,
        weth,
    )


def install_singletons(ledger: Ledger, artifacts: Artifacts, deployed: Deployed) -> None:
    """Permit2, Multicall3 and `Deadline` at the addresses they have on every chain: the node is told to put the code
    there. Nobody has the keys of the deployers; the code of the last two is what their creation code returns."""
    ledger.rpc.call("anvil_setCode", PERMIT2, artifacts.permit2_runtime())
    runtime = ledger.rpc.call("eth_call", {"data": artifacts.multicall3_creation_code()}, "latest")
    ledger.rpc.call("anvil_setCode", MULTICALL3, runtime)
    code = ledger.rpc.call("eth_call", {"data": load_contract("Deadline").bytecode}, "latest")
    ledger.rpc.call("anvil_setCode", DEADLINE, code)
    deployed.contracts["permit2"] = PERMIT2
    deployed.contracts["multicall3"] = MULTICALL3


def deploy_tokens(ledger: Ledger, actors: Actors, deployed: Deployed) -> None:
    """Our own tokens; WETH is the real contract."""
    for token in TOKENS:
        if token.contract is None:
            deployed.tokens[token.symbol] = deployed.contracts["weth9"]
            continue
        arguments = encode_arguments("(string,string,uint8)", token.name, token.symbol, token.decimals)
        data = load_contract(token.contract).bytecode + arguments.hex()
        deployed.tokens[token.symbol] = ledger.send(actors.deployer, None, data, what=f"deploying {token.symbol}")


def deploy_feeds(ledger: Ledger, actors: Actors, deployed: Deployed) -> None:
    """One US dollar feed for the native coin (WETH shares it) and one for each token of ours."""
    prices = {"ETH": NATIVE_PRICE, **{token.symbol: token.price for token in TOKENS if token.contract}}
    for symbol, price in prices.items():
        arguments = encode_arguments("(string,uint8,int256)", f"{symbol} / USD", FEED_DECIMALS, price)
        data = load_contract("SimulatedFeed").bytecode + arguments.hex()
        deployed.feeds[symbol] = ledger.send(actors.deployer, None, data, what=f"deploying the {symbol} feed")
    deployed.feeds["WETH"] = deployed.feeds["ETH"]


def deploy_safe(ledger: Ledger, actors: Actors, artifacts: Artifacts, deployed: Deployed) -> None:
    """Safe 1.5.0: the copy that every account points at, its factory, its fallback handler, its multi-sends."""
    for key, file in SAFE_FILES.items():
        code = artifacts.creation_code("safe", f"build/artifacts/contracts/{file}")
        deployed.contracts[key] = ledger.send(actors.deployer, None, "0x" + code.hex(), what=f"deploying {key}")
