"""Where the plans of the local world put our contracts on the machine in this process, without a node."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.fetched_packages import Fetched
from golem_project.embedded.world.protocol_deployer import CALL_GAS, WEI_EACH, Site
from golem_project.embedded.world.rpc import JsonRpc, call_data, encode_arguments, tuple_members
from golem_project.embedded.world.world_table import (
    NativeCoin,
    PoolCodeHashes,
    WorldContracts,
    WorldTable,
    WorldToken,
)
from tests.proof.caged.engines import InProcessEngine
from tests.proof.caged.safe import CagedSafe, Coin, deploy
from tools_app.chain.abi import decode_values

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

_NOT_HERE = "not in this world"
_MORE_COINS = (("DAI", 18), ("USDT", 6))


class _Balances(JsonRpc):
    """The one thing that building plans ask of a node itself: coins for a contract."""

    def __init__(self, engine: InProcessEngine) -> None:
        super().__init__("http://127.0.0.1:1")
        self._engine = engine

    def call(self, method: str, *params: Any) -> Any:
        assert method == "anvil_setBalance", method
        self._engine.give_coins(params[0], int(params[1], 16))


@dataclass
class SiteInProcess(Site):
    """One protocol's building. Everything is mined at once, and what fails is told at once."""

    engine: InProcessEngine = field(default_factory=InProcessEngine)
    minter: LocalAccount | None = None

    def account(self, role: str) -> LocalAccount:
        if role not in self._accounts:
            self._accounts[role] = derive_account(f"{self.key} {role}")
            self.engine.give_coins(self._accounts[role].address, WEI_EACH)
        return self._accounts[role]

    def create(self, code: str | bytes, types: str = "()", *arguments: object, what: str = "a contract") -> str:
        head = code if isinstance(code, bytes) else bytes.fromhex(code.removeprefix("0x"))
        sent = self.engine.send(self.deployer, None, head + encode_arguments(types, *arguments))
        assert sent.succeeded and sent.created, what
        return sent.created

    def transact(
        self,
        to: str,
        signature: str,
        *arguments: object,
        value: int = 0,
        sender: LocalAccount | None = None,
        gas: int = CALL_GAS,
    ) -> None:
        data = bytes.fromhex(call_data(signature, *arguments)[2:])
        sent = self.engine.send(sender or self.deployer, to, data, value)
        assert sent.succeeded, (self.key, signature, arguments, sent.output)

    def read(self, to: str, signature: str, *arguments: object, returns: str) -> tuple[Any, ...]:
        output = self.engine.read(to, bytes.fromhex(call_data(signature, *arguments)[2:]))
        return decode_values(tuple(tuple_members(returns)), output)

    def give(self, symbol: str, amount: int, to: str | None = None) -> None:
        receiver = to or self.deployer.address
        self.transact(self.tokens[symbol], "mint(address,uint256)", receiver, amount, sender=self.minter)

    def flush(self) -> None:
        """Nothing waits."""


def add_coins(caged: CagedSafe) -> None:
    """The tokens of the local world that a caged Safe's test has not, each a dollar."""
    for symbol, decimals in _MORE_COINS:
        types = "constructor(string name, string symbol, uint8 decimals)"
        token = deploy(caged, "SimulatedToken", types, symbol, symbol, decimals)
        caged.coins[symbol] = Coin(symbol, token, caged.coins["USDC"].feed, decimals, caged.coins["USDC"].price)


def open_site(caged: CagedSafe, key: str, **contracts: str) -> SiteInProcess:
    """A place to build one protocol with the tokens and feeds of a caged Safe's test, beside `contracts`."""
    assert isinstance(caged.engine, InProcessEngine)
    tokens = [
        WorldToken(coin.symbol, coin.symbol, coin.address, coin.decimals, simulated=True, feed=coin.feed, traits=())
        for coin in caged.coins.values()
    ]
    known = WorldContracts(**{field.name: contracts.pop(field.name, _NOT_HERE) for field in fields(WorldContracts)})
    assert not contracts, f"the world has no {', '.join(contracts)}"
    hashes = PoolCodeHashes(_NOT_HERE, _NOT_HERE)
    return SiteInProcess(
        key,
        _Balances(caged.engine),
        Fetched({}, {}),
        WorldTable(31337, known, tuple(tokens), NativeCoin("ETH", 18, _NOT_HERE), (), hashes),
        lambda _: None,
        engine=caged.engine,
        minter=caged.deployer,
    )
