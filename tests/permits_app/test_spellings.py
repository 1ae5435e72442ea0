"""Every parameter of every write has one spelling: what means the same is one action, what means another is not."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pytest
from eth_utils import to_checksum_address

from archetypes_app.models import Golem
from golem_project import wiring
from golem_project.pi.schema_lines import name_home
from permits_app.permits.equal_actions import hash_meant
from tests.batches import in_batches
from tools_app import runner
from tools_app.protocols.morpho_blue.addresses import known_markets
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.tooldef import LocalWriteTool, ToolDef, WriteTool

MAINNET: Final = 1
USDC: Final = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
OWN: Final = to_checksum_address("0x" + "ab" * 20)
OTHER: Final = "0xBB9bc244D798123fDe783fCc1C72d3Bb8C189413"
NOBODY: Final = "0x" + "00" * 20
LONG: Final = "0x" + "ab" * 32


class Spellings(NamedTuple):
    """Ways to write one thing, None for leaving it out, and one way to write another."""

    same: tuple[Any, ...]
    other: Any


_ADDRESS = Spellings((USDC, USDC.lower(), "0x" + USDC[2:].upper()), OTHER)
_DECIMAL = Spellings(("2", "2.0", "02", "002.000"), "2.5")
_TOKEN = Spellings(("USDC", "usdc", USDC, USDC.lower()), "WETH")
_PAIR = Spellings(("USDC/WETH", "usdc/weth", f"{USDC.lower()}/WETH"), "WETH/USDC")
_AMOUNT = Spellings(("500", "0500", 500), "501")

BY_PATTERN: Final[dict[str, Spellings]] = {
    r"^0x[0-9a-fA-F]{40}$": _ADDRESS,
    r"^0x[0-9a-fA-F]{64}$": Spellings((LONG, "0x" + LONG[2:].upper()), "0x" + "cd" * 32),
    r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$": Spellings(
        ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"),
        "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
    ),
    r"^0x([0-9a-fA-F]{2})*$": Spellings(("0xabCD", "0xABcd"), "0xabce"),
    r"^(0x[0-9a-fA-F]{40}|[A-Za-z0-9.+\-]{1,20})$": _TOKEN,
    r"^[^/\s]{1,64}/[^/\s]{1,64}$": _PAIR,
    r"^[0-9]{1,78}$": _AMOUNT,
    r"^([0-9]{1,78}|max)$": Spellings(("max", "MAX", str(2**256 - 1)), "500"),
    r"^[0-9]{1,30}(\.[0-9]{1,30})?$": _DECIMAL,
    r"^[0-9]{1,12}(\.[0-9]{1,6})?$": _DECIMAL,
    r"^-?[0-9]{1,12}(\.[0-9]{1,6})?$": Spellings(("-2", "-2.0", "-02"), "2"),
    r"^(0|[1-9][0-9]{0,77})$": Spellings(("7",), "70"),
    r"^(v4:)?(0|[1-9][0-9]{0,77})$": Spellings(("v4:7",), "7"),
    r"^0x([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$": Spellings((LONG, "0x" + LONG[2:].upper()), OTHER),
    # A header as it was answered: base64 has capitals and small letters that differ.
    r"^[A-Za-z0-9+/]+={0,2}$": Spellings(("eyJhIjoxfQ==",), "eyJhIjoyfQ=="),
    r"^[1-9][0-9]{0,15}:(0|[1-9][0-9]{0,77})$": Spellings(("1:7",), "1:8"),
    r"^(auto|0x[0-9a-fA-F]{40})$": _ADDRESS,
    r"^0x[0-9a-fA-F]{40}:0x[0-9a-fA-F]{40}:[0-9]{1,12}:[0-9]{1,12}:0x[0-9a-fA-F]{40}$": Spellings(
        (f"{USDC}:{OTHER}:7:9:{OWN}", f"{USDC.lower()}:{OTHER}:07:9:{OWN.lower()}"), f"{USDC}:{OTHER}:7:10:{OWN}"
    ),
    r"^[a-z][a-z0-9_]{1,39}$": Spellings(("aave_v3", "aave"), "spark"),
    r"^[0-9a-f-]{36}$": Spellings((str(uuid.UUID(int=1)),), str(uuid.UUID(int=2))),
    r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$": Spellings((str(uuid.UUID(int=1)),), str(uuid.UUID(int=2))),
    r"^[A-Za-z0-9._/-]{1,400}$": Spellings(("a/one.txt", "./a/one.txt", "a//one.txt"), "a/two.txt"),
    r"^[a-z][a-z0-9_]{1,39}/[a-z_]{1,20}/[0-9]{1,16}/[0-9a-zA-Z_\-]{1,100}$": Spellings(
        ("aave_v3/account/1/0xab",), "aave_v3/account/1/0xcd"
    ),
    **{
        # Names that the tool looks up to the letter.
        pattern: Spellings(("one-two".replace("-", dash),), "other")
        for pattern, dash in {
            r"^[A-Za-z0-9._:-]{1,96}$": "-",
            r"^[a-z0-9][a-z0-9_-]{0,79}$": "-",
            r"^[a-z0-9_-]{1,50}$": "-",
            r"^[a-z0-9_-]{1,64}$": "-",
            r"^[a-z0-9_]{3,96}$": "_",
            r"^[a-z0-9\-]{4,64}$": "-",
            r"^[0-9A-Za-z._:/\-]{1,32}$": "-",
        }.items()
    },
}
EPISODE: Final = "00000000-0000-0000-0000-0000000000e1"
OTHER_EPISODE: Final = "00000000-0000-0000-0000-0000000000e2"
BY_NAME: Final[dict[str, Spellings]] = {
    "route": Spellings(
        ("v3:500>USDC>v2@20", "v3:0500>usdc>v2@020", f"v3:500>{USDC}>v2@20", f"v3:500>{USDC.lower()}>v2@20"),
        "v3:500>WETH>v2@20",
    ),
    "on_behalf_of": Spellings((None, OWN, OWN.lower(), NOBODY), OTHER),
    "lido_harvest_yield.account": Spellings((None, OWN, OWN.lower()), OTHER),
    "referral": Spellings((None, NOBODY), OTHER),
    "chain_id": Spellings((None, MAINNET), 8453),
    "request_ids": Spellings((["7", "8"], ["07", "008"], ["8", "7"], ["7", "8", "8"]), ["7"]),
    "allowed_contracts": Spellings(([USDC, OTHER], [OTHER.lower(), USDC], [USDC, OTHER, USDC]), [USDC]),
    "chain_restrictions": Spellings(([1, 10], [10, 1, 1]), [1]),
    "chains": Spellings(([1, 10], [10, 1]), [1]),
    "token_pairs": Spellings((["USDC/WETH", "WETH/DAI"], ["weth/DAI", "usdc/WETH"]), ["USDC/WETH"]),
    "approvals": Spellings(([{"token": "USDC", "spender": OTHER}],), [{"token": "WETH", "spender": OTHER}]),
    "initial_price": Spellings((None, "1", "1.0", "01"), "1.5"),
    "liquidity_usd": Spellings((None, "100000", "100000.00"), "100001"),
    "import_confidence": Spellings((None, "0.4", "0.40"), "0.04"),
    "collateral_type": Spellings(("ETH-A", "eth-a", " Eth-A "), "ETH-C"),
    "versions": Spellings((["v2", "v3"], ["v3", "v2"]), ["v2"]),
    "tokens": Spellings((["USDC", "WETH"], [USDC, "weth"]), ["WETH", "USDC"]),
    "firepit_burn.assets": Spellings((["USDC", "WETH"], ["WETH", USDC.lower()]), ["USDC"]),
    "uniswap_lp_harvest_rewards.positions": Spellings((["7", "8"], ["8", "7", "7"]), ["7"]),
    "wallet_migrate.tokens": Spellings((["USDC", "WETH"], ["WETH", USDC]), ["USDC"]),
    **{
        name: Spellings(([EPISODE, OTHER_EPISODE], [OTHER_EPISODE, EPISODE, EPISODE]), [EPISODE])
        for name in ("bears_out", "against")
    },
    "amounts": Spellings((["500", "600"], ["0500", "600"]), ["600", "500"]),
    "eigenlayer_queue_withdrawal.strategies": Spellings(([USDC, OTHER], [USDC.lower(), OTHER]), [OTHER, USDC]),
    "eigenlayer_queue_withdrawal.shares": Spellings((["500", "600"], ["0500", "600"]), ["600", "500"]),
    "wallet_learn_payee.url": Spellings(("https://api.example/a",), "https://api.example/A"),
    "lrt_claim_withdrawal.request_id": Spellings(("kelp-12",), "kelp-13"),
    "path": Spellings(("a/one.txt", "./a/one.txt", "a//one.txt"), "a/two.txt"),
    **{
        name: Spellings(('{"a": 1, "b": [2, 3]}', '{ "b":[2,3],"a":1 }'), '{"a": 1, "b": [3, 2]}')
        for name in (
            "uniswap_lp_batch_operations.operations",
            "uniswap_lp_claim_rewards.listed_claim",
            "registration",
            "updates",
            "portfolio_snapshot",
            "market_conditions",
            "decision_params",
            "predicted_outcome",
            "parameters",
        )
    },
}
FREE_TEXT: Final = frozenset(
    "content new_string old_string command description instruction context name review image proof outcome reflection"
    " reasoning_chain reason mode version label subject statement reference".split()
)
"""Texts that say what they say, letter by letter; of `mode` and `version` the tool takes no other spelling."""


@pytest.fixture(autouse=True)
def _mainnet() -> Iterator[None]:
    """Known by its address book; nothing is asked of a node."""
    wiring.configure_networks({MAINNET: ("http://127.0.0.1:9",)})
    yield
    wiring.configure_networks({})


def list_parameters() -> list[tuple[ToolDef, str]]:
    tools = [tool for tool in REGISTRY if isinstance(tool, WriteTool | LocalWriteTool)]
    return [(tool, name) for tool in tools for name in tool.params_model.model_fields]


def find_spellings(tool: ToolDef, name: str) -> Spellings:
    """By what the parameter declares; a kind that is new here says first how else it can be written."""
    if name == "market_id":
        return spell_market()
    found = BY_NAME.get(f"{tool.name}.{name}") or BY_NAME.get(name)
    if found is not None:
        return found
    shape = tool.schema["properties"][name]
    shape = next((each for each in shape.get("anyOf", [shape]) if each.get("type") != "null"), shape)
    if "$ref" in shape:
        shape = tool.schema["$defs"][shape["$ref"].rsplit("/", 1)[1]]
    if "enum" in shape:
        words = shape["enum"]
        return Spellings((words[0],), words[-1])
    if "const" in shape:
        return Spellings((shape["const"],), None)
    if "pattern" in shape:
        return BY_PATTERN[shape["pattern"]]
    if shape["type"] == "boolean":
        return Spellings((True,), False)
    if shape["type"] == "integer":
        least = shape.get("minimum", 1)
        return Spellings((least + 1,), least + 2)
    assert shape["type"] == "string" and name in FREE_TEXT, f"{tool.name}.{name}: how else can it be written?"
    return Spellings(("Two words", "Two words"), "two words")


def spell_market() -> Spellings:
    params, second = known_markets(MAINNET)[0], "0x" + "cd" * 32
    fields = {
        "loanToken": params.loan_token,
        "collateralToken": params.collateral_token,
        "oracle": params.oracle,
        "irm": params.irm,
        "lltv": str(params.lltv),
    }
    lower = {key: value.lower() for key, value in fields.items()}
    return Spellings((params.id, "0x" + params.id[2:].upper(), fields, lower), second)


def make_golem() -> Golem:
    return Golem(id=uuid.UUID(int=9), home_chain_id=MAINNET, address=OWN)


def hash_with(tool: ToolDef, name: str, value: Any) -> str:
    given = {
        each: find_spellings(tool, each).same[0]
        for each, field in tool.params_model.model_fields.items()
        if field.is_required()
    }
    if "source_chain" in given:
        # Tokens are those of the chain that it leaves; here they are the home chain's.
        given["source_chain"] = MAINNET
    checked = runner.check_params(tool=tool, params={**given, name: value})
    return hash_meant(golem=make_golem(), tool=tool, params=checked)


@in_batches(
    "parameter",
    list_parameters(),
    name=lambda each: f"{each[0].name}.{each[1]}",
    batch=lambda each: name_home(each[0]),
)
def test_however_a_parameter_is_written_it_is_one_action_and_another_meaning_is_another(
    parameter: tuple[ToolDef, str],
) -> None:
    tool, name = parameter
    spellings = find_spellings(tool, name)
    hashes = {json.dumps(each): hash_with(tool, name, each) for each in spellings.same}
    assert len(set(hashes.values())) == 1, hashes
    assert hash_with(tool, name, spellings.other) not in hashes.values()
