"""Nothing outside `tools_app/protocols/` says a protocol's name: what is known of one stands on the shelf."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

import pytest

from golem_project.pi.exception_handler import known_errors
from tools_app.toolkit.protocol import SHELF
from tools_app.toolkit.registry import REGISTRY

ROOT = Path(__file__).parents[2]
HOME = "tools_app/protocols"
LOOKED_AT = ("archetypes_app", "golem_project", "memory_app", "permits_app", "templates", "tools_app")
WRITTEN_IN = frozenset({".py", ".html", ".js", ".css", ".json", ".toml", ".txt", ".md", ".wat", ".svg"})
"""What decides or is shown: data and pages as well as code."""
# A protocol that is called as the standard it follows.
STANDARDS = frozenset(path.stem for path in (ROOT / "tools_app" / "standards").iterdir())
MAY_SAY_SO = {
    "tools_app/chain/public_pegs.py": "tells who keeps a token at what it stands for, and where they say so",
    "tools_app/toolkit/refused_names.py": "tools that are read in place of those that never answer",
    "tests/bench": "measures swaps that really happen",
    "golem_project/demo": "shows one swap from end to end",
    "golem_project/embedded": "deploys the local chain's protocols, file by file",
    "tests/proof": "attacks with real calls of real venues",
    "memory_app/tools/families.py": "an example in a tool's schema, which agents have read so",
    "tools_app/subsystems/lending/cases.py": "the lender at which the cases of tools for any lender are played",
    "permits_app/tools/cases.py": "the lender at which a golem has a debt that its alerts watch",
    "tools_app/subsystems/safety/cases.py": "the lender at which the board of risks has something to show",
    "tools_app/subsystems/data/cases.py": "the market at which a position is opened to be looked at",
    "tools_app/subsystems/data/family.py": "the venue under which agents have always asked for market data",
    "tools_app/subsystems/data/pool_tools.py": "names of two tools before they were `data_*`, still answered to",
    "tools_app/subsystems/intel/fee_tools.py": "the specification's name of a tool that serves any market",
    "tools_app/subsystems/intel/strategy_tools.py": "the specification's names of two tools that serve any market",
}

IN_CAPITALS = (
    "Uniswap",
    "Aave",
    "Lido",
    "stETH",
    "wstETH",
    "Morpho",
    "MakerDAO",
    "SparkLend",
    "Sushi",
    "Rocket Pool",
    "rETH",
)
"""Names as people write them. Maker and Spark alone are words that mean something else too, and are not looked for."""
MAY_TELL = {
    "tools_app/chain/public_pegs.py": "tells who keeps a token at what it stands for, and where they say so",
    "tools_app/toolkit/refused_names.py": "tools that are read in place of those that never answer",
    "tools_app/subsystems/intel/fee_tools.py": "the specification's name of a tool that serves any market",
    "tools_app/subsystems/intel/strategy_tools.py": "the specification's names of two tools that serve any market",
    "golem_project/demo": "shows one swap from end to end",
    "golem_project/embedded": "deploys the local chain's protocols, file by file",
    "golem_project/pi/releases": "what versions that were given out took and answered, word for word",
    "memory_app/action_kinds.txt": "words by which people ask memory for what was done at a venue, beside other words",
    "memory_app/tools/families.py": "an example in a tool's schema, which agents have read so",
    "tools_app/standards/aave_like": "the standard that is called as its first lender",
    "tools_app/standards/signed_rights.py": "tells whose text a signature's type was taken from",
    "tools_app/chain/deployments/31337.json": "names the local chain's contracts, as they were deployed",
    "tools_app/subsystems/data/family.py": "the venue under which agents have always asked for market data",
    "tools_app/subsystems/data/pool_tools.py": "names of two tools before they were `data_*`, still answered to",
    "tools_app/subsystems/lending/cases.py": "the lender at which the cases of tools for any lender are played",
    "permits_app/tools/cases.py": "the lender at which a golem has a debt that its alerts watch",
    "tools_app/subsystems/safety/cases.py": "the lender at which the board of risks has something to show",
    "tools_app/subsystems/data/cases.py": "the market at which a position is opened to be looked at",
    "tools_app/subsystems/testnet": "deploys the market that a private chain gets, and says which",
    "tools_app/sandbox/template/quote_scout.wat": "an example module, which asks for a swap at a venue",
    "archetypes_app/archetype_data/development.py": "an archetype that writes hooks for one market, in its own words",
}
"""Where a name may stand in capital letters, in data, or in what is shown: prose names, and nothing there decides."""


OF_MARKETS = ("tools_app.toolkit.markets", "tools_app.portfolio.markets")
PLAIN_WORDS = frozenset({"across", "bridge", "curve", "identity", "maker", "vault"})
"""Words by which tools begin that mean something else elsewhere: whoever makes a golem, a cage's vault, a line,
and what leads from one chain to another."""


def list_names() -> list[str]:
    """Folders of protocols, the names on the shelf, and the words by which their tools begin."""
    folders = {path.name for path in (ROOT / HOME).iterdir() if (path / "protocol.py").exists()}
    home = HOME.replace("/", ".")
    begin = {tool.name.partition("_")[0] for tool in REGISTRY if tool.handler.__module__.startswith(f"{home}.")}
    return sorted({*folders, *begin, *(each.name for each in SHELF if each.name in folders)} - STANDARDS - PLAIN_WORDS)


def list_files(suffixes: Collection[str] = frozenset({".py", ".html"})) -> Iterator[Path]:
    for folder in LOOKED_AT:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and not {"migrations", "__pycache__"} & set(path.parts):
                yield path


def find_told(allowed: Collection[str]) -> list[str]:
    """Lines outside the protocols' folder that name one in any letters, in any file that is read."""
    return [f"{where}:{number}: {line}" for where, number, line in list_told() if not where.startswith(tuple(allowed))]


@cache
def list_told() -> list[tuple[str, int, str]]:
    """Every such line with its file and number: all files are read once for all tests."""
    names = sorted({*list_names(), *IN_CAPITALS}, key=len, reverse=True)
    named = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(map(re.escape, names))})(?![a-z])", re.IGNORECASE)
    standards = re.compile("|".join(sorted(STANDARDS - {"__init__"}, key=len, reverse=True)))
    return [
        (where, number, line.strip())
        for path in list_files(WRITTEN_IN)
        if not (where := path.relative_to(ROOT).as_posix()).startswith(HOME + "/")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if named.search(standards.sub("", line))
    ]


def test_no_protocol_is_named_in_any_letters_or_files_but_where_prose_may() -> None:
    assert find_told(MAY_TELL) == []


@pytest.mark.parametrize("where", sorted(MAY_TELL))
def test_every_place_of_prose_still_names_one(where: str) -> None:
    told = find_told([each for each in MAY_TELL if each != where])
    assert any(line.startswith(where) for line in told), f"{where} names none any more"


def test_no_protocol_is_named_outside_its_folder() -> None:
    names = list_names()
    assert len(names) > 1
    # `Uniswap` in a sentence for people is prose; what code could decide by is written in small letters.
    named = re.compile(rf"(?<![A-Za-z])({'|'.join(map(re.escape, names))})(?![a-z])")
    standards = re.compile("|".join(sorted(STANDARDS - {"__init__"}, key=len, reverse=True)))
    found = []
    for path in list_files():
        where = path.relative_to(ROOT).as_posix()
        if where.startswith(HOME + "/") or any(where.startswith(each) for each in MAY_SAY_SO):
            continue
        found += [
            f"{where}:{number}: {line.strip()}"
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if named.search(standards.sub("", line))
        ]
    assert found == []


def test_what_looks_at_markets_and_streams_speaks_of_no_protocol_to_agents() -> None:
    told = [tool for tool in REGISTRY if tool.prefix in {"data", "stream"}]
    assert len(told) > 10
    named = re.compile("|".join(map(re.escape, list_names())), re.IGNORECASE)
    words = ("summary", "description", "snippet", "guidelines", "parameters")
    said = {tool.name: named.findall(json.dumps([tool.definition_body[each] for each in words])) for tool in told}
    assert {name: found for name, found in said.items() if found} == {}
    assert not any(named.search(error.title) for error in known_errors() if error.__module__ in OF_MARKETS)


@pytest.mark.parametrize("where", sorted(MAY_SAY_SO))
def test_every_exception_is_still_needed(where: str) -> None:
    path = ROOT / where
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.suffix in {".py", ".html"}]
    assert any(re.search("|".join(list_names()), each.read_text()) for each in files), f"{where} names none any more"
