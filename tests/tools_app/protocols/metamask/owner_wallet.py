"""An owner's wallet on the local chain: a plain key whose account runs the delegation framework's code (EIP-7702).

It signs as wallets do, with the signing library's own typed data, and packs caveats by hand: nothing of the product
helps it to say what it grants.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eth_abi import encode
from eth_account import Account
from eth_account.signers.local import LocalAccount

from tests.evm.world import CHAIN_ID, World
from tools_app.protocols.metamask.addresses import deployments

DAY = 86_400
ROOT = b"\xff" * 32
USD = 10**6
_TYPES = {
    "Delegation": [
        {"name": "delegate", "type": "address"},
        {"name": "delegator", "type": "address"},
        {"name": "authority", "type": "bytes32"},
        {"name": "caveats", "type": "Caveat[]"},
        {"name": "salt", "type": "uint256"},
    ],
    "Caveat": [{"name": "enforcer", "type": "address"}, {"name": "terms", "type": "bytes"}],
}
Caveats = list[tuple[str, bytes, bytes]]


def at(key: str) -> str:
    """A contract of the framework on the local chain."""
    return (deployments(CHAIN_ID) or {})[key]


def raw(address: str) -> bytes:
    """Its twenty bytes."""
    return bytes.fromhex(address[2:])


@dataclass
class OwnerWallet:
    """One owner with a smart account and some USDC."""

    world: World
    account: LocalAccount = field(default_factory=Account.create)

    @classmethod
    def open(cls, world: World, *, usdc: int = 10_000 * USD) -> OwnerWallet:
        """Funded, and a smart account."""
        wallet = cls(world)
        world.fund(wallet.account.address, 10**18, {"USDC": usdc})
        wallet.run_code(at("delegator"))
        return wallet

    @property
    def address(self) -> str:
        return str(self.account.address)

    def run_code(self, code: str) -> None:
        """Have the account run this code from now on (type 4); the zero address ends it."""
        relayer, rpc = self.world.new_account(10**18), self.world.rpc
        nonce = int(rpc.call("eth_getTransactionCount", self.address, "latest"), 16)
        signed = self.account.sign_authorization({"chainId": CHAIN_ID, "address": code, "nonce": nonce})
        price = 2 * int(rpc.call("eth_gasPrice"), 16)
        transaction: dict[str, Any] = {
            "type": 4,
            "chainId": CHAIN_ID,
            "nonce": 0,
            "to": self.address,
            "value": 0,
            "data": "0x",
            "gas": 200_000,
            "maxFeePerGas": price,
            "maxPriorityFeePerGas": 10**8,
            "authorizationList": [signed],
        }
        sent = relayer.sign_transaction(transaction).raw_transaction
        assert self.world.wait(rpc.call("eth_sendRawTransaction", "0x" + sent.hex()))["status"] == "0x1"

    def now(self) -> int:
        """The newest block's time."""
        return int(self.world.rpc.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)

    def runway(self, *, a_day: int, days: int = 30, starts: int | None = None, nonce: int = 0) -> Caveats:
        """What a careful owner signs: USDC by the day, an end, and a nonce."""
        begins = self.now() if starts is None else starts
        token = raw(self.world.tokens["USDC"].address)
        period = token + b"".join(each.to_bytes(32, "big") for each in (a_day, DAY, begins))
        time = (0).to_bytes(16, "big") + (begins + days * DAY).to_bytes(16, "big")
        return [
            (at("erc20_period"), period, b""),
            (at("timestamp"), time, b""),
            (at("nonce"), nonce.to_bytes(32, "big"), b""),
        ]

    def grant(
        self, to: str, caveats: Caveats, *, authority: bytes = ROOT, salt: int = 7, chain_id: int = CHAIN_ID
    ) -> tuple[Any, ...]:
        """A signed delegation as its contract takes it."""
        message = {
            "delegate": to,
            "delegator": self.address,
            "authority": authority,
            "caveats": [{"enforcer": enforcer, "terms": terms} for enforcer, terms, _ in caveats],
            "salt": salt,
        }
        domain = {
            "name": "DelegationManager",
            "version": "1",
            "chainId": chain_id,
            "verifyingContract": at("manager"),
        }
        signature = self.account.sign_typed_data(domain, _TYPES, message).signature
        return (to, self.address, authority, caveats, salt, bytes(signature))

    def context(self, to: str, caveats: Caveats | None = None, **more: Any) -> str:
        """What the wallet answers: the permission context."""
        given = self.grant(to, self.runway(a_day=25 * USD) if caveats is None else caveats, **more)
        return "0x" + encode(["(address,address,bytes32,(address,bytes,bytes)[],uint256,bytes)[]"], [[given]]).hex()

    def disable(self, to: str, caveats: Caveats) -> None:
        """Take one delegation back."""
        given = self.grant(to, caveats)
        shape = "(address,address,bytes32,(address,bytes,bytes)[],uint256,bytes)"
        self.world.transact(self.account, at("manager"), f"disableDelegation({shape})", given)

    def raise_nonce(self) -> None:
        """Take back everything that was given under the present nonce."""
        self.world.transact(self.account, at("nonce"), "incrementNonce(address)", at("manager"))

    def balance(self) -> int:
        """Base units of USDC."""
        return self.world.rpc.balance_of(self.world.tokens["USDC"].address, self.address)
