"""Reset wipes data and keeps wallets; a key that was used on a real chain survives everything."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest

from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.reset import ResetError, clean, reset

RESET = CHECKOUT / "golem_project" / "embedded" / "reset.py"


@pytest.fixture
def var_dir(tmp_path: Path) -> Path:
    var = tmp_path / "var"
    for folder in ("postgres/base", "valkey", "chain", "log", "run", "secrets", "cache/npm", "keystore"):
        (var / folder).mkdir(parents=True)
    for file in ("keystore_passphrase", "secret_key", "demo.json", "cache/npm/a.tgz", "postgres/PG_VERSION"):
        (var / file).write_text("x")
    return var


def add_wallet(var: Path, name: str, chains: str | None) -> None:
    (var / "keystore" / f"{name}.json").write_text("{}")
    if chains is not None:
        (var / "keystore" / f"{name}.chains").write_text(chains)


def wallets(var: Path) -> list[str]:
    return sorted(path.stem for path in (var / "keystore").glob("*.json"))


def test_reset_wipes_the_data_and_keeps_downloads_wallets_and_what_opens_them(var_dir: Path, tmp_path: Path) -> None:
    add_wallet(var_dir, "0xa", "31337\n")
    (tmp_path / "system" / "postgres").mkdir(parents=True)
    (tmp_path / "system" / "belongs-to").touch()
    told = reset(var_dir, tmp_path / "system", with_keys=False)
    assert sorted(path.name for path in var_dir.iterdir()) == ["cache", "keystore", "keystore_passphrase", "run"]
    assert wallets(var_dir) == ["0xa"]
    assert (var_dir / "cache" / "npm" / "a.tgz").exists()
    assert not (tmp_path / "system").exists()
    assert told == [f"1 wallet(s) in {var_dir / 'keystore'} stay; KEYS=1 removes those used on local chains only"]


@pytest.mark.parametrize(
    ("chains", "reason"),
    [
        ("31337\n1\n", "0xb.json stays: it was used on chain 1"),
        ("8453\n10", "0xb.json stays: it was used on chain 10, 8453"),
        ("31337\nmainnet\n", "0xb.json stays: the chains it was used on are not recorded"),
        (None, "0xb.json stays: the chains it was used on are not recorded"),
    ],
)
def test_keys_1_never_removes_a_key_that_may_hold_real_money(
    var_dir: Path, tmp_path: Path, chains: str | None, reason: str
) -> None:
    add_wallet(var_dir, "0xa", "31337\n")
    add_wallet(var_dir, "0xb", chains)
    assert reset(var_dir, tmp_path / "system", with_keys=True) == [reason]
    assert wallets(var_dir) == ["0xb"]
    assert (var_dir / "keystore_passphrase").exists(), "the key that stays must still open"


def test_keys_1_removes_local_and_unused_wallets_with_their_passphrase(var_dir: Path, tmp_path: Path) -> None:
    add_wallet(var_dir, "0xa", "31337\n")
    add_wallet(var_dir, "0xb", "")
    assert reset(var_dir, tmp_path / "system", with_keys=True) == []
    assert sorted(path.name for path in var_dir.iterdir()) == ["cache", "run"]


@pytest.mark.parametrize("lock_name", ["supervisor.lock", "postgres.users"])
def test_nothing_is_removed_while_it_is_in_use(var_dir: Path, tmp_path: Path, lock_name: str) -> None:
    with (var_dir / "run" / lock_name).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        with pytest.raises(ResetError, match="golem is running. Fix: "):
            reset(var_dir, tmp_path / "system", with_keys=True)
        with pytest.raises(ResetError, match="golem is running. Fix: "):
            clean(tmp_path, var_dir, tmp_path / "system")
    assert (var_dir / "postgres" / "PG_VERSION").exists()


def test_a_link_is_removed_and_what_it_leads_to_stays(var_dir: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").touch()
    (var_dir / "linked").symlink_to(elsewhere)
    reset(var_dir, tmp_path / "system", with_keys=False)
    assert not (var_dir / "linked").is_symlink()
    assert (elsewhere / "file").exists()


def test_clean_removes_what_set_up_made_and_no_data(var_dir: Path, tmp_path: Path) -> None:
    for folder in (".venv/bin", "node_modules/x", "golem_project/__pycache__", ".git/__pycache__", ".mypy_cache"):
        (tmp_path / folder).mkdir(parents=True)
    clean(tmp_path, var_dir, tmp_path / "system")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".git", "golem_project", "var"]
    assert not (tmp_path / "golem_project" / "__pycache__").exists()
    assert (tmp_path / ".git" / "__pycache__").exists()
    assert not (var_dir / "cache").exists()
    assert (var_dir / "postgres" / "PG_VERSION").exists()


def test_the_command_runs_with_nothing_installed(var_dir: Path) -> None:
    add_wallet(var_dir, "0xb", "1\n")
    command = [sys.executable, "-I", "-S", str(RESET), "reset", "--keys"]
    result = subprocess.run(command, env={"GOLEM_VAR_DIR": str(var_dir)}, capture_output=True, text=True, timeout=30)
    assert result.returncode == 0
    assert result.stderr == "golem: 0xb.json stays: it was used on chain 1\n"
    assert wallets(var_dir) == ["0xb"]
