"""The token list that set-up fetches: data of its publisher, under its licence, in the cache, never in the checkout."""

from __future__ import annotations

from pathlib import Path

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.npm import CACHE_DIR, Say, fetch_packages, load_lock, say_to_stderr

LOCK_FILE = Path(__file__).with_name("token_list.json")
FILE = "build/uniswap-default.tokenlist.json"


def token_list_path() -> Path:
    """Where the list lies once it was fetched."""
    return CACHE_DIR / load_lock(LOCK_FILE)["uniswap_default"].folder_name / FILE


def fetch_token_list(*, say: Say = say_to_stderr) -> bool:
    """Fetch the list if it is missing; False, with a line that says so, when that fails: it is no condition to run."""
    try:
        fetch_packages(load_lock(LOCK_FILE).values(), say=say)
    except EmbeddedError as error:
        say(f"no token list: {error} Until then only the committed tokens are registered.")
        return False
    return True
