"""Keeps the database running while any `manage.py` command uses it, and not longer.

Started detached by the first such command (see `autostart`). Commands hold a shared lock; this process waits for the
exclusive one, which the kernel grants when the last command is gone, and then stops the server. Nothing is polled, and
a killed command counts as gone.
"""

from __future__ import annotations

import fcntl
import os
import sys

from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import locate
from golem_project.embedded.postgres import EmbeddedPostgres


def main() -> int:
    """Start the server, answer one line (`ready`, or what is wrong), wait for the last user, stop."""
    try:
        paths = locate(os.environ)
        postgres = EmbeddedPostgres(paths, throwaway=False)
        is_ours = postgres.start()
    except EmbeddedError as error:
        sys.stdout.write(f"{error}\n")
        return 1
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    # The reader of the pipe must see its end even though this process stays.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    if is_ours:
        with (paths.run_dir / "postgres.users").open("ab") as users:
            fcntl.flock(users, fcntl.LOCK_EX)
            postgres.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
