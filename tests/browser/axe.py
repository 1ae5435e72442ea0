"""axe-core, run in the page under test: what it calls serious or critical is a failure."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from golem_project.embedded.npm import load_lock
from tests.tools_app.simulation.protocol_bytecode import fetch_or_skip

LOCK = Path(__file__).with_name("browser_packages.json")
# Where each element is found is worked out for pages with a finding alone, and style sheets are loaded a second time
# for none of these rules: a third of the work of a clean page.
_RUN = """async (rules) => {
    const runOnly = rules.length ? rules : ["wcag2a", "wcag2aa", "wcag22aa"];
    const asked = { resultTypes: ["violations"], runOnly, preload: {assets: ["media"]} };
    const quick = await axe.run(document, {...asked, selectors: false});
    const found = quick.violations.length ? await axe.run(document, asked) : quick;
    return found.violations.map(each => ({
        id: each.id, impact: each.impact, help: each.help,
        nodes: each.nodes.slice(0, 4).map(node => node.target.join(" ") + " | " + (node.any[0]?.message ?? "")),
    }));
}"""


@cache
def read_axe() -> str:
    """The script, fetched like the other packages. Skips where there is no npm; fails on the build machine."""
    package = load_lock(LOCK)["axe"]
    folder = fetch_or_skip([package])[package.name]
    return (folder / "axe.min.js").read_text(encoding="utf-8")


def find_serious(page: Page, *rules: str) -> list[dict[str, Any]]:
    """Violations of WCAG 2.2 AA that axe calls serious or critical, on the page as it is now; of `rules` alone, if any
    are named: only colours differ in the dark.
    """
    # Evaluated by the browser's own debugger: the page's policy allows no script of ours.
    page.evaluate(read_axe())
    found: list[dict[str, Any]] = page.evaluate(_RUN, list(rules))
    return [each for each in found if each["impact"] in ("serious", "critical")]
