"""Stories that no rule of the selection was made for: written when all of them stood, and no rule may be made for them.

A rule that is changed because of one of these makes it an ordinary story; another has to be written in its place.
"""

from __future__ import annotations

from typing import Final

from tests.golem_project.heartbeat.thinking.recorded.recorder import Recorder
from tests.golem_project.heartbeat.thinking.recorded.stories import Story, act, two_places

_WORDS: Final = (
    ("Get rid of our DAI and take WETH.", "uniswap_execute_swap"),
    ("Swap 1,000 USDC for WBTC.", "uniswap_execute_swap"),
    ("Transfer 10 DAI to the treasury.", "wallet_transfer_token"),
    ("Wire 25 USDC to the owner.", "wallet_transfer_token"),
    ("Unstake what we have at Lido.", "lido_unstake"),
    ("Wrap half of our stETH.", "lido_wrap"),
    ("Supply 500 DAI at Aave.", "aave_supply"),
    ("Borrow WETH at Morpho.", "morpho_borrow_market"),
    ("Deposit 100 USDC into a vault.", "vault_deposit"),
    ("Open a position of liquidity in WETH and USDC.", "uniswap_lp_add_liquidity"),
    ("Tell me what gas costs.", "wallet_get_gas_price"),
    ("What would 2 WETH bring in USDC? A quote will do.", "uniswap_get_quote"),
    ("Which pools trade DAI?", "data_get_pools_by_token"),
    ("Any new pools today?", "data_get_new_pools"),
    ("How much is WETH worth in dollars?", "data_get_token_price"),
    ("Show our balances in the wallet.", "wallet_get_status"),
    ("Search our memory for reverted swaps.", "memory_search|memory_get_failure_patterns|memory_search_episodes"),
    ("Which insights do you have about gas?", "memory_get_insights|memory_search_insights"),
    ("Retrieve the strategies we stored.", "memory_retrieve_strategies"),
    ("Delegate this to the liquidity manager.", "golem_delegate_task"),
    ("What rates does Lido pay?", "lido_get_rates"),
    ("Compare lending rates across protocols.", "lending_compare_rates"),
    ("Simulate a transaction first.", "safety_simulate_transaction"),
    ("Find other agents and their reputation.", "identity_discover_agents|identity_get_reputation_summary"),
    ("Subscribe to the trades of the pool.", "stream_trades"),
)


def asked_of_a_staker(part: int) -> Story:
    """An owner's words, to a golem that has staked."""

    def story(recorder: Recorder) -> None:
        act(recorder.stage, "lido_stake")
        recorder.see("the first look", "lido_get_position")
        for words, tool in _WORDS[part::2]:
            recorder.see("the owner asks for it", tool, words=words)

    return story


HELD_OUT: Final[dict[str, tuple[Story, tuple[str, ...]]]] = {
    "asked of a staker 1": (asked_of_a_staker(0), ("lido",)),
    "asked of a staker 2": (asked_of_a_staker(1), ("lido",)),
    "spark and lido": (two_places("spark_supply", "lido_stake", "spark_withdraw", "lido_unstake"), ("spark", "lido")),
    "morpho and the bar": (
        two_places("morpho_supply_market", "sushi_bar_enter", "morpho_withdraw_market", "sushi_bar_leave"),
        ("morpho", "sushi_bar"),
    ),
    "aave and a vault": (
        two_places("aave_supply", "vault_deposit", "aave_withdraw", "vault_withdraw"),
        ("aave_v3", "erc4626"),
    ),
    "a position and rocketpool": (
        two_places("uniswap_lp_add_liquidity", "rocketpool_stake", "uniswap_lp_remove_liquidity", "rocketpool_unstake"),
        ("rocketpool",),
    ),
    "lido and the bar": (
        two_places("lido_stake", "sushi_bar_enter", "lido_unstake", "sushi_bar_leave"),
        ("lido", "sushi_bar"),
    ),
}
