"""Zodiac Roles v2 beside the cage: the same Safe, the same key, the same calls with the same conditions on them.

The bytecode is that of the pinned npm package, which is compiled without regard to size: it needs a node that takes
code of any size (`ANY_SIZE`), and is not that of the deployments. What Roles cannot ask, the tokens of a packed path,
is left free as its owners would have to leave it; what a right may be worth is an allowance of 50,000 USD a day for
each token.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from golem_project.embedded.npm import fetch_packages, load_lock
from golem_project.embedded.world.node import run_node
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.embedded.world.saved_world import find_anvil
from permits_app.policy_cage.safe_tx import ENABLE_MODULE
from tests.proof.caged.aave import BORROW, REPAY, SUPPLY, WITHDRAW
from tests.proof.caged.engines import COINS_WEI, NodeEngine, make_account
from tests.proof.caged.safe import APPROVE, TAKE, USD, selector
from tests.proof.caged.uniswap import COLLECT, DECREASE, EXACT_IN, INCREASE, MINT_V3
from tests.proof.heists.scene import DEPOSIT, SET_ADDRESS, TAKE_OUT, Scene
from tools_app.chain.abi import encode_call, encode_constructor
from tools_app.toolkit.plan import Call

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

ANY_SIZE = "--disable-code-size-limit"
LOCK = Path(__file__).with_name("packages.json")
# ERC-2470: Roles keeps its conditions as code that this factory makes.
FACTORY = "0xce0042B868300000d44A59004Da54A005ffdcf9f"
FACTORY_CODE = (
    "0x6080604052348015600f57600080fd5b506004361060285760003560e01c80634af63f0214602d575b600080fd5b60cf60048036036040811015"
    "604157600080fd5b810190602081018135640100000000811115605b57600080fd5b820183602082011115606c57600080fd5b8035906020019184"
    "6001830284011164010000000083111715608d57600080fd5b91908080601f01602080910402602001604051908101604052809392919081815260"
    "2001838380828437600092019190915250929550509135925060eb915050565b604080516001600160a01b03909216825251908190036020019"
    "0f35b6000818351602085016000f5939250505056fea26469706673582212206b44f8a82cb6b156bfcc3dc6aadd6df4eefd204bc928a4397fd15"
    "dacf6d5320564736f6c63430006020033"
)
ROLE = b"golem".ljust(32, b"\0")
EXECUTE = (
    "function execTransactionWithRole(address to, uint256 value, bytes data, uint8 operation, bytes32 roleKey,"
    " bool shouldRevert)"
)
SCOPE = (
    "function scopeFunction(bytes32 roleKey, address target, bytes4 selector,"
    " (uint8 parent, uint8 paramType, uint8 operator, bytes compValue)[] conditions, uint8 options)"
)
ALLOWANCE = (
    "function setAllowance(bytes32 key, uint128 balance, uint128 maxRefill, uint128 refill, uint64 period,"
    " uint64 timestamp)"
)
# Kinds of parameters and what is asked of them, as the contract numbers them.
STATIC, DYNAMIC, TUPLE, CALLDATA = 1, 2, 3, 5
PASS, OR, MATCHES, IS_AVATAR, EQUALS, WITHIN = 0, 2, 5, 15, 16, 28
NO_OPTIONS, MAY_SEND = 0, 1
DAY = 86_400
MOST_USD = 50_000
Flat = tuple[int, int, int, bytes]
ROOT: Flat = (0, CALLDATA, MATCHES, b"")


def read_codes() -> dict[str, str]:
    """Creation code by contract, libraries unlinked. Raises EmbeddedError when the package cannot be had."""
    package = load_lock(LOCK)["zodiac_roles"]
    text = (fetch_packages([package])[package.name] / package.keep[0]).read_text()
    codes = dict(re.findall(r'^const (_bytecode(?:\$\d+)?) = "(0x[^"]+)";', text, re.MULTILINE))
    found = {}
    for name in ("Integrity", "Packer", "Roles"):
        factory = text[text.index(f"var {name}__factory = class") :]
        [variable] = re.findall(r"static bytecode = (_bytecode(?:\$\d+)?);", factory)[:1]
        found[name] = codes[variable][2:]
    return found


def deploy_roles(scene: Scene, *, owner: str) -> str:
    """A Roles contract that is a module of the scene's Safe; nobody has a role yet."""
    caged = scene.caged
    roles = deploy_roles_at(scene.engine, caged.deployer, owner=owner, safe=caged.safe)[-1]
    assert caged.owner_call(caged.safe, encode_call(ENABLE_MODULE, roles)).succeeded
    return roles


def deploy_roles_at(engine: NodeEngine, deployer: LocalAccount, *, owner: str, safe: str) -> list[str]:
    """Both libraries, and a Roles contract that acts for a Safe; on a node that takes code of any size."""
    codes, made = read_codes(), []
    engine.rpc.call("anvil_setCode", FACTORY, FACTORY_CODE)
    code = codes["Roles"]
    # The placeholders are hashes of the libraries' names: Integrity's and Packer's.
    for placeholder, name in (
        ("__$2cd9b773a3c3e0b461f7ad54b09f46e6ae$__", "Integrity"),
        ("__$1416e18a31f8412bde5440018f19e21267$__", "Packer"),
    ):
        library = engine.send(deployer, None, bytes.fromhex(codes[name])).created
        assert library
        made.append(library)
        code = code.replace(placeholder, library[2:].lower())
    arguments = encode_constructor("constructor(address owner, address avatar, address target)", owner, safe, safe)
    sent = engine.send(deployer, None, bytes.fromhex(code) + arguments)
    assert sent.succeeded and sent.created, "Roles was not deployed: the node must take code of any size"
    return [*made, sent.created]


def install_roles(rpc: JsonRpc, engine: NodeEngine, *, safe: str) -> str:
    """A Roles contract that a Safe owns and that acts for it, on a node that takes code of the usual size alone: it is
    made on another one, and its code put there.
    """
    deployer = make_account(f"roles of {safe}")
    with tempfile.TemporaryDirectory(prefix="golem-roles-") as folder:
        with run_node(find_anvil(), Path(folder), ANY_SIZE) as url:
            other = JsonRpc(url)
            made_on = NodeEngine(other)
            made_on.give_coins(deployer.address, COINS_WEI)
            places = deploy_roles_at(made_on, deployer, owner=safe, safe=safe)
            codes = {place: other.call("eth_getCode", place, "latest") for place in (FACTORY, *places)}
            other.close()
    for place, code in codes.items():
        rpc.call("anvil_setCode", place, code)
    engine.give_coins(deployer.address, COINS_WEI)
    arguments = encode_constructor("constructor(address owner, address avatar, address target)", safe, safe, safe)
    assert engine.send(deployer, places[-1], encode_call("function setUp(bytes initParams)", arguments)).succeeded
    return places[-1]


@dataclass
class RolesFence:
    """A Roles contract that is a module of the scene's Safe."""

    scene: Scene
    address: str = ""

    def __post_init__(self) -> None:
        caged = self.scene.caged
        self.address = deploy_roles(self.scene, owner=caged.deployer.address)
        self._act(
            "function assignRoles(address module, bytes32[] keys, bool[] are)", caged.session.address, [ROLE], [True]
        )
        self._scope()

    def execute(self, call: Call) -> bytes:
        """What the key sends in place of the call."""
        return encode_call(EXECUTE, call.to, call.value, call.data, 0, ROLE, True)

    def _act(self, text: str, *args: object) -> None:
        caged = self.scene.caged
        sent = caged.engine.send(caged.deployer, self.address, encode_call(text, *args))
        assert sent.succeeded, f"{text}: {sent.output.hex()}"

    def _scope(self) -> None:
        scene, caged = self.scene, self.scene.caged
        pool, npm, vault, usdc = scene.market.pool, scene.v3.npm, scene.vault, caged.coins["USDC"].address
        tokens = [coin.address for coin in caged.coins.values()]
        for target in (pool, npm, vault, scene.router, scene.open_router, scene.owned, caged.venue, *tokens):
            self._act("function scopeTarget(bytes32 key, address target)", ROLE, target)
        anything, mine = (0, STATIC, PASS, b""), (0, STATIC, IS_AVATAR, b"")
        self._ask(pool, SUPPLY, [anything, anything, mine])
        self._ask(pool, BORROW, [anything, anything, anything, anything, mine])
        self._ask(pool, REPAY, [anything, anything, anything, mine])
        self._ask(pool, WITHDRAW, *_one_of([usdc, caged.coins["WETH"].address], [anything, mine]))
        self._ask(npm, MINT_V3, [(0, TUPLE, MATCHES, b"")], [(1, *anything[1:])] * 9 + [(1, *mine[1:])])
        self._ask(npm, COLLECT, [(0, TUPLE, MATCHES, b"")], [(1, *anything[1:]), (1, *mine[1:])])
        self._ask(vault, DEPOSIT, [anything, mine])
        self._ask(vault, TAKE_OUT, [anything, mine, mine])
        path = [(1, DYNAMIC, PASS, b""), (1, *mine[1:]), (1, *anything[1:]), (1, *anything[1:])]
        self._ask(scene.router, EXACT_IN, [(0, TUPLE, MATCHES, b"")], path)
        spenders = [pool, npm, vault, scene.router, scene.open_router, caged.venue]
        for index, coin in enumerate(caged.coins.values()):
            most = MOST_USD * USD * 10 ** (coin.decimals + 8) // (coin.price * USD)
            key = (index + 1).to_bytes(32, "big")
            self._act(ALLOWANCE, key, most, most, most, DAY, 0)
            self._ask(coin.address, APPROVE, *_one_of(spenders, [(0, STATIC, WITHIN, key)]))
        free = [(npm, selector(INCREASE)), (npm, selector(DECREASE)), (scene.open_router, selector(EXACT_IN))]
        free += [(scene.owned, selector(SET_ADDRESS)), (caged.venue, selector(TAKE)), (caged.venue, bytes(4))]
        for target, four in free:
            options = MAY_SEND if four == bytes(4) else NO_OPTIONS
            text = "function allowFunction(bytes32 key, address target, bytes4 selector, uint8 options)"
            self._act(text, ROLE, target, four, options)

    def _ask(self, target: str, text: str, parameters: list[Flat], inner: list[Flat] | None = None) -> None:
        self._act(SCOPE, ROLE, target, selector(text), [ROOT, *parameters, *(inner or [])], NO_OPTIONS)


def _one_of(addresses: list[str], others: list[Flat]) -> tuple[list[Flat], list[Flat]]:
    """Conditions on a first parameter that is one of several, and on those behind it; breadth first."""
    choices: list[Flat] = [(1, STATIC, EQUALS, bytes(12) + bytes.fromhex(address[2:])) for address in addresses]
    return [(0, 0, OR, b""), *others], choices
