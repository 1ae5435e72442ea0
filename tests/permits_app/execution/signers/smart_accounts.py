"""EntryPoint v0.7, ZeroDev's Kernel v3.1 and a verifying paymaster on the local chain, in their authors' bytecode.

They come from pinned npm packages at the first run and are not committed. One part is in no package: the ECDSA
validator is a simulated contract of our own with its interface and its rule. All lie at their public addresses.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eth_account import Account
from eth_account.signers.local import LocalAccount

from golem_project.embedded.npm import load_lock
from golem_project.embedded.world import solidity
from golem_project.embedded.world.compiled import compile_sources
from tests.evm.world import World
from tests.tools_app.simulation.protocol_bytecode import fetch_or_skip
from tools_app.chain.abi import checksum, encode_args, encode_call
from tools_app.standards import zerodev_kernel
from tools_app.standards.user_operation import ENTRY_POINT

LOCK = Path(__file__).with_name("zerodev_packages.json")
IMPLEMENTATION = "0xBAC849bB641841b44E965fB01A4Bf5F074f84b4D"
DEPOSIT_TO = "function depositTo(address account) payable"
VALIDATOR = """
// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;
struct PackedUserOperation {
    address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits;
    uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature;
}
/// A simulated contract: it judges as ZeroDev's ECDSA validator does, by one owner of each account.
contract SimulatedEcdsaValidator {
    mapping(address account => address owner) public ecdsaValidatorStorage;
    function onInstall(bytes calldata data) external payable {
        ecdsaValidatorStorage[msg.sender] = address(bytes20(data[0:20]));
    }
    function onUninstall(bytes calldata) external payable { delete ecdsaValidatorStorage[msg.sender]; }
    function isModuleType(uint256 kind) external pure returns (bool) { return kind == 1; }
    function isInitialized(address account) external view returns (bool) {
        return ecdsaValidatorStorage[account] != address(0);
    }
    function validateUserOp(PackedUserOperation calldata op, bytes32 opHash) external payable returns (uint256) {
        bytes32 digest = keccak256(abi.encodePacked("\\x19Ethereum Signed Message:\\n32", opHash));
        bytes calldata s = op.signature;
        if (s.length != 65) return 1;
        address signer = ecrecover(digest, uint8(s[64]), bytes32(s[0:32]), bytes32(s[32:64]));
        return signer != address(0) && signer == ecdsaValidatorStorage[msg.sender] ? 0 : 1;
    }
}
"""


@cache
def load_bytecode() -> dict[str, str]:
    """Name -> creation code."""
    packages = load_lock(LOCK)
    folders = fetch_or_skip(packages.values())
    artifacts = folders["@account-abstraction/contracts"] / "artifacts"
    found = {
        name: json.loads((artifacts / f"{name}.json").read_text())["bytecode"]
        for name in ("EntryPoint", "VerifyingPaymaster")
    }
    source = (folders["@rhinestone/modulekit"] / packages["modulekit"].keep[0]).read_text()
    for name in ("KERNEL_BYTECODE", "KERNEL_FACTORY_BYTECODE"):
        match = re.search(rf'constant {name} =\s*hex"([0-9a-f]+)"', source)
        assert match is not None
        found[name] = "0x" + match.group(1)
    compiler = load_lock(solidity.LOCK_FILE)["solc"]
    compiled = compile_sources(compiler, {"Validator.sol": VALIDATOR}, solidity.SETTINGS)
    found["validator"] = "0x" + compiled["SimulatedEcdsaValidator"].code
    return found


@dataclass(frozen=True)
class SmartAccounts:
    """What an operation needs on one chain."""

    world: World
    deployer: LocalAccount
    paymaster: str
    sponsor: LocalAccount

    def make_account(self, owner: str) -> str:
        """The Kernel account of `owner`, made by its factory."""
        creation = zerodev_kernel.build_creation(owner)
        receipt = self.world.send(self.deployer, creation.to, "0x" + creation.data.hex())
        assert receipt["status"] == "0x1"
        [account] = [
            log["address"] for log in receipt["logs"] if log["address"] != zerodev_kernel.ECDSA_VALIDATOR.lower()
        ][:1]
        return checksum(account)


def deploy_smart_accounts(world: World) -> SmartAccounts:
    """Put the contracts on the chain; inside a test's snapshot they are gone after it."""
    code = load_bytecode()
    deployer, sponsor = world.new_account(10**21), Account.create()
    _move(world, _deploy(world, deployer, code["EntryPoint"]), ENTRY_POINT)
    _move(world, _deploy(world, deployer, code["validator"]), zerodev_kernel.ECDSA_VALIDATOR)
    _construct_at(world, IMPLEMENTATION, code["KERNEL_BYTECODE"] + encode_args(("address",), (ENTRY_POINT,)).hex())
    factory = _deploy(world, deployer, code["KERNEL_FACTORY_BYTECODE"], encode_args(("address",), (IMPLEMENTATION,)))
    _move(world, factory, zerodev_kernel.FACTORY)
    arguments = encode_args(("address", "address"), (ENTRY_POINT, sponsor.address))
    paymaster = _deploy(world, deployer, code["VerifyingPaymaster"], arguments)
    data = "0x" + encode_call(DEPOSIT_TO, paymaster).hex()
    assert world.send(deployer, ENTRY_POINT, data, value=10**19)["status"] == "0x1"
    return SmartAccounts(world, deployer, paymaster, sponsor)


def _deploy(world: World, deployer: LocalAccount, code: str, arguments: bytes = b"") -> str:
    receipt = world.send(deployer, None, code + arguments.hex(), gas=12_000_000)
    assert receipt["status"] == "0x1", "a contract was not deployed"
    return checksum(receipt["contractAddress"])


def _construct_at(world: World, address: str, creation: str) -> None:
    """Run a constructor at `address`: this build of Kernel is longer than a transaction may deploy."""
    world.rpc.call("anvil_setCode", address, creation)
    world.rpc.call("anvil_setCode", address, world.rpc.call("eth_call", {"to": address}, "latest"))


def _move(world: World, made: str, to: str) -> None:
    """The same code at another address: its immutables are in it, and it has no storage yet."""
    world.rpc.call("anvil_setCode", to, world.rpc.call("eth_getCode", made, "latest"))
