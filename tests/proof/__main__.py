"""`python -m tests.proof`: run the long proofs."""

from __future__ import annotations

from tests.commands import run_command

if __name__ == "__main__":
    run_command("tests.proof.command")
