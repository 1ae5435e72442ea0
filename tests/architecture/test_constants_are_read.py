"""A constant of the product that nothing of the product names is dead: a change of it changes nothing."""

from __future__ import annotations

import ast
import re
from collections import Counter
from typing import Final

from tests.architecture.sources import ROOT, list_sources, parse

# Read by their names from outside: Django asks these modules.
_READ_BY_DJANGO: Final = ("golem_project/settings/", "golem_project/formats/", "golem_project/urls.py")
_LEFT: Final = {
    "golem_project.embedded.world.protocols.ethena.REWARD_USD": (
        "what is built from that file is written on every local chain that people keep"
    ),
    "golem_project.management.preload.DEFINITIONS": "made before a process forks, so that no child makes it",
    "golem_project.metrics.measures.BY_NAME": "tests find a measure by it",
}


def _list_constants() -> dict[str, str]:
    """Module and name -> name."""
    found = {}
    for path in list_sources():
        if path.startswith(_READ_BY_DJANGO) or "/migrations/" in path:
            continue
        module = path.removesuffix(".py").replace("/", ".")
        for node in parse(path).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            for target in targets:
                if isinstance(target, ast.Name) and target.id.isupper():
                    found[f"{module}.{target.id}"] = target.id
    return found


def test_every_constant_is_named_where_it_is_used() -> None:
    words = Counter[str]()
    for path in list_sources():
        words.update(re.findall(r"[A-Za-z_]\w*", (ROOT / path).read_text(encoding="utf-8")))
    constants = _list_constants()
    assert len(constants) > 3_000
    assert {place for place, name in constants.items() if words[name] == 1} == set(_LEFT)
