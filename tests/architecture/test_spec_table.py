"""The table of the five texts says whether each element holds, is open or is otherwise by a decision.

What a registry can tell is read against it, so that no name that does not answer counts as held.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture.test_seed_rows import BUILT_IN_TOOLS, TIERED_TOOLS
from tools_app.protocols.uniswap.addresses import CHAINS as UNISWAP
from tools_app.toolkit.enums import Category
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import ReadTool

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/history/spec-table.md").read_text(encoding="utf-8")
ROWS = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if re.match(r"\| [A-Z]", line)]
STATES = {(row[0], row[1]): row[2] for row in ROWS}
MAIN_CHAINS = {1, 8453, 130, 42161, 10, 137, 56, 43114}
PREFIXES = {
    *("uniswap", "aave", "morpho", "curve", "lido", "rocketpool", "eigenlayer", "pendle", "yearn", "ethena", "gmx"),
    *("panoptic", "data", "safety", "intel", "memory", "identity", "wallet", "vault", "stream", "testnet", "bootstrap"),
}


def has_category(name: str) -> bool:
    return any(tool.category.value == name for tool in REGISTRY)


def serves(prefix: str, *chains: int) -> bool:
    """Whether tools of a prefix answer on each of these public chains."""
    tools = [tool for tool in REGISTRY if tool.prefix == prefix]
    return bool(tools) and set(chains) <= {chain for tool in tools for chain in tool.supported_chains or MAIN_CHAINS}


def reads_everywhere(category: Category) -> bool:
    reads = [tool for tool in REGISTRY if isinstance(tool, ReadTool) and tool.category is category]
    return all(tool.supported_chains is None or set(tool.supported_chains) >= MAIN_CHAINS for tool in reads)


def answers(word: str) -> bool:
    return any(word in (tool.key, tool.name, *tool.aliases) for tool in REGISTRY)


TOLD_BY_THE_REGISTRY: dict[tuple[str, str], Callable[[], bool]] = {
    ("Delegation: intro", "LLM sees 8 tools; behind them 190+ implementations"): lambda: len(REGISTRY) >= 190,
    ("Architecture: Tool library", "423+ tools"): lambda: len(REGISTRY) >= 423,
    ("Architecture: Chain matrix", "trading Uniswap V2/V3/V4 x 8 chains"): lambda: MAIN_CHAINS <= set(UNISWAP),
    ("Architecture: Chain matrix", "lending Aave"): lambda: serves("aave", 1, 8453, 42161, 10, 137, 43114),
    ("Architecture: Chain matrix", "lending Morpho"): lambda: serves("morpho", 1, 8453),
    ("Architecture: Chain matrix", "staking Lido"): lambda: serves("lido", 1),
    ("Architecture: Chain matrix", "restaking EigenLayer"): lambda: serves("eigenlayer", 1),
    ("Architecture: Chain matrix", "derivatives GMX"): lambda: serves("gmx", 42161, 43114),
    ("Architecture: Chain matrix", "derivatives Panoptic"): lambda: serves("panoptic", 1, 8453, 130),
    ("Architecture: Chain matrix", "yield Pendle"): lambda: serves("pendle", 1, 42161),
    ("Architecture: Chain matrix", "vault ERC-4626"): lambda: serves("vault", 1, 8453, 130),
    ("Architecture: Chain matrix", "reads on every chain via RPC, matrix limits writes"): lambda: all(
        reads_everywhere(each) for each in (Category.DATA, Category.TRADING, Category.STAKING, Category.VAULT)
    ),
    ("Architecture: Prefixes", "12 protocol + 10 subsystem prefixes"): lambda: (
        {tool.prefix for tool in REGISTRY} >= PREFIXES
    ),
    ("Architecture: Architecture", "18 tool modules with counts"): lambda: all(
        has_category(each.value) for each in Category
    ),
    ("Architecture: Adapter sets", "query_state portfolio"): lambda: answers("portfolio"),
    ("Delegation: Layer 1", "emergency_halt: pause vault"): lambda: answers("vault_pause"),
    **{
        (topic, f"category {each.value}"): lambda each=each: has_category(each.value)  # type: ignore[misc]
        for topic in ("Tools: Step 1 categories", "Architecture: 17 categories")
        for each in Category
        if (topic, f"category {each.value}") in STATES
    },
    **{
        ("Test chains", each): lambda each=each: answers(each)  # type: ignore[misc]
        for each in ("testnet_setup_local", "testnet_deploy_mock_pool", "testnet_fund_account", "testnet_time_travel")
    },
}
"""Elements that say what there is, and whether the registry has it."""


def test_every_element_has_a_state_and_a_place() -> None:
    assert len(ROWS) >= 460 and all(len(row) == 4 for row in ROWS)
    states = re.compile(r"holds|open|decision 0\d{3}")
    assert [row for row in ROWS if not states.fullmatch(row[2])] == []


@pytest.mark.parametrize("element", TOLD_BY_THE_REGISTRY, ids=lambda each: each[1])
def test_what_the_registry_tells_is_what_the_table_says(element: tuple[str, str]) -> None:
    """What came since holds from now on, and what went is open again: the table says so in the same change."""
    assert (STATES[element] == "holds") == TOLD_BY_THE_REGISTRY[element](), element
    assert STATES[element] in ("holds", "open"), "a decision closes no name"


def test_the_coding_and_the_tiered_tools_stand_there_element_by_element() -> None:
    for topic, elements in (("Built-in tools", BUILT_IN_TOOLS), ("Tiered tools", TIERED_TOOLS)):
        assert {element for of, element in STATES if of == topic} == set(elements)
        for element, tests in elements.items():
            (place,) = (row[3] for row in ROWS if row[:2] == [topic, element])
            assert {f"tests/{each.partition('::')[0]}" for each in tests} == set(re.findall(r"`([^`]+)`", place))


def test_each_place_is_files_that_exist_and_nothing_else() -> None:
    """A test that stands as the place of an element is one of them."""
    assert [row for row in ROWS if not re.fullmatch(r"`[^`]+`(, `[^`]+`)*", row[3])] == []
    named = [(row[1], name) for row in ROWS for name in re.findall(r"`([^`]+)`", row[3])]
    assert [(element, name) for element, name in named if not (ROOT / name).is_file()] == []


def test_no_element_stands_there_twice() -> None:
    assert [count for count in Counter((row[0], row[1]) for row in ROWS).items() if count[1] > 1] == []


def test_every_decision_of_the_table_exists() -> None:
    kept = {path.name[:4] for path in (ROOT / "docs/decisions").glob("*.md")}
    assert {row[2].removeprefix("decision ") for row in ROWS if row[2].startswith("decision")} <= kept


def test_no_decision_that_called_something_away_closes_a_row() -> None:
    """0242 counted what was not on the shelf as closed, 0131 and 0136 what came since."""
    assert [row for row in ROWS if row[2] in ("decision 0242", "decision 0131")] == []
