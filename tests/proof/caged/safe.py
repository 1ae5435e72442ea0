"""A Safe with a cage on an engine, and a venue that does whatever a test tells it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eth_typing import Hash32

from golem_project.embedded.world.artifacts import fetch_artifacts
from golem_project.embedded.world.deploy import PERMIT2, SAFE_FILES
from golem_project.embedded.world.solidity import load_contract
from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import AssetRule, Limit, Rule
from permits_app.policy_cage.safe_tx import (
    CREATE_PROXY,
    ENABLE_MODULE,
    NONCE,
    SafeTx,
    encode_exec_transaction,
    encode_setup,
    hash_safe_tx,
    join_signatures,
)
from tests.proof.caged.engines import CHAIN_ID, COINS_WEI, Engine, Sent, make_account
from tools_app.chain.abi import decode_output, encode_call, encode_constructor
from tools_app.core.typed_numbers import read_typed_units
from tools_app.toolkit.plan import Call

if TYPE_CHECKING:
    from eth_account.signers.local import LocalAccount

USD = 10**6
FEED_DECIMALS = 8
MAX_AGE = 3_600
DEFAULT_LIMITS: dict[Limit, int] = {
    Limit.MAX_LOSS_BPS: 300,
    Limit.MAX_WINDOW_LOSS_BPS: 300,
    Limit.MAX_POSITION_BPS: 2_500,
    Limit.MAX_CONCENTRATION_BPS: 3_000,
    Limit.MAX_DRAWDOWN_BPS: 1_300,
    Limit.MIN_COLLATERAL_RATIO_BPS: 12_500,
    Limit.MIN_REBALANCE_INTERVAL_SECONDS: 3_600,
    Limit.MAX_REBALANCES_PER_DAY: 24,
    Limit.MAX_ASSETS: 10,
    Limit.MAX_GAS_TOP_UP_WEI: 10**17,
    Limit.ALLOWS_ARBITRARY_CALLS: 0,
    Limit.PHASE: 0,
    Limit.HIGH_WATER_MARK_MICRO_USD: 100_000 * USD,
    Limit.MAX_SESSION_SECONDS: 30 * 86_400,
    Limit.MAX_SESSION_OPERATIONS: 1_000_000,
    Limit.MAX_SESSION_BUDGET_MICRO_USD: 10**9 * USD,
    Limit.MIN_COVER_BPS: 11_500,
    Limit.MIN_RANGE_TICKS: 500,
    Limit.MAX_POOLED_PER_DAY_BPS: 2_500,
}
SAFE_CALLS = ("nonce()", "setup")
TAKE = "function take(address token, uint256 amount)"
GIVE = "function give(address token, address to, uint256 amount)"
TRADE = "function trade(address tokenIn, uint256 amountIn, address tokenOut, uint256 amountOut)"
SET_POSITION = "function setPosition(uint256 gross, uint256 debt, uint256 largest, uint256 newest)"
APPROVE = "function approve(address spender, uint256 amount)"
TRANSFER = "function transfer(address to, uint256 amount)"
MINT = "function mint(address to, uint256 amount)"
BALANCE = "function balanceOf(address account) view returns (uint256)"
VENUE_CALLS = (TAKE, TRADE, SET_POSITION)


@dataclass(frozen=True, slots=True)
class Coin:
    """A token of the test: its scale and its feed."""

    symbol: str
    address: str
    feed: str
    decimals: int
    price: int

    def units(self, amount: str | int) -> int:
        """Base units of a decimal amount in whole units, exactly."""
        return read_typed_units(str(amount), self.decimals)

    def value(self, amount: int) -> int:
        """Micro-USD of base units, as the cage computes it."""
        return amount * self.price * USD // 10 ** (self.decimals + FEED_DECIMALS)


@dataclass
class CagedSafe:
    """Everything of one test: the Safe (2 of 3 owners), its cage, the session key, the venue and its allies."""

    engine: Engine
    owners: tuple[LocalAccount, ...]
    session: LocalAccount
    guardian: LocalAccount
    stranger: LocalAccount
    deployer: LocalAccount
    safe: str = ""
    cage: str = ""
    venue: str = ""
    lender: str = ""
    handler: str = ""
    coins: dict[str, Coin] = field(default_factory=dict)
    contracts: dict[str, str] = field(default_factory=dict)

    # ---- doing ---------------------------------------------------------------------------------------------------

    def execute(self, *calls: Call, key: LocalAccount | None = None) -> Sent:
        """A batch of the session key."""
        return self.engine.send(key or self.session, self.cage, cage_contract.encode_execute(calls))

    def error(self, sent: Sent) -> tuple[str | None, dict[str, Any]]:
        """The cage's error of a refused transaction, by name."""
        assert not sent.succeeded, "it went through"
        reason = cage_contract.decode_cage_error(sent.output)
        return reason.name, dict(reason.args)

    def owner_call(self, to: str, data: bytes, value: int = 0) -> Sent:
        """The owners' transaction: two of three sign it, a stranger relays it."""
        nonce = int(self.read(self.safe, NONCE)[0])
        tx = SafeTx(to=to, data=data, value=value, nonce=nonce)
        digest = hash_safe_tx(tx, safe=self.safe, chain_id=CHAIN_ID)
        signatures = {str(owner.address): sign_digest(owner, digest) for owner in self.owners[:2]}
        return self.engine.send(
            self.stranger, self.safe, encode_exec_transaction(tx, signatures=join_signatures(signatures))
        )

    def propose(self, *rules: Rule) -> Sent:
        """The owners change rules; a refusal of the cage shows as a failed Safe transaction."""
        return self.owner_call(self.cage, cage_contract.encode_propose(rules))

    def change(self, *rules: Rule) -> None:
        """Propose and, after the longest delay, apply."""
        assert self.propose(*rules).succeeded
        pending = [rule for rule in rules if self.rule(rule) != rule.value]
        if pending:
            self.engine.advance(48 * 3_600)
            # What was proposed together is applied together.
            data = cage_contract.encode_apply_change(pending[0].kind, pending[0].key)
            sent = self.engine.send(self.stranger, self.cage, data)
            assert sent.succeeded, self.error(sent)
        assert all(self.rule(rule) == rule.value for rule in rules)

    def read(self, to: str, signature: str, *args: Any, sender: str | None = None) -> tuple[Any, ...]:
        return decode_output(signature, self.engine.read(to, encode_call(signature, *args), sender))

    def ask(self, name: str, *args: Any) -> Any:
        """One view of the cage; a single value comes alone."""
        values = self.read(self.cage, FUNCTIONS[name], *args)
        return values[0] if len(values) == 1 else values

    def rule(self, rule: Rule) -> int:
        return int(self.ask("rules", int(rule.kind), rule.key))

    def balance(self, symbol: str, account: str | None = None) -> int:
        return int(self.read(self.coins[symbol].address, BALANCE, account or self.safe)[0])

    def mint(self, symbol: str, to: str, amount: int) -> None:
        assert self.engine.send(self.deployer, self.coins[symbol].address, encode_call(MINT, to, amount)).succeeded

    def set_price(self, symbol: str, price: int) -> None:
        data = encode_call("function setAnswer(int256 answer)", price)
        assert self.engine.send(self.deployer, self.coins[symbol].feed, data).succeeded

    # ---- calls ---------------------------------------------------------------------------------------------------

    def approve(self, symbol: str, amount: int, spender: str | None = None) -> Call:
        return self.call(self.coins[symbol].address, APPROVE, spender or self.venue, amount)

    def transfer(self, symbol: str, to: str, amount: int) -> Call:
        return self.call(self.coins[symbol].address, TRANSFER, to, amount)

    def take(self, symbol: str, amount: int) -> list[Call]:
        """The venue takes tokens for nothing."""
        return [self.approve(symbol, amount), self.call(self.venue, TAKE, self.coins[symbol].address, amount)]

    def trade(self, sold: str, sold_amount: int, bought: str, bought_amount: int) -> list[Call]:
        """A swap at the venue, at any price."""
        one, other = self.coins[sold].address, self.coins[bought].address
        return [self.approve(sold, sold_amount), self.call(self.venue, TRADE, one, sold_amount, other, bought_amount)]

    def position(self, gross: int, debt: int = 0, largest: int | None = None, newest: int = 0) -> Call:
        """The position at the lender becomes this, in micro-USD."""
        return self.call(self.lender, SET_POSITION, gross, debt, gross if largest is None else largest, newest)

    def call(self, to: str, signature: str, *args: Any, value: int = 0) -> Call:
        return Call(to=to, data=encode_call(signature, *args), value=value, label="")


def sign_digest(account: LocalAccount, digest: bytes) -> bytes:
    """A 65-byte signature of a digest, as a Safe takes it."""
    signed = account.unsafe_sign_hash(Hash32(digest))
    return bytes(signed.signature)


HOLDINGS = {"USDC": "70000", "WETH": "5", "WBTC": "0.25"}
COINS = (("USDC", 6, 10**8), ("WETH", 18, 3_000 * 10**8), ("WBTC", 8, 60_000 * 10**8))


def build_caged_safe(
    engine: Engine,
    *,
    limits: dict[Limit, int] | None = None,
    extra_rules: Sequence[Rule] = (),
    most_usd: int = 50_000,
    salt: int = 0,
) -> CagedSafe:
    """A Safe worth 100,000 USD with its cage enabled.

    `most_usd` of each asset may leave at once, and twice that in a day.
    """
    caged = CagedSafe(
        engine=engine,
        owners=tuple(sorted((make_account(f"owner {n}") for n in range(3)), key=lambda a: int(a.address, 16))),
        session=make_account("session"),
        guardian=make_account("guardian"),
        stranger=make_account("stranger"),
        deployer=make_account("deployer"),
    )
    for one in (*caged.owners, caged.session, caged.guardian, caged.stranger, caged.deployer):
        engine.give_coins(one.address, COINS_WEI)
    deploy_coins(caged)
    deploy_safe(caged, salt=salt)
    for name in ("venue", "lender"):
        setattr(caged, name, deploy(caged, "FuzzVenue"))
    for symbol, amount in HOLDINGS.items():
        caged.mint(symbol, caged.safe, caged.coins[symbol].units(amount))
    for coin in caged.coins.values():
        caged.mint(coin.symbol, caged.venue, 10**9 * 10**coin.decimals)
    rules = standard_rules(caged, limits or {}, most_usd=most_usd)
    data = cage_contract.encode_deployment(
        bytes.fromhex(load_contract("PolicyCage").bytecode[2:]),
        account=caged.safe,
        base_asset=caged.coins["USDC"].address,
        rules=[*rules, *extra_rules],
    )
    sent = engine.send(caged.deployer, None, data)
    assert sent.succeeded and sent.created, cage_contract.decode_cage_error(sent.output).text
    caged.cage = sent.created
    assert caged.owner_call(caged.safe, encode_call(ENABLE_MODULE, caged.cage)).succeeded
    set_session(caged)
    return caged


def standard_rules(caged: CagedSafe, limits: dict[Limit, int], *, most_usd: int = 50_000) -> list[Rule]:
    """The defaults, three assets with wide caps, the venue's calls and the lender's valuer."""
    rules = [cage_contract.limit_rule(limit, value) for limit, value in {**DEFAULT_LIMITS, **limits}.items()]
    for coin in caged.coins.values():
        asset = AssetRule(coin.feed, MAX_AGE, coin.decimals, FEED_DECIMALS)
        whole = most_usd * USD * 10 ** (coin.decimals + FEED_DECIMALS) // (coin.price * USD)
        rules += cage_contract.asset_rules(coin.address, asset, per_batch=whole, per_window=2 * whole)
    for target in (caged.venue, caged.lender):
        rules += [cage_contract.call_rule(target, selector(text)) for text in VENUE_CALLS]
    rules.append(cage_contract.spender_rule(caged.venue, most_micro_usd=50_000 * USD))
    rules.append(cage_contract.valuer_rule(caged.lender, caged.lender))
    rules.append(cage_contract.guardian_rule(caged.guardian.address))
    return rules


def set_session(
    caged: CagedSafe, *, seconds: int = 20 * 86_400, operations: int = 1_000, budget: int = 10**8 * USD
) -> None:
    """The owners appoint the session key."""
    data = cage_contract.encode_set_session(
        key=caged.session.address,
        expires_at=caged.engine.now() + seconds,
        operations=operations,
        budget_micro_usd=budget,
    )
    assert caged.owner_call(caged.cage, data).succeeded


def deploy(caged: CagedSafe, name: str, types: str = "constructor()", *args: Any) -> str:
    """One of our contracts."""
    code = bytes.fromhex(load_contract(name).bytecode[2:]) + encode_constructor(types, *args)
    sent = caged.engine.send(caged.deployer, None, code)
    assert sent.succeeded and sent.created, f"{name} was not deployed"
    return sent.created


def deploy_coins(caged: CagedSafe) -> None:
    for symbol, decimals, price in COINS:
        token = deploy(
            caged, "SimulatedToken", "constructor(string name, string symbol, uint8 decimals)", symbol, symbol, decimals
        )
        feed = deploy(
            caged,
            "SimulatedFeed",
            "constructor(string text, uint8 decimals, int256 answer)",
            symbol,
            FEED_DECIMALS,
            price,
        )
        caged.coins[symbol] = Coin(symbol, token, feed, decimals, price)


def deploy_safe(caged: CagedSafe, *, salt: int = 0) -> None:
    """The real Safe 1.5.0, two of three owners."""
    artifacts = fetch_artifacts()
    for key, file in SAFE_FILES.items():
        code = artifacts.creation_code("safe", f"build/artifacts/contracts/{file}")
        sent = caged.engine.send(caged.deployer, None, code)
        assert sent.created
        caged.contracts[key] = sent.created
    initializer = encode_setup(
        [owner.address for owner in caged.owners],
        threshold=2,
        fallback_handler=caged.contracts["safe_fallback_handler"],
    )
    data = encode_call(CREATE_PROXY, caged.contracts["safe"], initializer, salt)
    sent = caged.engine.send(caged.deployer, caged.contracts["safe_proxy_factory"], data)
    assert sent.succeeded
    created = next(log for log in sent.logs if log.address == caged.contracts["safe_proxy_factory"])
    caged.safe = _topic_address(created.topics[1])
    caged.handler = caged.contracts["safe_fallback_handler"]


def selector(signature: str) -> bytes:
    """The four bytes of a function."""
    from tools_app.chain.signatures import parse_signature

    return parse_signature(signature).selector


def _topic_address(topic: str) -> str:
    from tools_app.chain.abi import checksum

    return checksum("0x" + topic[-40:])


__all__ = ["PERMIT2", "CagedSafe", "Coin", "build_caged_safe", "deploy", "selector", "set_session", "sign_digest"]
