"""docs/history/mutants.md: how many of the drawn mutants the suite noticed at the first pass, and each that it did not.

`python -m tests.proof.drawn_page` takes what `make proof ONLY=drawn` found out of var/drawn.json into a file of the
checkout, drawn_verdicts.json, and writes the page from it; a test compares the two. A pass is never altered once it is
there. The test that noticed a mutant is kept with it: the next run asks that one first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from golem_project.embedded.paths import CHECKOUT
from tests.proof.drawn import DRAWN, KEPT
from tests.proof.drawn_reasons import SURVIVES
from tests.proof.first_pass import LEAST_PERCENT, LEAST_PERCENT_OF_AN_APP, count_by_app, has_last_word

PAGE: Final = CHECKOUT / "docs" / "history" / "mutants.md"
FOUND: Final = CHECKOUT / "var" / "drawn.json"
_LATE: Final = "no quick test that it met in its time noticed it; not all slow ones that are near were asked yet"
_NOT_LOOKED_AT: Final = "not known: nobody looked yet whether it is a hole"
_WORDS: Final = {"survived": "met tests, and all of them passed", "unreached": "no test reached it"}


def take_over(kept: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """`kept` with the pass that was `found`: how many were tried and noticed, which were not, and which change nothing.
    Of a commit that is kept with more tried already, nothing is taken.
    """
    commit, made = found["commit"], _summarise(found["drawn"], found["verdicts"])
    if kept["passes"].get(commit, {"tried": -1})["tried"] >= made["tried"]:
        return dict(kept)
    others = {each: told for each, told in kept["passes"].items() if each != commit}
    return {**kept, "passes": {commit: made, **others}}


def _summarise(drawn: Sequence[Mapping[str, Any]], verdicts: Mapping[str, Any]) -> dict[str, Any]:
    known: dict[int, Any] = {id(each): verdicts.get(f"{each['module']}: {each['name']}") for each in drawn}
    tried = [each for each in drawn if each["reason"] is None and has_last_word(known[id(each)])]
    left = [each for each in tried if known[id(each)]["verdict"] != "noticed"]
    return {
        "tried": len(tried),
        "noticed": [
            {"module": each["module"], "name": each["name"], "by": known[id(each)].get("by", "")}
            for each in tried
            if each not in left
        ],
        "left": [
            {
                "module": each["module"],
                "name": each["name"],
                "verdict": known[id(each)]["verdict"],
                "is_late": not known[id(each)].get("all", True),
            }
            for each in left
        ],
        "changes_nothing": [
            {"module": each["module"], "name": each["name"], "reason": each["reason"]}
            for each in drawn
            if each["reason"] is not None
        ],
    }


def write_page(kept: Mapping[str, Any]) -> str:
    """The page's text."""
    return "\n".join(_list_lines(kept)) + "\n"


def _list_lines(kept: Mapping[str, Any]) -> Iterator[str]:
    yield "# What the tests notice\n"
    yield "Written by `.venv/bin/python -m tests.proof.drawn_page` from what `make proof ONLY=drawn` found; a test"
    yield "compares. A mutant is one small change of one line of the product: a comparison, a number, a condition, a"
    yield f"call left out. The hash of the commit draws {DRAWN} over everything outside the safety code, which is"
    yield "proven whole. A mutant counts as noticed when a test fails with it and passes without it. Every pass below"
    yield f"is the first over its draw, and none was mended: {LEAST_PERCENT} % of all and {LEAST_PERCENT_OF_AN_APP} %"
    yield "of each app are asked for. Names are those of that commit.\n"
    if not kept["passes"]:
        yield "No pass was made since draws go by the commit's hash."
    for commit, told in kept["passes"].items():
        yield f"## Commit {commit[:12]}\n"
        so_far = "" if told["tried"] == DRAWN else f" of {DRAWN} so far"
        share = f", {100 * len(told['noticed']) // told['tried']} %" if told["tried"] else ""
        yield f"{told['tried']}{so_far} tried, {len(told['noticed'])} noticed{share}, {len(told['left'])} not.\n"
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
    return count_by_app([(each["module"], key == "noticed") for key in ("noticed", "left") for each in told[key]])


def find_reason(each: Mapping[str, Any]) -> str:
    """Why nothing notices it: what was written down of it, or that nobody looked yet."""
    return SURVIVES.get(each["module"], {}).get(each["name"], "") or _NOT_LOOKED_AT


if __name__ == "__main__":
    keeping = json.loads(KEPT.read_text(encoding="utf-8"))
    if FOUND.exists():
        finding = json.loads(FOUND.read_text(encoding="utf-8"))
        keeping = take_over(keeping, finding)
        KEPT.write_text(json.dumps(keeping, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(write_page(keeping).rstrip() + "\n", encoding="utf-8")
