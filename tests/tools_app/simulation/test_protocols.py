"""Conformance on more real protocols: every step is simulated on each engine, then mined, and must be what was said.

The bytecode comes from pinned npm packages, fetched when these tests first run and never committed. Where they cannot
be fetched the tests say "not run"; with CI=true that is a failure.
"""

from __future__ import annotations

from typing import Any

import pytest
from eth_abi.abi import decode, encode
from eth_account.signers.local import LocalAccount
from eth_utils.address import to_checksum_address

from golem_project.embedded.world.rpc import encode_arguments
from golem_project.embedded.world.solidity import load_contract
from tests.evm.world import World
from tests.proof.caged.aave import AaveLinker
from tests.tools_app.chain.conftest import OpenReader
from tests.tools_app.simulation.mined import check_as_mined, mine_together
from tests.tools_app.simulation.router import (
    EXECUTE,
    FAR,
    ROUTER_TYPES,
    TO_THE_SENDER,
    ZERO,
    encode_v2_exact_in,
    encode_v3_exact_in,
    plan_swap,
    router_arguments,
)
from tests.tools_app.simulation.turbos import WAYS
from tools_app.chain.abi import encode_call
from tools_app.core.clock import Deadline
from tools_app.simulation.differential import find_differences
from tools_app.simulation.engine import CallOutcome, SimulationRequest, SimulationResult
from tools_app.simulation.revm_screening.screening import screen_candidates
from tools_app.simulation.select import select_engine
from tools_app.toolkit.plan import Call
from tools_app.toolkit.views import NATIVE

MAX160, MAX256 = 2**160 - 1, 2**256 - 1
POOL_KEY = "(address,address,uint24,int24,address)"


class Acts:
    """Simulates a step on every engine, holds them against each other, mines it, and holds it against the chain."""

    def __init__(self, chain: World, open_reader: OpenReader, account: LocalAccount) -> None:
        self.chain, self._open_reader, self.account = chain, open_reader, account
        self.steps = 0

    def act(self, to: str, data: bytes, *, value: int = 0, succeeds: bool = True, tells_gas: bool = False) -> bytes:
        """One transaction; returns its output as simulated. `tells_gas` is of an output with a gas figure in it."""
        (outcome,) = self.act_all((Call(to, data, value, "step"),), succeeds=succeeds, tells_gas=tells_gas)
        return outcome.output

    def act_all(
        self, calls: tuple[Call, ...], *, succeeds: bool = True, tells_gas: bool = False
    ) -> tuple[CallOutcome, ...]:
        """A plan of several transactions in one fork, mined in one block; all but the last always succeed."""
        block = self._open_reader().block
        watched = [NATIVE, *(token.address for token in self.chain.tokens.values())]
        request = SimulationRequest(
            31337,
            self.account.address,
            calls,
            watch=tuple((self.account.address, one) for one in watched),
            block=block,
            timestamp=block.timestamp + 1,
            wants_state_diff=True,
        )
        result = self._run("pyevm", request)
        self.created = result.state_diff.created if result.state_diff else ()
        # The local node cannot simulate a creation; the chain below still judges ours.
        if all(len(call.to) > 2 for call in calls):
            self._compare_engines(request, result, tells_gas=tells_gas)
        assert [outcome.succeeded for outcome in result.calls] == [*[True] * (len(calls) - 1), succeeds], result.failure
        assert all((outcome.gas_before_refunds or 0) >= outcome.gas_used for outcome in result.calls)
        check_as_mined(self.chain, request, result, mine_together(self.chain, self.account, calls, after=block))
        self.steps += 1
        return result.calls

    def deploy(self, code: str, types: str = "()", *values: Any) -> str:
        """Create a contract; its address, as simulated and as mined."""
        data = bytes.fromhex(code.removeprefix("0x")) + (encode_arguments(types, *values) if values else b"")
        self.act("0x", data)
        (address, *_) = self.created
        assert self.chain.rpc.call("eth_getCode", address, "latest") != "0x"
        return address

    def _compare_engines(self, request: SimulationRequest, result: SimulationResult, *, tells_gas: bool) -> None:
        other = self._run("rpc", request)
        assert find_differences(result, other) == ()
        assert other.state_diff == result.state_diff
        assert [call.gas_used for call in other.calls] == [call.gas_used for call in result.calls]
        for turbo in WAYS:
            (one,) = screen_candidates(request, [request.calls], deadline=Deadline.after_ms(20_000), turbo=turbo)
            assert one.succeeded is result.succeeded
            assert one.deltas == {key: result.delta_of(*key) for key in request.watch}
            if turbo and tells_gas:
                # Gas is what revm cannot tell in a fork, also to a contract that asks.
                continue
            done = [position for position, call in enumerate(result.calls) if call.succeeded]
            assert [one.outputs[position] for position in done] == [result.calls[position].output for position in done]

    def _run(self, name: str, request: SimulationRequest) -> SimulationResult:
        return select_engine(31337, name).run(request, deadline=Deadline.after_ms(20_000))


@pytest.fixture
def acts(chain: World, open_reader: OpenReader) -> Acts:
    """A rich account. Steps are mined in the very block that was simulated, so what keeps the time is equal too."""
    account = chain.new_account(eth_wei=100 * 10**18, tokens={"USDC": 10**6 * 10**6, "DAI": 10**6 * 10**18})
    return Acts(chain, open_reader, account)


def test_uniswap_v4_and_the_universal_router(acts: Acts, bytecode: dict[str, str]) -> None:
    chain, me = acts.chain, acts.account.address
    known, permit2 = chain.contracts, chain.contracts["permit2"]
    usdc, dai = chain.tokens["USDC"].address, chain.tokens["DAI"].address
    manager = acts.deploy(bytecode["PoolManager"], "(address)", me)
    positions = acts.deploy(
        bytecode["PositionManager"],
        "(address,address,uint256,address,address)",
        *(manager, permit2, 300_000, ZERO, known["weth9"]),
    )
    quoter = acts.deploy(bytecode["V4Quoter"], "(address)", manager)
    arguments = router_arguments(chain, v4_manager=manager, v4_positions=positions)
    router = acts.deploy(bytecode["UniversalRouter"], ROUTER_TYPES, arguments)
    currency0, currency1 = sorted((usdc, dai), key=lambda address: int(address, 16))
    key = (currency0, currency1, 3000, 60, ZERO)
    initialize = f"function initialize({POOL_KEY} key, uint160 sqrtPriceX96) returns (int24 tick)"
    one_to_one = 79228162514264337593543950336
    acts.act(manager, encode_call(initialize, key, one_to_one))
    for token in (usdc, dai):
        acts.act(token, encode_call("function approve(address spender, uint256 value)", permit2, MAX256))
        for spender in (positions, router):
            acts.act(
                permit2,
                encode_call(
                    "function approve(address token, address spender, uint160 amount, uint48 expiration)",
                    *(token, spender, MAX160, FAR),
                ),
            )
    mint = encode(
        [POOL_KEY, "int24", "int24", "uint256", "uint128", "uint128", "address", "bytes"],
        [key, -887_220, 887_220, 10**11, 10**13, 10**13, me, b""],
    )
    unlock = encode(["bytes", "bytes[]"], [b"\x02\x0d", [mint, encode(["address", "address"], [currency0, currency1])]])
    modify = "function modifyLiquidities(bytes unlockData, uint256 deadline) payable"
    acts.act(positions, encode_call(modify, unlock, FAR))

    amount = 10**9
    quote = (
        f"function quoteExactInputSingle(({POOL_KEY} poolKey, bool zeroForOne, uint128 exactAmount, bytes hookData)"
        " params) returns (uint256 amountOut, uint256 gasEstimate)"
    )
    answer = acts.act(quoter, encode_call(quote, (key, True, amount, b"")), tells_gas=True)
    quoted = decode(["uint256", "uint256"], answer)[0]
    swap = encode([f"({POOL_KEY},bool,uint128,uint128,bytes)"], [(key, True, amount, quoted, b"")])
    v4 = encode(
        ["bytes", "bytes[]"],
        [
            b"\x06\x0c\x0f",
            [swap, encode(["address", "uint256"], [currency0, amount]), encode(["address", "uint256"], [currency1, 0])],
        ],
    )
    v3, v2 = encode_v3_exact_in(chain, amount=500 * 10**6), encode_v2_exact_in(chain, amount=100 * 10**6)
    acts.act(router, encode_call(EXECUTE, b"\x10\x00\x08", [v4, v3, v2], FAR))
    greedy = encode([f"({POOL_KEY},bool,uint128,uint128,bytes)"], [(key, True, amount, 10**30, b"")])
    refused = encode(
        ["bytes", "bytes[]"],
        [b"\x06\x0c", [greedy, encode(["address", "uint256"], [currency0, amount])]],
    )
    acts.act(router, encode_call(EXECUTE, b"\x10", [refused], FAR), succeeds=False)

    # One plan in one fork: an exact approval, Permit2's own, and the swap that uses both up.
    done = acts.act_all(plan_swap(chain, router, amount=10**9))
    assert len(done[2].logs) >= 6
    # Coins in: wrapped by the router, swapped from its own hands, the rest swept back; and a right signed off chain.
    wrap = encode(["address", "uint256"], ["0x" + "00" * 19 + "02", 10**17])
    back = bytes.fromhex(known["weth9"][2:]) + (500).to_bytes(3, "big") + bytes.fromhex(usdc[2:])
    sell = encode(["address", "uint256", "uint256", "bytes", "bool"], [TO_THE_SENDER, 10**17, 1, back, False])
    sweep = encode(["address", "address", "uint256"], [known["weth9"], TO_THE_SENDER, 0])
    signed = _sign_permit2(acts.account, token=dai, spender=router, permit2=permit2)
    commands = encode_call(EXECUTE, b"\x0b\x00\x04\x0a", [wrap, sell, sweep, signed], FAR)
    acts.act(router, commands, value=10**17)
    acts.act(router, commands, value=10**17, succeeds=False)

    assert acts.steps >= 17


def _sign_permit2(account: LocalAccount, *, token: str, spender: str, permit2: str) -> bytes:
    """What the router's PERMIT2_PERMIT command takes: the right and the owner's signature of it, good once."""
    details = {"token": token, "amount": 10**20, "expiration": FAR, "nonce": 0}
    kinds = [("token", "address"), ("amount", "uint160"), ("expiration", "uint48"), ("nonce", "uint48")]
    signed = account.sign_typed_data(
        domain_data={"name": "Permit2", "chainId": 31337, "verifyingContract": permit2},
        message_types={
            "PermitSingle": [
                {"name": "details", "type": "PermitDetails"},
                {"name": "spender", "type": "address"},
                {"name": "sigDeadline", "type": "uint256"},
            ],
            "PermitDetails": [{"name": name, "type": kind} for name, kind in kinds],
        },
        message_data={"details": details, "spender": spender, "sigDeadline": FAR},
    )
    right = (tuple(details.values()), spender, FAR)
    types = ["((address,uint160,uint48,uint48),address,uint256)", "bytes"]
    return bytes(encode(types, [right, bytes(signed.signature)]))


def test_safe_with_two_owners(acts: Acts, bytecode: dict[str, str]) -> None:
    chain, me = acts.chain, acts.account
    other = chain.new_account()
    singleton = acts.deploy(bytecode["Safe"])
    factory = acts.deploy(bytecode["SafeProxyFactory"])
    owners = sorted((me, other), key=lambda account: int(account.address, 16))
    setup = encode_call(
        "function setup(address[] owners, uint256 threshold, address to, bytes data, address fallbackHandler,"
        " address paymentToken, uint256 payment, address paymentReceiver)",
        *([account.address for account in owners], 2, ZERO, b"", ZERO, ZERO, 0, ZERO),
    )
    create = "function createProxyWithNonce(address singleton, bytes initializer, uint256 saltNonce) returns (address)"
    made = acts.act(factory, encode_call(create, singleton, setup, 7))
    safe = to_checksum_address(made[12:])
    acts.act(safe, b"", value=10**18)
    hash_of = "getTransactionHash(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,uint256)"
    fields = ["0x" + "77" * 20, 10**17, b"", 0, 0, 0, 0, ZERO, ZERO]
    digest = chain.rpc.read(safe, hash_of, *fields, 0, returns="(bytes32)")
    digest = digest[0] if isinstance(digest, tuple) else digest
    signed = [account.unsafe_sign_hash(digest) for account in owners]
    signatures = [s.r.to_bytes(32, "big") + s.s.to_bytes(32, "big") + bytes([s.v]) for s in signed]
    run = (
        "function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas,"
        " uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable"
        " returns (bool)"
    )
    acts.act(safe, encode_call(run, *fields, signatures[0]), succeeds=False)
    done = acts.act(safe, encode_call(run, *fields, b"".join(signatures)))

    assert int.from_bytes(done, "big") == 1
    assert int(chain.rpc.call("eth_getBalance", fields[0], "latest"), 16) == 10**17


def test_an_erc4626_vault(acts: Acts, bytecode: dict[str, str]) -> None:
    me, usdc = acts.account.address, acts.chain.tokens["USDC"].address
    vault = acts.deploy(bytecode["Vault"], "(address,string,string)", usdc, "Vault", "V")
    acts.act(usdc, encode_call("function approve(address spender, uint256 value)", vault, 10**9))
    shares = acts.act(vault, encode_call("function deposit(uint256 assets, address receiver)", 10**9, me))
    acts.act(usdc, encode_call("function transfer(address to, uint256 value)", vault, 10**8))
    acts.act(vault, encode_call("function withdraw(uint256 assets, address receiver, address owner)", 10**6, me, me))
    redeem = "function redeem(uint256 shares, address receiver, address owner)"
    acts.act(vault, encode_call(redeem, 10**30, me, me), succeeds=False)
    assets = acts.act(vault, encode_call(redeem, 10**8, me, me))

    assert int.from_bytes(shares, "big") == 10**9
    assert int.from_bytes(assets, "big") > 10**8


def test_morpho_blue(acts: Acts, bytecode: dict[str, str]) -> None:
    chain, me = acts.chain, acts.account.address
    usdc, dai = chain.tokens["USDC"].address, chain.tokens["DAI"].address
    morpho = acts.deploy(bytecode["Morpho"], "(address)", me)
    oracle, rates = acts.deploy(bytecode["OracleMock"]), acts.deploy(bytecode["IrmMock"])
    # One DAI (18 decimals) is worth one USDC (6 decimals); Morpho's prices carry 36 decimals more.
    acts.act(oracle, encode_call("function setPrice(uint256 newPrice)", 10 ** (36 + 6 - 18)))
    acts.act(morpho, encode_call("function enableIrm(address irm)", rates))
    acts.act(morpho, encode_call("function enableLltv(uint256 lltv)", 8 * 10**17))
    params = "(address loanToken, address collateralToken, address oracle, address irm, uint256 lltv) marketParams"
    market = (usdc, dai, oracle, rates, 8 * 10**17)
    acts.act(morpho, encode_call(f"function createMarket({params})", market))
    for token in (usdc, dai):
        acts.act(token, encode_call("function approve(address spender, uint256 value)", morpho, MAX256))
    supply = f"function supply({params}, uint256 assets, uint256 shares, address onBehalf, bytes data)"
    acts.act(morpho, encode_call(supply, market, 10**11, 0, me, b""))
    pledge = f"function supplyCollateral({params}, uint256 assets, address onBehalf, bytes data)"
    acts.act(morpho, encode_call(pledge, market, 1_000 * 10**18, me, b""))
    borrow = f"function borrow({params}, uint256 assets, uint256 shares, address onBehalf, address receiver)"
    acts.act(morpho, encode_call(borrow, market, 801 * 10**6, 0, me, me), succeeds=False)
    lent = acts.act(morpho, encode_call(borrow, market, 700 * 10**6, 0, me, me))
    repay = f"function repay({params}, uint256 assets, uint256 shares, address onBehalf, bytes data)"
    acts.act(morpho, encode_call(repay, market, 300 * 10**6, 0, me, b""))
    withdraw = f"function withdraw({params}, uint256 assets, uint256 shares, address onBehalf, address receiver)"
    acts.act(morpho, encode_call(withdraw, market, 10**9, 0, me, me))

    assert int.from_bytes(lent[:32], "big") == 700 * 10**6


def test_aave_v3(acts: Acts, bytecode: dict[str, str]) -> None:
    chain, me, linker = acts.chain, acts.account.address, AaveLinker(acts.deploy)
    usdc, dai = chain.tokens["USDC"].address, chain.tokens["DAI"].address
    ray = 10**27
    provider = linker.deploy("PoolAddressesProvider", "(string,address)", "local", me)
    acts.act(provider, encode_call("function setACLAdmin(address newAclAdmin)", me))
    rights = linker.deploy("ACLManager", "(address)", provider)
    acts.act(provider, encode_call("function setACLManager(address newAclManager)", rights))
    acts.act(rights, encode_call("function addPoolAdmin(address admin)", me))
    pool_code = linker.deploy("Pool", "(address)", provider)
    acts.act(provider, encode_call("function setPoolImpl(address newPoolImpl)", pool_code))
    acts.act(
        provider,
        encode_call("function setPoolConfiguratorImpl(address newImpl)", linker.deploy("PoolConfigurator")),
    )
    pool = _read_address(chain, provider, "getPool()")
    configurator = _read_address(chain, provider, "getPoolConfigurator()")
    feed = load_contract("SimulatedFeed").bytecode
    feeds = [acts.deploy(feed, "(string,uint8,int256)", symbol, 8, 10**8) for symbol in ("USDC", "WETH")]
    oracle = linker.deploy(
        "AaveOracle",
        "(address,address[],address[],address,address,uint256)",
        *(provider, [usdc, dai], feeds, ZERO, ZERO, 10**8),
    )
    acts.act(provider, encode_call("function setPriceOracle(address newPriceOracle)", oracle))
    rates = linker.deploy(
        "DefaultReserveInterestRateStrategy",
        "(address,uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256,uint256)",
        *(provider, 8 * ray // 10, 0, 4 * ray // 100, ray, 0, 0, 0, 0, 0),
    )
    implementations = [
        linker.deploy(name, "(address)", pool) for name in ("AToken", "StableDebtToken", "VariableDebtToken")
    ]
    fields = (
        "address aTokenImpl, address stableDebtTokenImpl, address variableDebtTokenImpl, uint8 underlyingAssetDecimals,"
        " address interestRateStrategyAddress, address underlyingAsset, address treasury, address incentivesController,"
        " string aTokenName, string aTokenSymbol, string variableDebtTokenName, string variableDebtTokenSymbol,"
        " string stableDebtTokenName, string stableDebtTokenSymbol, bytes params"
    )
    reserves = [
        (*implementations, decimals, rates, token, me, ZERO, "a", "a", "v", "v", "s", "s", b"")
        for token, decimals in ((usdc, 6), (dai, 18))
    ]
    acts.act(configurator, encode_call(f"function initReserves(({fields})[] input)", reserves))
    collateral = "function configureReserveAsCollateral(address asset, uint256 ltv, uint256 threshold, uint256 bonus)"
    acts.act(configurator, encode_call(collateral, dai, 7_500, 8_000, 10_500))
    acts.act(configurator, encode_call("function setReserveBorrowing(address asset, bool enabled)", usdc, True))
    for token in (usdc, dai):
        acts.act(token, encode_call("function approve(address spender, uint256 value)", pool, MAX256))
    supply = "function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)"
    acts.act(pool, encode_call(supply, usdc, 10**11, me, 0))
    acts.act(pool, encode_call(supply, dai, 1_000 * 10**18, me, 0))
    borrow = "function borrow(address asset, uint256 amount, uint256 mode, uint16 referralCode, address onBehalfOf)"
    acts.act(pool, encode_call(borrow, usdc, 751 * 10**6, 2, 0, me), succeeds=False)
    acts.act(pool, encode_call(borrow, usdc, 700 * 10**6, 2, 0, me))
    repay = "function repay(address asset, uint256 amount, uint256 mode, address onBehalfOf) returns (uint256)"
    repaid = acts.act(pool, encode_call(repay, usdc, 300 * 10**6, 2, me))
    acts.act(pool, encode_call("function withdraw(address asset, uint256 amount, address to)", usdc, 10**9, me))

    assert int.from_bytes(repaid, "big") == 300 * 10**6


def _read_address(chain: World, to: str, call: str) -> str:
    selector = encode_call(f"function {call} view returns (address)")
    answer: str = chain.rpc.call("eth_call", {"to": to, "input": "0x" + selector.hex()}, "latest")
    return to_checksum_address("0x" + answer[-40:])
