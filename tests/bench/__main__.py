"""`python -m tests.bench`: measure what the project promises."""

from __future__ import annotations

from tests.commands import run_command

if __name__ == "__main__":
    run_command("tests.bench.command")
