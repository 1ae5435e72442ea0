"""docs/mutants.md: how many of the drawn mutants the suite noticed, and each that it did not, with the reason.

`python -m tests.proof.drawn_page` takes what `make proof ONLY=drawn` found out of var/drawn.json into a file of the
checkout, drawn_verdicts.json, and writes the page from it; a test compares the two. The test that noticed a mutant is
kept with it: the next run asks that one first.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from golem_project.embedded.paths import CHECKOUT
from tests.proof.drawn import DRAWN, KEPT, LEAST_NOTICED, SEEDS, Drawn, draw
from tests.proof.drawn_reasons import SURVIVES
from tests.proof.near_tests import APPS

PAGE: Final = CHECKOUT / "docs" / "mutants.md"
FOUND: Final = CHECKOUT / "var" / "drawn.json"
_LATE: Final = "no quick test that it met in its time noticed it; not all slow ones that are near were asked yet"
_NOT_LOOKED_AT: Final = "not known: nobody looked yet whether it is a hole"
_WORDS: Final = {"survived": "met tests, and all of them passed", "unreached": "no test reached it"}


def take_over(known: Mapping[str, Any]) -> dict[str, Any]:
    """By seed: how many were tried and noticed, which were not, and which change nothing."""
    return {str(seed): _summarise(draw(DRAWN, seed=seed), known) for seed in SEEDS}


def _summarise(drawn: list[Drawn], known: Mapping[str, Any]) -> dict[str, Any]:
    tried = [each for each in drawn if each.reason is None and each.key in known]
    left = [each for each in tried if known[each.key]["verdict"] != "noticed"]
    return {
        "tried": len(tried),
        "noticed": [
            {"module": each.module, "name": each.mutant.name, "by": known[each.key].get("by", "")}
            for each in tried
            if each not in left
        ],
        "left": [
            {
                "module": each.module,
                "name": each.mutant.name,
                "verdict": known[each.key]["verdict"],
                "is_late": not known[each.key].get("all", True),
            }
            for each in left
        ],
        "changes_nothing": [
            {"module": each.module, "name": each.mutant.name, "reason": each.reason}
            for each in drawn
            if each.reason is not None
        ],
    }


def write_page(kept: Mapping[str, Any]) -> str:
    """The page's text."""
    return "\n".join(_list_lines(kept)) + "\n"


def _list_lines(kept: Mapping[str, Any]) -> Iterator[str]:
    yield "# What the tests notice\n"
    yield "Written by `.venv/bin/python -m tests.proof.drawn_page` from what `make proof ONLY=drawn` found; a test"
    yield "compares. A mutant is one small change of one line of the product: a comparison, a number, a condition, a"
    yield f"call left out. {DRAWN} are drawn by a written seed over everything outside the safety code, which is proven"
    yield "whole. A mutant counts as noticed when a test fails with it and passes without it;"
    yield f"{LEAST_NOTICED} of {DRAWN} are asked for.\n"
    for seed, told in kept.items():
        yield f"## Seed {seed}\n"
        so_far = "" if told["tried"] == DRAWN else f" of {DRAWN} so far"
        yield f"{told['tried']}{so_far} tried, {len(told['noticed'])} noticed, {len(told['left'])} not.\n"
        if nameless := sum(not each["by"] for each in told["noticed"]):
            yield f"{nameless} of these an earlier run saw noticed, which did not keep by which test.\n"
        yield "| Package | Tried | Noticed | Share |\n| --- | --- | --- | --- |"
        for package, (tried, noticed) in count_by_package(told).items():
            yield f"| {package} | {tried} | {noticed} | {100 * noticed // tried} % |"
        yield ""
        if told["left"]:
            yield "| Not noticed | What became of it | Why |\n| --- | --- | --- |"
            for each in told["left"]:
                became = _LATE if each["is_late"] else _WORDS[each["verdict"]]
                yield f"| {_show(each)} | {became} | {find_reason(each)} |"
            yield ""
        if told["changes_nothing"]:
            yield "These change nothing that anybody could see, and others were drawn for them:\n"
            yield from (f"- {_show(each)}: {each['reason']}" for each in told["changes_nothing"])
            yield ""


def _show(each: Mapping[str, Any]) -> str:
    name = " ".join(each["name"].replace("|", "\\|").split())
    return f"`{each['module']}`: `` {name} ``"


def count_by_package(told: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Of each app that any was tried of: how many were, and how many of them a test noticed."""
    noticed = Counter(each["module"].partition(".")[0] for each in told["noticed"])
    left = Counter(each["module"].partition(".")[0] for each in told["left"])
    return {app: (noticed[app] + left[app], noticed[app]) for app in APPS if noticed[app] + left[app]}


def find_reason(each: Mapping[str, Any]) -> str:
    """Why nothing notices it: what was written down of it, or that nobody looked yet."""
    return SURVIVES.get(each["module"], {}).get(each["name"], "") or _NOT_LOOKED_AT


if __name__ == "__main__":
    if FOUND.exists():
        found = take_over(json.loads(FOUND.read_text(encoding="utf-8")))
        KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(write_page(json.loads(KEPT.read_text(encoding="utf-8"))).rstrip() + "\n", encoding="utf-8")
