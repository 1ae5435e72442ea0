"""The real Morpho Blue beside a caged Safe: a market at the price of the feeds, and one whose price the thief tells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from eth_utils.crypto import keccak

from golem_project.embedded.world.protocols import morpho
from golem_project.embedded.world.rpc import encode_arguments
from permits_app.policy_cage.contract import Rule, conditional_call_rules, spender_rule, valuer_rule
from permits_app.policy_cage.suggested_conditions import suggest_conditions
from tests.proof.caged.safe import APPROVE, USD, CagedSafe, deploy, selector
from tests.proof.caged.uniswap import WHOLE
from tools_app.chain.abi import encode_call
from tools_app.protocols.morpho_blue.protocol import PROTOCOL
from tools_app.toolkit.plan import Call

_NAMES = "(address loanToken, address collateralToken, address oracle, address irm, uint256 lltv) params"
LEND = f"function supply({_NAMES}, uint256 assets, uint256 shares, address onBehalf, bytes data)"
TAKE_BACK = f"function withdraw({_NAMES}, uint256 assets, uint256 shares, address onBehalf, address receiver)"
PLEDGE = f"function supplyCollateral({_NAMES}, uint256 assets, address onBehalf, bytes data)"
RELEASE = f"function withdrawCollateral({_NAMES}, uint256 assets, address onBehalf, address receiver)"
BORROW = f"function borrow({_NAMES}, uint256 assets, uint256 shares, address onBehalf, address receiver)"
REPAY = f"function repay({_NAMES}, uint256 assets, uint256 shares, address onBehalf, bytes data)"
SEIZE = f"function liquidate({_NAMES}, address borrower, uint256 seizedAssets, uint256 repaidShares, bytes data)"
FLASH_LOAN = "function flashLoan(address token, uint256 assets, bytes data)"
AUTHORIZE = "function setAuthorization(address authorized, bool newIsAuthorized)"
POSITION = "function position(bytes32 id, address user) view returns (uint256 shares, uint128 owed, uint128 pledged)"
MARKET = (
    "function market(bytes32 id) view returns (uint128 supplyAssets, uint128 supplyShares, uint128 borrowAssets,"
    " uint128 borrowShares, uint128 lastUpdate, uint128 fee)"
)
SET_PRICE = "function setPrice(uint256 price)"
_CREATE = f"function createMarket({_NAMES})"
LLTV = 86 * 10**16
LENT_USD = 3_000_000
TOO_DEAR = 10
"""As many times its price the thief's market takes ether for."""


@dataclass(frozen=True)
class Terms:
    """What makes a market at Morpho."""

    loan: str
    collateral: str
    oracle: str
    irm: str

    @property
    def values(self) -> tuple[Any, ...]:
        """As Morpho is told them."""
        return (self.loan, self.collateral, self.oracle, self.irm, LLTV)

    @property
    def id(self) -> bytes:
        """The number of the market."""
        return keccak(encode_arguments("(address,address,address,address,uint256)", *self.values))


class MorphoMarkets:
    """`honest` lends dollars against ether and is valued; in `strange` the thief lends, owes and tells the price."""

    def __init__(self, caged: CagedSafe) -> None:
        self.caged = caged
        compiled = morpho.compile_contracts(morpho.WORLD.fetch())
        self._codes = {name: compiled[name].code for name in ("Morpho", "IrmMock", "OracleMock")}
        me = caged.deployer.address
        self.at, irm = self._create("Morpho", "(address)", me), self._create("IrmMock")
        self._act(self.at, "function enableIrm(address irm)", irm)
        self._act(self.at, "function enableLltv(uint256 lltv)", LLTV)
        usdc, weth = (caged.coins[symbol].address for symbol in ("USDC", "WETH"))
        self.honest = Terms(usdc, weth, self._create("OracleMock"), irm)
        self.strange = replace(self.honest, oracle=self._create("OracleMock"))
        self.price = caged.coins["WETH"].price * 10**16
        self._act(self.honest.oracle, SET_PRICE, self.price)
        self._act(self.strange.oracle, SET_PRICE, self.price * TOO_DEAR)
        for terms in (self.honest, self.strange):
            self._act(self.at, _CREATE, terms.values)
        caged.mint("USDC", me, LENT_USD * USD)
        self._act(usdc, APPROVE, self.at, LENT_USD * USD)
        self._act(self.at, LEND, self.honest.values, LENT_USD * USD, 0, me, b"")
        self._set_trap()
        self.valuer = deploy(caged, "MarketValuer", "constructor(address, bytes32[])", self.at, [self.honest.id])

    def _set_trap(self) -> None:
        """The thief lends itself dollars against too little, so that whoever liquidates pays it for next to nothing."""
        caged, thief, strange = self.caged, self.caged.stranger, self.strange.values
        dollars = caged.coins["WETH"].price * TOO_DEAR * 85 // 10**10 * USD
        caged.mint("USDC", thief.address, dollars)
        caged.mint("WETH", thief.address, WHOLE)
        for token, signature, *asked in (
            (self.honest.loan, LEND, dollars, 0, thief.address, b""),
            (self.honest.collateral, PLEDGE, WHOLE, thief.address, b""),
        ):
            self._act(token, APPROVE, self.at, 2**255, sender=thief)
            self._act(self.at, signature, strange, *asked, sender=thief)
        self._act(self.at, BORROW, strange, dollars, 0, thief.address, thief.address, sender=thief)
        self._act(self.strange.oracle, SET_PRICE, self.price * TOO_DEAR * 95 // 100)

    def rules(self) -> list[Rule]:
        """What a new cage is suggested, word for word."""
        [contract] = PROTOCOL.contracts
        rules = [valuer_rule(self.at, self.valuer), spender_rule(self.at, most_micro_usd=50_000 * USD)]
        for text in contract.functions:
            places = (contract.own.get(text, ()), contract.tokens.get(text, ()), contract.empty.get(text, ()))
            conditions = suggest_conditions(text, own=places[0], tokens=places[1], empty=places[2])
            rules += conditional_call_rules(self.at, selector(f"function {text}"), conditions)
        return rules

    def tell_price(self, price: int) -> None:
        """What the thief says that ether costs."""
        self._act(self.strange.oracle, SET_PRICE, price)

    def owing(self, who: str) -> list[tuple[str, bytes]]:
        """How somebody comes to owe at the honest market what may be liquidated: by a price that falls afterwards."""
        weth, honest = self.honest.collateral, self.honest.values
        dollars = self.caged.coins["WETH"].price * 85 // 10**10 * USD
        return [
            (weth, encode_call(APPROVE, self.at, WHOLE)),
            (self.at, encode_call(PLEDGE, honest, WHOLE, who, b"")),
            (self.at, encode_call(BORROW, honest, dollars, 0, who, who)),
            (self.honest.oracle, encode_call(SET_PRICE, self.price * 98 // 100)),
        ]

    def call(self, signature: str, *args: Any) -> Call:
        """One call to Morpho."""
        return self.caged.call(self.at, signature, *args)

    def _create(self, name: str, types: str = "()", *values: Any) -> str:
        data = bytes.fromhex(self._codes[name].removeprefix("0x"))
        data += encode_arguments(types, *values) if values else b""
        created = self.caged.engine.send(self.caged.deployer, None, data).created
        assert created
        return created

    def _act(self, to: str, signature: str, *args: Any, sender: Any = None) -> None:
        sent = self.caged.engine.send(sender or self.caged.deployer, to, encode_call(signature, *args))
        assert sent.succeeded, f"{signature}: {sent.output.hex()}"
