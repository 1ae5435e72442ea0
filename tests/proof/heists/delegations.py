"""MetaMask's delegation enforcers beside the cage: the same Safe, the same key, the same calls.

They guard accounts of their own, so a module of ours stands between the manager and the Safe and does as it is told.
One delegation for each function that the key may call: its target, its selector, what of its arguments can be pinned by
their bytes, no coins, and at most 50,000 USD less of each token after it than before; where there is less, a sixth
of what there is, for the enforcer refuses where more may go than is there. The bytecode is the package's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from eth_utils.crypto import keccak

from golem_project.embedded.npm import fetch_packages, load_lock
from permits_app.policy_cage.safe_tx import ENABLE_MODULE
from tests.proof.caged.aave import BORROW, REPAY, SUPPLY, WITHDRAW
from tests.proof.caged.safe import APPROVE, TAKE, USD, deploy, selector
from tests.proof.caged.uniswap import COLLECT, DECREASE, EXACT_IN, INCREASE, MINT_V3
from tests.proof.heists.roles import LOCK, MOST_USD
from tests.proof.heists.scene import DEPOSIT, SET_ADDRESS, TAKE_OUT, Scene
from tools_app.chain.abi import encode_args, encode_call, encode_constructor
from tools_app.toolkit.plan import Call

_DELEGATION: Final = "(address,address,bytes32,(address,bytes,bytes)[],uint256,bytes)"
_HASH: Final = (
    "function getDelegationHash((address delegate, address delegator, bytes32 authority,"
    " (address enforcer, bytes terms, bytes args)[] caveats, uint256 salt, bytes signature) given)"
    " view returns (bytes32 hash)"
)
REDEEM: Final = "function redeemDelegations(bytes[] contexts, bytes32[] modes, bytes[] executions)"
ROOT: Final = b"\xff" * 32
ENFORCERS: Final = (
    "AllowedTargetsEnforcer",
    "AllowedMethodsEnforcer",
    "AllowedCalldataEnforcer",
    "ExactCalldataEnforcer",
    "ValueLteEnforcer",
    "ERC20BalanceChangeEnforcer",
)
# What coins may be sent at once, in wei: about as many dollars as of a token.
MOST_WEI: Final = 16 * 10**18


@dataclass(frozen=True, slots=True)
class Grant:
    """One delegation: a function of a target, and words of its arguments that must be these, by their byte."""

    target: str
    selector: bytes
    pins: tuple[tuple[int, bytes], ...] = ()
    context: bytes = b""

    def covers(self, call: Call) -> bool:
        """Whether this is the delegation to redeem for a call; where none is, any other refuses it."""
        pinned = all(call.data[at : at + len(word)] == word for at, word in self.pins)
        return call.to == self.target and call.data[:4] == self.selector and pinned


def read_code(name: str) -> bytes:
    """Creation code of one contract of the package. Raises EmbeddedError when the package cannot be had."""
    package = load_lock(LOCK)["delegation_abis"]
    text = (fetch_packages([package])[package.name] / f"dist/bytecode/{name}.cjs").read_text()
    [code] = re.findall(r'bytecode = "(0x[0-9a-f]+)"', text)
    return bytes.fromhex(code[2:])


@dataclass
class DelegationFence:
    """A delegation manager with its enforcers, and a delegator that is a module of the scene's Safe."""

    scene: Scene
    manager: str = ""
    delegator: str = ""
    enforcers: dict[str, str] = field(default_factory=dict)
    grants: list[Grant] = field(default_factory=list)

    def __post_init__(self) -> None:
        caged = self.scene.caged
        owner = encode_constructor("constructor(address owner)", caged.deployer.address)
        self.manager = self._create(read_code("DelegationManager") + owner)
        self.enforcers = {name: self._create(read_code(name)) for name in ENFORCERS}
        types = "constructor(address safe, address manager)"
        self.delegator = deploy(caged, "SafeDelegator", types, caged.safe, self.manager)
        assert caged.owner_call(caged.safe, encode_call(ENABLE_MODULE, self.delegator)).succeeded
        [self._domain] = caged.read(self.manager, "function getDomainHash() view returns (bytes32)")
        self.grants = [self._grant(one, salt) for salt, one in enumerate(self._list_functions())]

    def execute(self, calls: Sequence[Call]) -> bytes:
        """What the key sends in place of the calls: all of them in one transaction."""
        contexts = [self._choose(call).context for call in calls]
        packed = [bytes.fromhex(call.to[2:]) + call.value.to_bytes(32, "big") + call.data for call in calls]
        return encode_call(REDEEM, contexts, [bytes(32)] * len(calls), packed)

    def _choose(self, call: Call) -> Grant:
        return next((one for one in self.grants if one.covers(call)), self.grants[0])

    def _list_functions(self) -> list[Grant]:
        scene, caged = self.scene, self.scene.caged
        safe = bytes(12) + bytes.fromhex(caged.safe[2:])
        pool, npm, vault = scene.market.pool, scene.v3.npm, scene.vault
        pinned = [
            (pool, SUPPLY, {2: safe}),
            (pool, BORROW, {4: safe}),
            (pool, REPAY, {3: safe}),
            *((pool, WITHDRAW, {0: _word(caged.coins[symbol].address), 2: safe}) for symbol in ("USDC", "WETH")),
            (npm, MINT_V3, {9: safe}),
            (npm, COLLECT, {1: safe}),
            (vault, DEPOSIT, {1: safe}),
            (vault, TAKE_OUT, {1: safe, 2: safe}),
            # Behind the word that says where the struct begins: its path's place, and the recipient.
            (scene.router, EXACT_IN, {0: (32).to_bytes(32, "big"), 2: safe}),
            (npm, INCREASE, {}),
            (npm, DECREASE, {}),
            (scene.open_router, EXACT_IN, {}),
            (scene.owned, SET_ADDRESS, {}),
            (caged.venue, TAKE, {}),
        ]
        spenders = (pool, npm, vault, scene.router, scene.open_router, caged.venue)
        pinned += [(coin.address, APPROVE, {0: _word(one)}) for coin in caged.coins.values() for one in spenders]
        made = [
            Grant(target, selector(text), tuple((4 + 32 * at, word) for at, word in words.items()))
            for target, text, words in pinned
        ]
        return [*made, Grant(caged.venue, b"")]

    def _grant(self, one: Grant, salt: int) -> Grant:
        """The same with the bytes that redeem it: owners agreed to its hash."""
        caged = self.scene.caged
        key = caged.session.address
        given = (key, self.delegator, ROOT, self._list_caveats(one), salt, b"")
        [digest] = caged.read(self.manager, _HASH, given)
        agreed = keccak(b"\x19\x01" + self._domain + digest)
        sent = caged.engine.send(caged.deployer, self.delegator, encode_call("function agree(bytes32 hash)", agreed))
        assert sent.succeeded
        return Grant(one.target, one.selector, one.pins, encode_args((f"{_DELEGATION}[]",), [[given]]))

    def _list_caveats(self, one: Grant) -> list[tuple[str, bytes, bytes]]:
        coins = self.scene.caged.coins.values()
        asked = [("AllowedTargetsEnforcer", bytes.fromhex(one.target[2:]))]
        if one.selector:
            asked.append(("AllowedMethodsEnforcer", one.selector))
            asked.append(("ValueLteEnforcer", bytes(32)))
        else:
            asked.append(("ExactCalldataEnforcer", b""))
            asked.append(("ValueLteEnforcer", MOST_WEI.to_bytes(32, "big")))
        asked += [("AllowedCalldataEnforcer", at.to_bytes(32, "big") + word) for at, word in one.pins]
        safe = bytes.fromhex(self.scene.caged.safe[2:])
        for coin in coins:
            most = MOST_USD * USD * 10 ** (coin.decimals + 8) // (coin.price * USD)
            held = self.scene.caged.balance(coin.symbol)
            most = most if held > most else held // 6
            terms = b"\x01" + bytes.fromhex(coin.address[2:]) + safe + most.to_bytes(32, "big")
            asked.append(("ERC20BalanceChangeEnforcer", terms))
        return [(self.enforcers[name], terms, b"") for name, terms in asked]

    def _create(self, code: bytes) -> str:
        caged = self.scene.caged
        sent = caged.engine.send(caged.deployer, None, code)
        assert sent.succeeded and sent.created
        return sent.created


def _word(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])
