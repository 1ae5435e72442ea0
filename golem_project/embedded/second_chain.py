"""The second local chain: begun once a golem has it among its chains, and offered to owners before that.

Whether a golem uses it stands in the database, which is asked every few seconds until the chain runs. Processes of the
product learn of it by a file that holds its URL; none is started anew for it.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import psycopg

from golem_project.embedded.environment import SECOND_CHAIN_ID
from golem_project.embedded.paths import Paths

LOOK_SECONDS = 3.0
_CONNECT_SECONDS = 2
_IS_USED = (
    "SELECT EXISTS (SELECT FROM archetypes_app_golem WHERE home_chain_id = %(id)s OR %(id)s = ANY(other_chain_ids))"
)


def find_file(paths: Paths) -> Path:
    """Where the URL of the second chain stands while it runs."""
    return paths.run_dir / "second_chain.url"


def write_url(file: Path, url: str) -> None:
    """Tell every process where the chain is; none reads half of it."""
    draft = file.with_suffix(".draft")
    draft.write_text(f"{url}\n")
    draft.replace(file)


class ChainUse:
    """Asks the database whether a golem uses the second chain, seldom, over one connection."""

    def __init__(self) -> None:
        self._connection: psycopg.Connection | None = None
        self._next_look = 0.0

    def is_due(self) -> bool:
        """Whether it is time to ask again."""
        return time.monotonic() >= self._next_look

    def ask(self, database_url: str) -> bool:
        """Whether a golem uses it; False while the database does not answer."""
        self._next_look = time.monotonic() + LOOK_SECONDS
        try:
            if self._connection is None:
                self._connection = psycopg.connect(
                    database_url,
                    autocommit=True,
                    connect_timeout=_CONNECT_SECONDS,
                    application_name=f"supervisor {os.getpid()}",
                )
            row = self._connection.execute(_IS_USED, {"id": SECOND_CHAIN_ID}).fetchone()
        except psycopg.Error:
            # It restarts, or its tables are not made yet.
            self.close()
            return False
        return row == (True,)

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
