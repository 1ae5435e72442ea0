"""The lenders of the shelf that know debts, each with a loan a little above the floor, and the lies about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tests.catalogue.lies_about_health import (
    ALL_BUT_PRICES,
    TOGETHER,
    Changes,
    about_comet,
    about_market,
    about_moonwell,
    about_pool,
    about_vault,
    comet_elsewhere,
    cover_elsewhere,
    ink_elsewhere,
    moonwell_elsewhere,
    receipts_elsewhere,
)
from tests.catalogue.stage import ETH, USD, Stage
from tests.evm.world import CHAIN_ID, World
from tests.tools_app.protocols.morpho_blue.golem import set_price
from tools_app.protocols.aave_v3.addresses import deployments as aave
from tools_app.protocols.spark.addresses import deployments as spark

Ask = tuple[str, dict[str, Any]]
"""A case and what of its parameters is changed."""


@dataclass(frozen=True)
class Lender:
    """`risky` leaves the loan of `opens` under the floor, each alone, and the lender itself would do it; `out` are ways
    out of it, and `further` those that are asked under the largest lie alone. `fits` may be done until `falls`
    happened. `refusals` are codes of the lender's own beside those of health.
    """

    world: str
    opens: tuple[Ask, ...]
    lies: Callable[[Stage], Mapping[str, Changes]]
    elsewhere: Callable[[Stage], tuple[str, int, int]]
    risky: tuple[Ask, ...]
    out: tuple[Ask, ...]
    fits: tuple[Ask, ...]
    falls: Callable[[World], Any]
    further: tuple[Ask, ...] = ()
    refusals: frozenset[str] = frozenset()


def _about_aave(stage: Stage) -> Mapping[str, Changes]:
    return about_pool(stage, aave(CHAIN_ID) or {}, cover="WETH", debt="USDC", more=36 * ETH, less=7_000 * USD)


def _about_spark(stage: Stage) -> Mapping[str, Changes]:
    """What is of Spark's own: its tokens, its figures and its prices. That health has two sides is Aave's code."""
    lies = about_pool(stage, spark(CHAIN_ID) or {}, cover="WETH", debt="DAI", more=36 * ETH, less=6_000 * ETH)
    of_code = ("the health factor", "health and what may be borrowed", "indices of shares")
    return {name: lie for name, lie in lies.items() if name not in of_code}


def _set_feed(dollars: int) -> Callable[[World], Any]:
    return lambda world: world.transact(
        world.actors.deployer, world.tokens["WETH"].feed, "setAnswer(int256)", dollars * 10**8
    )


def _fall_at_morpho(world: World) -> None:
    _set_feed(2_900)(world)
    set_price(world, percent=97)


def _unwind(lender: str) -> Ask:
    return "lending_unwind_loop", {"protocol": lender, "percent_to_unwind": 50}


def _lower(lender: str) -> Ask:
    return "lending_auto_deleverage", {"protocol": lender, "target_health_factor": "2.5"}


def _loop(lender: str, debt: str) -> Ask:
    asked = {"protocol": lender, "borrow_asset": debt, "initial_amount": str(ETH), "target_leverage": "2.1"}
    return "lending_execute_leverage_loop", asked


_AAVE: Final = Lender(
    world="aave_v3",
    opens=(
        ("aave_supply", {"amount": str(4 * ETH)}),
        ("aave_supply", {"asset": "DAI", "amount": str(2_000 * ETH)}),
        ("aave_borrow", {"amount": str(7_500 * USD)}),
    ),
    lies=_about_aave,
    elsewhere=lambda stage: receipts_elsewhere(stage, aave(CHAIN_ID) or {}, "WETH"),
    risky=(
        ("aave_withdraw", {"amount": str(ETH // 2)}),
        ("aave_disable_collateral", {"asset": "DAI"}),
        ("aave_borrow", {"amount": str(500 * USD)}),
    ),
    out=(("aave_repay_and_leave", {}), _unwind("aave")),
    further=(_lower("aave"), _loop("aave", "USDC")),
    fits=(("aave_withdraw", {"amount": str(ETH // 100)}), ("aave_borrow", {"amount": str(50 * USD)})),
    falls=_set_feed(2_900),
)
LENDERS: Final[dict[str, Lender]] = {
    "Aave": _AAVE,
    "Aave 3.6": replace(
        _AAVE,
        world="aave_v3_6",
        lies=lambda stage: {name: _about_aave(stage)[name] for name in (ALL_BUT_PRICES, TOGETHER)},
    ),
    "Spark": Lender(
        world="spark",
        opens=(("spark_supply", {"amount": str(4 * ETH)}), ("spark_borrow", {"amount": str(6_300 * ETH)})),
        lies=_about_spark,
        elsewhere=lambda stage: receipts_elsewhere(stage, spark(CHAIN_ID) or {}, "WETH"),
        risky=(
            ("spark_withdraw", {"amount": str(ETH // 2)}),
            ("spark_borrow", {"amount": str(500 * ETH)}),
        ),
        out=(("spark_repay_and_leave", {}), _unwind("spark")),
        further=(_lower("spark"), _loop("spark", "DAI")),
        fits=(("spark_withdraw", {"amount": str(ETH // 100)}), ("spark_borrow", {"amount": str(50 * ETH)})),
        falls=_set_feed(2_800),
    ),
    "Morpho": Lender(
        world="morpho",
        opens=(("morpho_borrow_market", {"amount": str(16_800 * USD)}),),
        lies=about_market,
        elsewhere=cover_elsewhere,
        risky=(
            ("morpho_withdraw_collateral", {"amount": str(ETH)}),
            ("morpho_borrow_market", {"amount": str(1_000 * USD), "collateral_amount": str(ETH // 1_000)}),
        ),
        out=(("morpho_repay_and_leave", {}), _unwind("morpho")),
        further=(_lower("morpho"), _loop("morpho", "USDC")),
        fits=(
            ("morpho_withdraw_collateral", {"amount": str(ETH // 100)}),
            ("morpho_borrow_market", {"amount": str(50 * USD), "collateral_amount": str(ETH // 1_000)}),
        ),
        falls=_fall_at_morpho,
        # Its parameters are hashed to its name, and its oracle is held beside the feeds.
        refusals=frozenset({"POSITIONS_UNREADABLE", "MORPHO_ORACLE_UNUSABLE"}),
    ),
    "Compound": Lender(
        world="compound_v3",
        opens=(("compound_v3_cover", {"amount": str(4 * ETH)}), ("compound_v3_borrow", {"amount": str(7_000 * USD)})),
        lies=about_comet,
        elsewhere=comet_elsewhere,
        risky=(
            ("compound_v3_withdraw_cover", {"amount": str(ETH // 2)}),
            ("compound_v3_borrow", {"amount": str(500 * USD)}),
        ),
        out=(("compound_v3_repay_all", {}), _unwind("compound_v3")),
        further=(_lower("compound_v3"),),
        fits=(
            ("compound_v3_withdraw_cover", {"amount": str(ETH // 100)}),
            ("compound_v3_borrow", {"amount": str(50 * USD)}),
        ),
        falls=_set_feed(2_800),
    ),
    "Moonwell": Lender(
        world="moonwell",
        opens=(("moonwell_cover", {"amount": str(4 * ETH)}), ("moonwell_borrow", {"amount": str(6_300 * USD)})),
        lies=about_moonwell,
        elsewhere=moonwell_elsewhere,
        risky=(
            ("moonwell_withdraw_cover", {"amount": str(ETH // 2)}),
            ("moonwell_borrow", {"amount": str(500 * USD)}),
        ),
        # Its market of ether pays out the coin, so what sells cover to repay is refused there for that.
        out=(("moonwell_repay_all", {}),),
        further=(),
        fits=(
            ("moonwell_withdraw_cover", {"amount": str(ETH // 100)}),
            ("moonwell_borrow", {"amount": str(50 * USD)}),
        ),
        falls=_set_feed(2_800),
    ),
    "Maker": Lender(
        world="maker",
        opens=(
            ("maker_open_vault", {}),
            ("maker_deposit_collateral", {}),
            ("maker_generate_dai", {"dai_amount": str(13_500 * ETH)}),
        ),
        lies=about_vault,
        elsewhere=ink_elsewhere,
        risky=(("maker_generate_dai", {"dai_amount": str(500 * ETH)}),),
        out=(("maker_close_vault", {}), _unwind("maker")),
        further=(_lower("maker"),),
        fits=(("maker_generate_dai", {"dai_amount": str(50 * ETH)}),),
        falls=_set_feed(2_900),
        refusals=frozenset({"MAKER_PRICE_DISAGREES"}),
    ),
}
