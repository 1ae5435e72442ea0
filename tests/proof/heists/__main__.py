"""`python -m tests.proof.heists`: put the same hostile batches to the cage and to Zodiac Roles."""

from __future__ import annotations

from tests.commands import run_command

if __name__ == "__main__":
    run_command("tests.proof.heists.command")
