"""What positions count as: the real Uniswap V3 and OpenZeppelin's ERC-4626; Aave has a file of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from golem_project.embedded.world.protocols import erc4626
from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import (
    AssetRule,
    Rule,
    asset_rules,
    call_rule,
    limit_rule,
    spender_rule,
    valuer_rule,
)
from tests.evm.world import World
from tests.proof.caged.safe import DEFAULT_LIMITS, FEED_DECIMALS, USD, CagedSafe, deploy, selector
from tools_app.chain.abi import decode_output, encode_call, encode_constructor
from tools_app.standards.concentrated import amounts_for_liquidity, sqrt_price_at_tick, sqrt_price_of_ratio
from tools_app.standards.erc4626 import TO_ASSETS

VAULT_CONSTRUCTOR = "constructor(address asset, string name, string symbol)"
POSITIONS = (
    "function positions(uint256 tokenId) view returns (uint96 nonce, address operator, address token0, address token1,"
    " uint24 fee, int24 tickLower, int24 tickUpper, uint128 liquidity, uint256 inside0, uint256 inside1, uint128 owed0,"
    " uint128 owed1)"
)
OF_INDEX = "function tokenOfOwnerByIndex(address owner, uint256 index) view returns (uint256)"
BALANCE = "function balanceOf(address account) view returns (uint256)"
AMOUNTS = "function amountsOf(uint256 tokenId, address prices) view returns (uint256 amount0, uint256 amount1)"
COLLECT = (
    "function collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max) params)"
    " returns (uint256 amount0, uint256 amount1)"
)
UINT128_MAX = 2**128 - 1


class WorldCage:
    """A cage over a plain account of the local world, else over a maker: enough to read what positions count as."""

    def __init__(
        self,
        world: World,
        extra_rules: Sequence[Rule] = (),
        account: Any = None,
        *,
        symbols: Sequence[str] = ("USDC", "WETH", "WBTC", "DAI"),
        base: str = "USDC",
    ) -> None:
        self.world = world
        self.maker = account or world.actors.makers[0]
        self.manager = world.contracts["uniswap_v3_position_manager"]
        deployer = world.actors.deployer
        self.valuer = world.deploy(deployer, "V3PositionValuer", "(address)", self.manager)
        rules: list[Rule] = [limit_rule(limit, value) for limit, value in DEFAULT_LIMITS.items()]
        for symbol in symbols:
            token = world.tokens[symbol]
            asset = AssetRule(token.feed, 3_600, token.decimals, FEED_DECIMALS)
            rules += asset_rules(token.address, asset, per_batch=1, per_window=1)
        rules += [valuer_rule(self.manager, self.valuer), *extra_rules]
        from golem_project.embedded.world.solidity import load_contract

        data = cage_contract.encode_deployment(
            bytes.fromhex(load_contract("PolicyCage").bytecode[2:]),
            account=self.maker.address,
            base_asset=world.tokens[base].address,
            rules=rules,
        )
        receipt = world.send(deployer, None, "0x" + data.hex(), gas=16_000_000)
        assert receipt["status"] == "0x1"
        self.cage = receipt["contractAddress"]

    def read(self, to: str, signature: str, *args: Any, block: int | None = None) -> Any:
        request = {"to": to, "data": "0x" + encode_call(signature, *args).hex()}
        raw = self.world.rpc.call("eth_call", request, "latest" if block is None else hex(block))
        return decode_output(signature, bytes.fromhex(raw[2:]))

    def gross(self) -> int:
        [measured] = self.read(self.cage, FUNCTIONS["measure"])
        return int(measured[2][0])

    def positions(self) -> dict[int, tuple[Any, ...]]:
        [count] = self.read(self.manager, BALANCE, self.maker.address)
        ids = [self.read(self.manager, OF_INDEX, self.maker.address, index)[0] for index in range(count)]
        return {number: self.read(self.manager, POSITIONS, number) for number in ids}

    def price(self, token: str) -> tuple[int, int]:
        answer, unit = self.read(self.cage, FUNCTIONS["priceOf"], token)
        return answer, unit


@pytest.fixture
def world_cage(chain: World) -> Iterator[WorldCage]:
    yield WorldCage(chain)


def collectable(cage: WorldCage, number: int) -> tuple[int, int]:
    """What collecting the fees would give, asked of the position manager itself."""
    data = encode_call(COLLECT, (number, cage.maker.address, UINT128_MAX, UINT128_MAX))
    raw = cage.world.rpc.call(
        "eth_call", {"from": cage.maker.address, "to": cage.manager, "data": "0x" + data.hex()}, "latest"
    )
    amount0, amount1 = decode_output(COLLECT, bytes.fromhex(raw[2:]))
    return amount0, amount1


def test_v3_positions_count_at_the_ratio_of_the_feeds_with_all_their_fees(world_cage: WorldCage) -> None:
    positions = world_cage.positions()
    assert len(positions) >= 8
    expected = 0
    for number, p in positions.items():
        token0, token1, lower, upper, liquidity = p[2], p[3], p[5], p[6], p[7]
        (answer0, unit0), (answer1, unit1) = world_cage.price(token0), world_cage.price(token1)
        ratio = sqrt_price_of_ratio(answer0 * unit1, answer1 * unit0)
        held = amounts_for_liquidity(
            ratio, sqrt_price_at_tick(lower), sqrt_price_at_tick(upper), liquidity, round_up=False
        )
        fees = collectable(world_cage, number)
        amounts = tuple(a + b for a, b in zip(held, fees, strict=True))
        told = world_cage.read(world_cage.valuer, AMOUNTS, number, world_cage.cage)
        assert told == amounts, number
        expected += amounts[0] * answer0 * USD // unit0 + amounts[1] * answer1 * USD // unit1
    assert world_cage.gross() == expected > 10_000_000 * USD


def test_moving_the_pool_moves_no_value_but_the_fees_it_paid(world_cage: WorldCage) -> None:
    world = world_cage.world
    before, fees_before = world_cage.gross(), sum_of_fees(world_cage)
    trader, usdc, weth = world.actors.traders[0], world.tokens["USDC"], world.tokens["WETH"]
    amount = usdc.units(1_500_000)
    router = world.contracts["uniswap_v3_swap_router"]
    world.transact(trader, usdc.address, "approve(address,uint256)", router, amount)
    tick_before = tick_of(world_cage)
    world.transact(
        trader,
        router,
        "exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))",
        (usdc.address, weth.address, 3000, trader.address, 2**40, amount, 0, 0),
    )
    assert abs(tick_of(world_cage) - tick_before) > 500
    fees = sum_of_fees(world_cage) - fees_before
    assert fees > 0
    assert abs(world_cage.gross() - before - fees) <= 2 * len(world_cage.positions())


@pytest.mark.parametrize(("dear", "cheap"), [(60_000 * 10**8, 1_000), (60_000 * 10**8, 1), (10**8, 10**8)])
@pytest.mark.parametrize("is_dear_first", [True, False])
def test_a_position_in_tokens_of_very_different_worth_is_valued(
    chain: World, dear: int, cheap: int, is_dear_first: bool
) -> None:
    """8 decimals and 60,000 dollars against 18 decimals and a hundred-millionth: a ratio beyond 64 bits."""
    deployer, signature = chain.actors.deployer, "(string,string,uint8)"
    for _ in range(12):
        low = chain.deploy(deployer, "SimulatedToken", signature, "L", "L", 8)
        high = chain.deploy(deployer, "SimulatedToken", signature, "H", "H", 18)
        if (int(low, 16) < int(high, 16)) is is_dear_first:
            break
    rules: list[Rule] = []
    for token, decimals, price in ((low, 8, dear), (high, 18, cheap)):
        feed = chain.deploy(deployer, "SimulatedFeed", "(string,uint8,int256)", "F", 8, price)
        rules += asset_rules(token, AssetRule(feed, 3_600, decimals, FEED_DECIMALS), per_batch=1, per_window=1)
    cage = WorldCage(chain, rules)
    token0, token1 = sorted((low, high), key=lambda address: int(address, 16))
    (answer0, unit0), (answer1, unit1) = cage.price(token0), cage.price(token1)
    ratio = sqrt_price_of_ratio(answer0 * unit1, answer1 * unit0)
    chain.transact(
        deployer,
        cage.manager,
        "createAndInitializePoolIfNecessary(address,address,uint24,uint160)",
        token0,
        token1,
        3000,
        ratio,
        gas=6_000_000,
    )
    maker = cage.maker
    for token in (token0, token1):
        chain.transact(deployer, token, "mint(address,uint256)", maker.address, 10**36)
        chain.transact(maker, token, "approve(address,uint256)", cage.manager, 2**256 - 1)
    chain.transact(
        maker,
        cage.manager,
        "mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))",
        (token0, token1, 3000, -887_220, 887_220, 10**26, 10**26, 0, 0, maker.address, 2**40),
    )
    number, p = list(cage.positions().items())[-1]
    expected = amounts_for_liquidity(
        ratio, sqrt_price_at_tick(-887_220), sqrt_price_at_tick(887_220), p[7], round_up=False
    )
    assert p[7] > 0
    told = cage.read(cage.valuer, AMOUNTS, number, cage.cage)
    for amount, right in zip(told, expected, strict=True):
        # A ratio that does not fit keeps 96 bits or more of its digits.
        assert abs(amount - right) <= 1 + right // 2**60
    assert cage.gross() > 0


def tick_of(cage: WorldCage) -> int:
    pool = cage.world.pool("v3", "USDC", "WETH").address
    slot0 = "function slot0() view returns (uint160 price, int24 tick, uint16 a, uint16 b, uint16 c, uint8 d, bool e)"
    return int(cage.read(pool, slot0)[1])


def sum_of_fees(cage: WorldCage) -> int:
    total = 0
    for number, p in cage.positions().items():
        for amount, token in zip(collectable(cage, number), (p[2], p[3]), strict=True):
            answer, unit = cage.price(token)
            total += amount * answer * USD // unit
    return total


def test_an_erc_4626_share_counts_as_the_assets_it_would_give(caged: CagedSafe) -> None:
    code = bytes.fromhex(erc4626.compile_vault(erc4626.WORLD.fetch()).removeprefix("0x"))
    usdc = caged.coins["USDC"].address
    sent = caged.engine.send(caged.deployer, None, code + encode_constructor(VAULT_CONSTRUCTOR, usdc, "Vault", "V"))
    vault = sent.created
    assert sent.succeeded and vault
    made = "constructor(address token, address underlying, bytes4 worthOf)"
    valuer = deploy(caged, "ShareValuer", made, vault, usdc, selector(TO_ASSETS))
    deposit = "function deposit(uint256 assets, address receiver)"
    redeem = "function redeem(uint256 shares, address receiver, address owner)"
    caged.change(
        valuer_rule(vault, valuer),
        call_rule(vault, selector(deposit)),
        call_rule(vault, selector(redeem)),
        spender_rule(vault, most_micro_usd=20_000 * USD),
    )
    put = [caged.approve("USDC", 20_000 * USD, vault), caged.call(vault, deposit, 20_000 * USD, caged.safe)]
    assert caged.execute(*put).succeeded
    index = caged.ask("positions").index(vault)
    measured = caged.ask("measure")
    assert measured[2][index] == 20_000 * USD and measured[6] == 100_000 * USD
    caged.mint("USDC", vault, 1_000 * USD)
    [shares] = caged.read(vault, BALANCE, caged.safe)
    worth = caged.read(vault, "function convertToAssets(uint256 shares) view returns (uint256)", shares)[0]
    assert caged.ask("measure")[2][index] == worth > 20_999 * USD
    # Shares sent to a stranger are value lost, though no token of the list has moved.
    stolen = caged.execute(caged.call(vault, redeem, shares, caged.stranger.address, caged.safe))
    assert caged.error(stolen)[0] == "LossTooLarge"
    assert caged.execute(caged.call(vault, redeem, shares, caged.safe, caged.safe)).succeeded
