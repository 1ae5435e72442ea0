"""Machine code on the disk is taken under this installation's seal alone, and may vanish."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.tools_app.sandbox.test_hostile_modules import GOOD, run
from tools_app.core.clock import Deadline
from tools_app.sandbox import compiled_code_store, compiling
from tools_app.sandbox.compiling import compile_module, find_compiled, hash_module
from tools_app.sandbox.errors import ModuleRefused
from tools_app.sandbox.limits import MEBIBYTE, MOST_MODULE_MEBIBYTES, compile_limits_of
from tools_app.sandbox.module_size import most_module_bytes

LARGE = GOOD + b" " * MEBIBYTE
SHA256 = hash_module(LARGE)


@pytest.fixture
def folder(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.GOLEM_MODULE_CODE_DIR = tmp_path / "modules"
    forget(monkeypatch)
    return tmp_path / "modules"


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another process of the installation knows."""
    monkeypatch.setattr(compiling, "_kept", type(compiling._kept)())


def test_a_large_module_is_compiled_once_for_all_processes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_module(LARGE)
    assert folder.stat().st_mode & 0o777 == 0o700 and (folder / SHA256).stat().st_mode & 0o777 == 0o600
    forget(monkeypatch)
    monkeypatch.setattr(compiling, "_compile_outside", lambda _: pytest.fail("it was compiled again"))
    assert find_compiled(SHA256) is not None
    assert run(LARGE).answer == {"data": {"word": "hello"}}


def test_a_small_module_is_not_kept_on_the_disk(folder: Path) -> None:
    compile_module(GOOD)
    assert not folder.exists()


@pytest.mark.parametrize("change", ["a byte of the code", "the seal", "cut off", "nothing in it", "of another module"])
def test_code_that_somebody_else_wrote_is_not_run(folder: Path, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_module(LARGE)
    kept = (folder / SHA256).read_bytes()
    other = LARGE + b" "
    changed = {
        "a byte of the code": kept[:-1] + bytes([kept[-1] ^ 1]),
        "the seal": bytes([kept[0] ^ 1]) + kept[1:],
        "cut off": kept[:-100],
        "nothing in it": b"",
        "of another module": kept,
    }[change]
    target = other if change == "of another module" else LARGE
    (folder / hash_module(target)).write_bytes(changed)
    forget(monkeypatch)
    assert find_compiled(hash_module(target)) is None
    assert run(target).answer == {"data": {"word": "hello"}}


def test_code_kept_with_another_secret_or_by_another_engine_is_compiled_again(
    folder: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_module(LARGE)
    forget(monkeypatch)
    compiled_code_store.keep_code(SHA256, b"code of an engine that is gone")
    assert find_compiled(SHA256) is None
    compile_module(LARGE)
    forget(monkeypatch)
    settings.SECRET_KEY = "another"
    assert find_compiled(SHA256) is None


def test_a_disk_that_takes_nothing_keeps_no_module_from_running(folder: Path) -> None:
    folder.write_text("no folder")
    assert run(LARGE).answer == {"data": {"word": "hello"}}


def test_what_was_used_longest_ago_makes_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_code_store, "_MOST_BYTES", 3_000)
    for name in ("a", "b"):
        compiled_code_store.keep_code(name, b"x" * 1_000)
        os.utime(folder / name, ns=(1, 1))
    assert compiled_code_store.find_code("a") == b"x" * 1_000
    compiled_code_store.keep_code("c", b"x" * 1_000)
    assert sorted(path.name for path in folder.iterdir()) == ["a", "c"]


def test_a_process_keeps_no_more_code_than_it_may(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compile_module(GOOD)
    monkeypatch.setattr(compiling, "_MOST_KEPT_BYTES", first.code_bytes + 100)
    compile_module(GOOD + b" ")
    assert len(compiling._kept) == 1


def test_the_operator_says_how_large_a_module_may_be_and_no_more_than_the_sandbox_carries(settings: Any) -> None:
    settings.GOLEM_MODULE_MEBIBYTES = 1
    with pytest.raises(ModuleRefused, match="GOLEM_MODULE_MEBIBYTES"):
        compile_module(LARGE)
    settings.GOLEM_MODULE_MEBIBYTES = 1_000
    assert most_module_bytes() == MOST_MODULE_MEBIBYTES * MEBIBYTE


def test_what_a_compiler_may_use_grows_with_the_module_and_ends() -> None:
    small, python, most = (compile_limits_of(mebibytes * MEBIBYTE) for mebibytes in (1, 18, MOST_MODULE_MEBIBYTES))
    assert (small.processor_seconds, small.seconds, small.code_bytes) == (5, 20, 32 * MEBIBYTE)
    assert (python.processor_seconds, python.seconds, python.code_bytes) == (53, 116, 64 * MEBIBYTE)
    assert (most.processor_seconds, most.seconds, most.code_bytes) == (95, 200, 92 * MEBIBYTE)


def test_a_compiler_that_reads_nothing_more_is_given_up_when_its_time_is_over() -> None:
    asleep = [sys.executable, "-c", "import os, time; os.read(0, 8192); time.sleep(90)"]
    with subprocess.Popen(asleep, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            compiling._exchange(child, bytes(MEBIBYTE), Deadline.after_ms(1_000), MEBIBYTE)
        assert time.monotonic() - began < 60
        child.kill()
