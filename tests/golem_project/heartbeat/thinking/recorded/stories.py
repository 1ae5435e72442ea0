"""What befalls the recorded golems, each story by itself on the local chain, and the label of each situation in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from archetypes_app.models import Golem, Heartbeat
from golem_project import wiring
from tests.catalogue.stage import Stage
from tests.golem_project.heartbeat.loans import set_price
from tests.golem_project.heartbeat.pulses import RULE
from tests.golem_project.heartbeat.test_rescues_at_every_lender import LOANS, Loan, fall
from tests.golem_project.heartbeat.test_rule_planner import let_feed_follow, trade
from tests.golem_project.heartbeat.thinking.recorded.recorder import Recorder
from tools_app.core import clock

ETH, USD = 10**18, 10**6
Story = Callable[[Recorder], None]

OPEN, REMOVE, COLLECT = "uniswap_lp_add_liquidity", "uniswap_lp_remove_liquidity", "uniswap_lp_collect_fees"
ANEW = f"{OPEN}|uniswap_lp_rebalance_position"
SWAP, PRICE, POOL = "uniswap_execute_swap", "data_get_token_price", "data_get_pool_info"
LOOK = "data_get_position|data_get_positions_by_owner"
LATE: Final = ("SURVIVAL", "TERMINAL")


def act(stage: Stage, name: str) -> None:
    """One case of the catalogue, carried out as the golem."""
    case = stage.cases[name].case
    stage.prepare(case)
    plan = stage.call(case).plan
    assert plan is not None
    stage.note(case, stage.carry_out(plan))
    stage.done.add(name)


def lose(stage: Stage, symbol: str, *, left: int = 0) -> None:
    """The wallet's tokens of one kind are gone."""
    stage.world.rpc.call("anvil_dealERC20", stage.account, stage.world.tokens[symbol].address, hex(left))


def keep_a_position(recorder: Recorder, **changes: object) -> None:
    """The golem is under the rule of a position."""
    rule = {**RULE, "harvest_micro_usd": 1_000_000, **changes}
    Heartbeat.objects.filter(golem=recorder.stage.live.golem).update(liquidity_rule=rule)


def liquidity(recorder: Recorder) -> None:
    """A position's life: opened, looked at, earning, left by the price on both sides, brought home."""
    stage = recorder.stage
    keep_a_position(recorder)
    recorder.see("both tokens lie idle and the rule asks for a position", OPEN)
    lose(stage, "WETH")
    recorder.see("WETH is missing for the position", SWAP)
    lose(stage, "WETH", left=10 * ETH)
    lose(stage, "USDC")
    recorder.see("USDC is missing for the position", SWAP)
    lose(stage, "USDC", left=50_000 * USD)
    act(stage, "uniswap_lp_add_liquidity")
    recorder.see("a position was opened and all is well", LOOK)
    recorder.see("all is well, again", LOOK)
    recorder.see("a careful golem's position is well", LOOK, phase="CAUTIOUS")
    recorder.see("a defensive golem lessens what it has in the market", REMOVE, phase="DEFENSIVE")
    for phase in LATE:
        recorder.see("a late phase brings the position home", REMOVE, SWAP, phase=phase)


def fees(recorder: Recorder) -> None:
    """Others trade through the pool, and the position earns."""
    stage = recorder.stage
    keep_a_position(recorder)
    act(stage, "uniswap_lp_add_liquidity")
    recorder.see("a new position has earned nothing yet", LOOK)
    for _ in range(4):
        trade(stage.world, sells="USDC", buys="WETH", usd=2_000_000)
        trade(stage.world, sells="WETH", buys="USDC", usd=2_000_000)
        recorder.see("fees wait for their collection", COLLECT)
    recorder.see("fees wait, and the golem is careful", COLLECT, phase="CAUTIOUS")
    recorder.see("the owner asks for the fees", COLLECT, words="Collect the fees of our position, please.")
    act(stage, "uniswap_lp_collect_fees")
    recorder.see("the fees were collected", LOOK, phase="THRIVING")


def out_of_range(sells: str, buys: str, usd: int) -> Story:
    """A whale moves the price beyond the position's range; the feeds follow, in one of them late."""

    def story(recorder: Recorder) -> None:
        stage, world = recorder.stage, recorder.stage.world
        keep_a_position(recorder)
        act(stage, "uniswap_lp_add_liquidity")
        recorder.see("the position is in range", LOOK)
        trade(world, sells=sells, buys=buys, usd=usd)
        recorder.see("the price left the range, and the feeds did not follow", REMOVE, ANEW)
        let_feed_follow(world)
        recorder.see("the price left the range for good", REMOVE, ANEW, SWAP)
        recorder.see("it stays out of range while the golem is careful", REMOVE, ANEW, phase="CAUTIOUS")
        recorder.see("it is out of range and the golem defends itself", REMOVE, phase="DEFENSIVE")
        recorder.see("it is out of range in a late phase", REMOVE, SWAP, phase="SURVIVAL")
        recorder.see("it is out of range in the last phase", REMOVE, SWAP, phase="TERMINAL")

    return story


def rough_market(recorder: Recorder) -> None:
    """Prices swing, then fall by more than a tenth, with nothing and then with a position."""
    stage = recorder.stage
    keep_a_position(recorder)
    for price in (2_900, 3_100, 2_920):
        set_price(stage.live, price)
        recorder.see("the feed moves away from the pool: no time to open", PRICE, POOL)
    Heartbeat.objects.filter(golem=stage.live.golem).update(liquidity_rule={})
    for price in (2_900, 3_000, 2_880):
        set_price(stage.live, price)
        recorder.see("the market swings and nothing is held: watch it", PRICE)
    act(stage, "uniswap_lp_add_liquidity")
    recorder.see("the market swings around a position", LOOK, PRICE)
    set_price(stage.live, 2_600)
    recorder.see("the market falls by a tenth: the way out of the position", REMOVE)
    set_price(stage.live, 2_500)
    recorder.see("it falls on", REMOVE)


def nothing_held(recorder: Recorder) -> None:
    """No rule, and coins alone: something to begin with, by phase."""
    recorder.see("coins and nothing to keep: a price to begin with", PRICE)
    recorder.see("nothing happens", PRICE)
    recorder.see("a careful golem with coins alone", PRICE, phase="CAUTIOUS")
    recorder.see("a defensive golem gets into its base asset", SWAP, phase="DEFENSIVE")
    for phase in LATE:
        recorder.see("a late phase sells into the base asset", SWAP, phase=phase)


def doubtful_prices(recorder: Recorder) -> None:
    """A feed that is late, a pool that was pushed, a coin that is no longer worth a dollar."""
    stage, world = recorder.stage, recorder.stage.world
    keep_a_position(recorder)
    trade(world, sells="USDC", buys="WETH", usd=3_000_000)
    recorder.see("the pool was pushed away from the feeds", PRICE, POOL)
    trade(world, sells="WETH", buys="USDC", usd=3_100_000)
    recorder.see("it came back, and the rule asks for a position", OPEN)
    feed = world.tokens["WETH"].feed
    world.transact(world.actors.deployer, feed, "setUpdatedAt(uint256)", world.timestamp() - 100_000)
    recorder.see("the feed of WETH is stale", PRICE)
    recorder.see("it stays stale", PRICE)
    Heartbeat.objects.filter(golem=stage.live.golem).update(liquidity_rule={})
    recorder.see("it is stale and there is no rule", PRICE)


def no_such_pool(recorder: Recorder) -> None:
    """A rule that names what is not there."""
    keep_a_position(recorder, token_a="NOPE")
    recorder.see("the rule names a token that is not registered", "data_get_pools_by_token_pair|data_get_token_price")
    keep_a_position(recorder, fee_tier=100, token_a="DAI", token_b="WETH")
    recorder.see("the rule names a pool that is not there", "data_get_pools_by_token_pair|data_get_pools_by_token")


@contextmanager
def _silent_node(recorder: Recorder) -> Iterator[None]:
    wiring.configure_networks({31337: ("http://127.0.0.1:9",)})
    try:
        yield
    finally:
        wiring.configure_networks({31337: (recorder.stage.world.rpc_url,)})


def silence(recorder: Recorder) -> None:
    """The node does not answer, or the owner halted it: what there is to know is the wallet and what it holds."""
    stage = recorder.stage
    act(stage, "uniswap_lp_add_liquidity")
    with _silent_node(recorder):
        recorder.see("no node answers", f"{LOOK}|wallet_get_status")
        recorder.see("no node answers, again", f"{LOOK}|wallet_get_status")
    recorder.see("the node is back", LOOK)
    Golem.objects.filter(pk=stage.live.golem.pk).update(halted_at=clock.now(), halt_reason="drill")
    recorder.see("its owner halted it: nothing but looking", f"{LOOK}|wallet_get_status")
    recorder.see("it stays halted", f"{LOOK}|wallet_get_status")


def dear_gas(recorder: Recorder) -> None:
    """Gas becomes six times as dear as it was."""
    rpc = recorder.stage.world.rpc
    act(recorder.stage, "uniswap_lp_add_liquidity")
    for _ in range(2):
        rpc.call("anvil_setNextBlockBaseFeePerGas", hex(10**9))
        rpc.call("evm_mine")
        recorder.see("gas is as it was", LOOK)
    rpc.call("anvil_setNextBlockBaseFeePerGas", hex(12 * 10**9))
    rpc.call("evm_mine")
    recorder.see("gas is dear", "wallet_get_gas_price")


def in_debt(loan: Loan, repay: str, look: str) -> Story:
    """Collateral falls in steps, then the phase does."""

    def story(recorder: Recorder) -> None:
        stage = recorder.stage
        loan.take(stage.live)
        recorder.see("a loan is well covered: it is looked at", look)
        recorder.see("a careful golem looks at its loan", look, phase="CAUTIOUS")
        recorder.see("the owner wants it paid back", repay, words="Pay back our loan.")
        recorder.see("a golem that defends itself lowers its debt", repay, phase="DEFENSIVE")
        recorder.see("a late phase pays its debt first", repay, phase="SURVIVAL")
        recorder.see("the last phase pays its debt first", repay, phase="TERMINAL")
        Golem.objects.filter(pk=stage.live.golem.pk).update(phase="THRIVING")
        set_price(stage.live, 2_850)
        recorder.see("the market falls a little", look)
        fall(stage.live, loan)
        recorder.see("the collateral fell: the debt is in danger", repay)
        recorder.see("the debt stays in danger", repay)
        recorder.see("the debt is in danger in a late phase", repay, phase="SURVIVAL")

    return story


def held(case: str, leave: str, look: str, asks: str) -> Story:
    """Something at one protocol: looked at while all is well, left when it is not, asked for by the owner."""

    def story(recorder: Recorder) -> None:
        act(recorder.stage, case)
        if look:
            recorder.see("all is well where the golem put something", look)
            recorder.see("a careful golem looks at it", look, phase="CAUTIOUS")
        recorder.see("the owner wants it back", leave, words=asks)
        recorder.see("a golem that defends itself takes back what it lent out", leave, phase="DEFENSIVE")
        for phase in LATE:
            recorder.see("a late phase takes it back", leave, phase=phase)

    return story


def paid_queue(recorder: Recorder) -> None:
    """A queue that is waited in and that pays then."""
    stage = recorder.stage
    act(stage, "lido_unstake")
    recorder.see("a request waits in the queue", "lido_get_position")
    stage.prepare(stage.cases["lido_claim_withdrawal"].case)
    recorder.see("the queue paid: it can be claimed", "lido_claim_withdrawal")
    recorder.see("it is still to be claimed", "lido_claim_withdrawal", phase="CAUTIOUS")
    recorder.see("it is to be claimed by a golem that defends itself", "lido_claim_withdrawal", phase="DEFENSIVE")
    for phase in LATE:
        recorder.see("a late phase claims what was paid", "lido_claim_withdrawal", phase=phase)


def two_places(first: str, second: str, *leave: str) -> Story:
    """Something at two protocols, to be left at both."""

    def story(recorder: Recorder) -> None:
        act(recorder.stage, first)
        act(recorder.stage, second)
        recorder.see("a golem that defends itself leaves two places", *leave, phase="DEFENSIVE")
        for phase in LATE:
            recorder.see("a late phase leaves two places", *leave, phase=phase)

    return story


_ASKED: Final = (
    ("Swap 500 USDC into WETH.", SWAP),
    ("Sell half of the DAI.", SWAP),
    ("Buy some more ether with our dollars.", SWAP),
    ("Transfer 5 USDC home.", "wallet_transfer_token"),
    ("Send 100 USDC to my own wallet.", "wallet_transfer_token"),
    ("Stake two ether with Lido.", "lido_stake"),
    ("Stake an ether at Rocketpool.", "rocketpool_stake"),
    ("Lend our idle USDC out at Aave.", "aave_supply"),
    ("Supply 1,000 DAI to Spark.", "spark_supply"),
    ("Deposit 2,000 USDC into the vault.", "vault_deposit"),
    ("Borrow 500 USDC at Aave.", "aave_borrow"),
    ("Open a vault at Maker.", "maker_open_vault"),
    ("What does gas cost now?", "wallet_get_gas_price"),
    ("What allowance does the router have?", "uniswap_check_allowance"),
    ("Which lending rates are best?", "lending_compare_rates|aave_get_rates"),
    ("Get me a quote for 10 WETH.", "uniswap_get_quote"),
    ("Are there new pools worth a look?", "data_get_new_pools"),
    ("Show me the insights you have on slippage.", "memory_get_insights|memory_search_insights"),
    ("Search your memory for swaps that failed.", "memory_search|memory_get_failure_patterns"),
    ("Export what you remember.", "memory_export_grimoire"),
    ("What strategies do you know?", "memory_retrieve_strategies"),
    ("Add liquidity to the pool of WETH and USDC.", OPEN),
    ("What is the health of our pool?", "data_get_pool_health_score"),
    ("Tell me the price of WETH.", PRICE),
    ("How does our wallet stand?", "wallet_get_status"),
    ("Put some SUSHI into the bar.", "sushi_bar_enter"),
    ("Simulate the transaction before anything else.", "safety_simulate_transaction"),
    ("Register us as an agent.", "identity_register_agent"),
    ("Give feedback to the agent that served us.", "identity_submit_feedback"),
    ("Supply WETH to the market at Morpho.", "morpho_supply_market"),
)


_ASKED_LATER: Final = (
    ("Convert our DAI to USDC.", "uniswap_execute_swap"),
    ("Get rid of the WETH.", "uniswap_execute_swap"),
    ("Pay 20 USDC to the bookkeeper.", "wallet_transfer_token"),
    ("Move our ether to liquid staking at Lido.", "lido_stake"),
    ("Claim what Lido's queue has paid.", "lido_claim_withdrawal"),
    ("Earn interest on the DAI at Spark.", "spark_supply"),
    ("Repay everything at Aave.", "aave_repay"),
    ("Close our position.", "uniswap_lp_remove_liquidity"),
    ("Increase the liquidity of our position.", "uniswap_lp_increase_liquidity"),
    (
        "How risky is our loan?",
        "aave_get_liquidation_risk|lending_get_health_dashboard|aave_get_health_factor|safety_get_liquidation_risks",
    ),
    ("What is WETH worth?", "data_get_token_price"),
    ("Which pools have USDC?", "data_get_pools_by_token"),
    ("Watch the price feed of WETH.", "stream_price_feed"),
    ("Stop the subscription.", "stream_unsubscribe"),
    ("Rate the agent we hired.", "identity_submit_feedback"),
    ("Find other agents.", "identity_discover_agents"),
    ("Write down a strategy.", "memory_store_strategy"),
    ("Forget what you learned about gas.", "memory_manage_insight"),
    ("Consolidate your memory.", "memory_consolidate"),
    ("Wrap the stETH.", "lido_wrap"),
    ("Generate 500 DAI from the vault.", "maker_generate_dai"),
    ("Withdraw from the savings vault.", "vault_withdraw"),
    ("Liquidate whoever is under water at Morpho.", "morpho_liquidate"),
    ("Take profits from staking.", "lido_harvest_yield"),
    ("Do a flash loan.", "lending_flash_loan"),
    ("Ask the risk assessor.", "golem_delegate_task"),
    ("Tighten the spending policy.", "wallet_configure_policy"),
    ("Where do our positions stand?", "data_get_positions_by_owner"),
    ("Did your predictions come true?", "memory_compare_prediction"),
    ("Gas price, please.", "wallet_get_gas_price"),
)


def asked(part: int) -> Story:
    """An owner's words, to a golem with coins alone."""

    def story(recorder: Recorder) -> None:
        recorder.see("the first look", PRICE)
        for words, tool in _ASKED[part::3]:
            recorder.see("the owner asks for it", tool, words=words)

    return story


def asked_later(part: int) -> Story:
    """An owner's words, to a golem with a position."""

    def story(recorder: Recorder) -> None:
        act(recorder.stage, "uniswap_lp_add_liquidity")
        recorder.see("the first look", LOOK)
        for words, tool in _ASKED_LATER[part::2]:
            recorder.see("the owner asks for it", tool, words=words)

    return story


_ASKED_OF_A_LENDER: Final = (
    ("Trade 200 DAI for ether.", "uniswap_execute_swap"),
    ("Please exchange our USDT into USDC.", "uniswap_execute_swap"),
    ("Swap ten percent of the WETH to dollars.", "uniswap_execute_swap"),
    ("Send the auditor the 50 USDC we owe.", "wallet_transfer_token"),
    ("Put three ETH to work in Lido.", "lido_stake"),
    ("Stake one more ETH at Rocketpool, please.", "rocketpool_stake"),
    ("Supply USDC at Aave.", "aave_supply"),
    ("Take a loan of 100 USDC: borrow it at Spark.", "spark_borrow"),
    ("Is the gas price high right now?", "wallet_get_gas_price"),
    ("Quote me 3 WETH in USDC.", "uniswap_get_quote"),
    ("Compare the rates that lenders pay.", "lending_compare_rates|aave_get_rates"),
    ("List the pools that hold WETH.", "data_get_pools_by_token|data_get_pools_by_token_pair"),
    ("Show what insights you drew from swaps.", "memory_get_insights|memory_search_insights"),
    ("Store this strategy: sell into strength.", "memory_store_strategy"),
    ("What price does DAI have?", "data_get_token_price"),
    ("Report the status of the wallet.", "wallet_get_status"),
    ("Unwrap our wstETH.", "lido_unwrap"),
    ("Check how healthy the pool of WETH and USDC is.", "data_get_pool_health_score|data_get_pool_info"),
    ("Provide liquidity with WETH and USDC.", "uniswap_lp_add_liquidity"),
    ("Collect the fees of our position.", "uniswap_lp_collect_fees"),
    ("Discover agents who could audit us.", "identity_discover_agents"),
    ("Have the trade executor do it for you.", "golem_delegate_task"),
    ("Deposit collateral at Maker.", "maker_deposit_collateral"),
    ("Enter the sushi bar with all our SUSHI.", "sushi_bar_enter"),
)
_LENT: Final = "lending_get_health_dashboard|spark_get_user_summary|aave_get_user_summary|aave_get_health_factor"


def asked_of_a_lender(part: int) -> Story:
    """An owner's words, to a golem that has lent something."""

    def story(recorder: Recorder) -> None:
        act(recorder.stage, "spark_supply")
        recorder.see("the first look", _LENT)
        for words, tool in _ASKED_OF_A_LENDER[part::2]:
            recorder.see("the owner asks for it", tool, words=words)

    return story


_LOOKS: Final = (
    "aave_get_user_summary|aave_get_health_factor|lending_get_health_dashboard",
    "spark_get_user_summary|lending_get_health_dashboard",
    "morpho_get_user_position|lending_get_health_dashboard",
    "lending_get_health_dashboard",
)
_REPAYS: Final = (
    "aave_repay|lending_auto_deleverage",
    "spark_repay|lending_auto_deleverage",
    "morpho_repay_market|lending_auto_deleverage",
    "maker_repay_dai|lending_auto_deleverage",
)

STORIES: Final[dict[str, tuple[Story, tuple[str, ...]]]] = {
    "liquidity": (liquidity, ()),
    "fees": (fees, ()),
    "pushed up": (out_of_range("USDC", "WETH", 6_000_000), ()),
    "pushed down": (out_of_range("WETH", "USDC", 6_000_000), ()),
    "rough market": (rough_market, ()),
    "nothing held": (nothing_held, ()),
    "doubtful prices": (doubtful_prices, ()),
    "no such pool": (no_such_pool, ()),
    "silence": (silence, ()),
    "dear gas": (dear_gas, ()),
    **{
        f"debt at {loan.protocol}": (in_debt(loan, repay, look), (loan.protocol,))
        for loan, repay, look in zip(LOANS, _REPAYS, _LOOKS, strict=True)
    },
    "lent at aave": (held("aave_supply", "aave_withdraw", _LOOKS[0], "Withdraw what we lent at Aave."), ("aave_v3",)),
    "lent at spark": (held("spark_supply", "spark_withdraw", _LOOKS[1], "Take our WETH back from Spark."), ("spark",)),
    "lent at morpho": (
        held("morpho_supply_market", "morpho_withdraw_market", _LOOKS[2], "Withdraw from Morpho, all of it."),
        ("morpho",),
    ),
    "vault at maker": (
        held("maker_generate_dai", "maker_close_vault|maker_repay_dai", _LOOKS[3], "Close the vault at Maker."),
        ("maker",),
    ),
    "staked at lido": (held("lido_stake", "lido_unstake", "lido_get_position", "Unstake from Lido."), ("lido",)),
    "staked at rocketpool": (
        held("rocketpool_stake", "rocketpool_unstake", "rocketpool_get_position", "Unstake our rETH."),
        ("rocketpool",),
    ),
    "in the bar": (
        held("sushi_bar_enter", "sushi_bar_leave", "sushi_bar_get_position", "Leave the bar."),
        ("sushi_bar",),
    ),
    "in a vault": (held("vault_deposit", "vault_withdraw", "", "Withdraw from the vault."), ("erc4626",)),
    "a loop": (
        held(
            "lending_execute_leverage_loop",
            "lending_unwind_loop|lending_auto_deleverage|aave_repay",
            "lending_get_loop_health|aave_get_health_factor|lending_get_health_dashboard",
            "Unwind the loop.",
        ),
        ("aave_v3",),
    ),
    "a queue that pays": (paid_queue, ("lido",)),
    "aave and lido": (two_places("aave_supply", "lido_stake", "aave_withdraw", "lido_unstake"), ("aave_v3", "lido")),
    "spark and a vault": (
        two_places("spark_supply", "vault_deposit", "spark_withdraw", "vault_withdraw"),
        ("spark", "erc4626"),
    ),
    "a position and morpho": (
        two_places("uniswap_lp_add_liquidity", "morpho_supply_market", REMOVE, "morpho_withdraw_market"),
        ("morpho",),
    ),
    "the bar and rocketpool": (
        two_places("sushi_bar_enter", "rocketpool_stake", "sushi_bar_leave", "rocketpool_unstake"),
        ("sushi_bar", "rocketpool"),
    ),
    "asked 1": (asked(0), ()),
    "asked 2": (asked(1), ()),
    "asked 3": (asked(2), ()),
    "asked later 1": (asked_later(0), ()),
    "asked later 2": (asked_later(1), ()),
    "asked of a lender 1": (asked_of_a_lender(0), ("spark",)),
    "asked of a lender 2": (asked_of_a_lender(1), ("spark",)),
}
