"""The chain of `make run`: remembers state and port, survives kills and half-written files, leaves no orphan."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from golem_project.embedded import chain as chain_module
from golem_project.embedded.chain import EmbeddedChain
from golem_project.embedded.errors import EmbeddedError
from golem_project.embedded.paths import CHECKOUT
from golem_project.embedded.process import ProcessIdentity
from golem_project.embedded.world import keep_chain_on_disk, saved_world
from golem_project.embedded.world.fund import fund
from golem_project.embedded.world.keep_chain_on_disk import Checkpoints, StateCopy, ask, head_of
from golem_project.embedded.world.reconstruct_chain_state import Dump, list_unexplained, make_whole

SOMEBODY = "0x00000000000000000000000000000000000000Aa"


HEADER = ("number", "timestamp", "gasLimit", "baseFeePerGas", "miner", "mixHash")


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[EmbeddedChain]:
    chain = EmbeddedChain(tmp_path / "chain")
    yield chain
    chain.stop()


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def balance(chain: EmbeddedChain) -> int:
    return int(ask(chain.port, "eth_getBalance", SOMEBODY, "latest"), 16)


def test_a_fresh_chain_is_the_world(kept: EmbeddedChain) -> None:
    assert kept.start() is True
    assert kept.is_ready() and kept.is_alive() and kept.is_fresh
    assert kept.rpc_url == f"http://127.0.0.1:{kept.port}" and kept.ws_url == f"ws://127.0.0.1:{kept.port}"
    argv = kept.argv()
    assert argv[argv.index("--host") + 1] == "127.0.0.1" and argv[argv.index("--hardfork") + 1] == "prague"
    assert int(ask(kept.port, "eth_blockNumber"), 16) > 200


def test_a_saved_world_is_started_from_and_not_built_again(tmp_path: Path) -> None:
    before = saved_world.ensure_saved(now=int(time.time()))
    chain = EmbeddedChain(tmp_path / "chain", throwaway=True)
    for _ in range(3):
        chain.start()
        head = head_of(chain.port)
        chain.stop()
        assert head == before.block_hash
    assert saved_world.read_saved() == before


def test_state_and_port_are_remembered_over_a_stop(kept: EmbeddedChain) -> None:
    kept.start()
    fund(kept.rpc_url, SOMEBODY, 123, {})
    head, port = head_of(kept.port), kept.port
    kept.stop()
    assert not kept.is_alive() and not kept.is_ready()

    again = EmbeddedChain(kept.data_dir)
    try:
        again.start()
        assert (again.port, again.is_fresh) == (port, False)
        assert head_of(again.port) == head and balance(again) == 123
        logs = ask(again.port, "eth_getLogs", {"fromBlock": "0x0", "toBlock": "latest"})
        assert len(logs) > 400
    finally:
        again.stop()


def test_a_killed_node_starts_again_with_what_was_saved(kept: EmbeddedChain) -> None:
    kept.start()
    port = kept.port
    fund(kept.rpc_url, SOMEBODY, 456, {})
    copy = StateCopy(kept.data_dir)
    head = head_of(kept.port)
    assert wait_for(lambda: copy.head() == head), "no checkpoint was written"
    assert kept.child is not None
    os.kill(kept.child.pid, signal.SIGKILL)
    assert wait_for(lambda: not kept.is_alive())

    assert kept.start() is True

    assert kept.port == port and not kept.is_fresh
    assert head_of(kept.port) == head and balance(kept) == 456


def spam(port: int, senders: list[str], over: threading.Event) -> None:
    """Transfers of each of `senders` in turn, a few milliseconds apart, until it is gone."""
    while not over.is_set():
        for sender in senders:
            try:
                ask(port, "eth_sendTransaction", {"from": sender, "to": SOMEBODY, "value": "0x1"})
            except EmbeddedError:
                return
            time.sleep(0.004)


def count_in_blocks(port: int, senders: set[str], first: int) -> Counter[str]:
    """Transactions of each of `senders` in the chain's blocks from `first` on."""
    head = int(ask(port, "eth_blockNumber"), 16)
    blocks = [ask(port, "eth_getBlockByNumber", hex(number), True) for number in range(first, head + 1)]
    return Counter(each["from"] for block in blocks for each in block["transactions"] if each["from"] in senders)


def test_a_node_that_is_killed_under_load_comes_back_with_no_nonce_used_that_no_block_has(kept: EmbeddedChain) -> None:
    kept.start()
    first = int(ask(kept.port, "eth_blockNumber"), 16)
    copy, sent = StateCopy(kept.data_dir), set[str]()
    for number in range(2):
        # New accounts each time: the state alone would know them.
        senders = [f"0x{16 * number + each + 1:02x}{'ab' * 19}" for each in range(4)]
        sent |= set(senders)
        ask(kept.port, "anvil_autoImpersonateAccount", True)
        for sender in senders:
            ask(kept.port, "anvil_setBalance", sender, hex(10**18))
        over = threading.Event()
        threads = [
            threading.Thread(target=spam, args=(kept.port, senders[2 * each : 2 * each + 2], over)) for each in range(2)
        ]
        for thread in threads:
            thread.start()
        for _ in range(2):
            head = copy.head()
            assert wait_for(lambda before=head: copy.head() not in ("", before)), "no checkpoint was written"  # type: ignore[misc]
        assert kept.child is not None
        os.kill(kept.child.pid, signal.SIGKILL)
        over.set()
        for thread in threads:
            thread.join()
        assert wait_for(lambda: not kept.is_alive())
        kept.start()
        in_blocks = count_in_blocks(kept.port, sent, first + 1)
        used = {each: int(ask(kept.port, "eth_getTransactionCount", each, "latest"), 16) for each in sent}
        assert used == {each: in_blocks[each] for each in sent}
        assert head_of(kept.port) == copy.head() and any(used.values())


def test_accounts_of_one_dump_go_with_the_blocks_they_belong_to() -> None:
    def account(nonce: int) -> dict[str, object]:
        return {"nonce": nonce, "code": "0x"}

    def dump(blocks: int, sent: list[tuple[int, str, int]], **nonces: int) -> Dump:
        headers = [{"header": dict.fromkeys(HEADER, "0x1") | {"number": hex(number)}} for number in range(blocks + 1)]
        return Dump(
            {
                "block": {"number": hex(blocks), "slot_num": 0},
                "best_block_number": blocks,
                "accounts": {name: account(nonce) for name, nonce in nonces.items()},
                "blocks": headers,
                "transactions": [
                    {"block_number": hex(block), "info": {"from": who, "nonce": nonce}} for block, who, nonce in sent
                ],
            }
        )

    mined = [(1, "a", 0), (2, "b", 0), (3, "a", 1), (4, "c", 0), (6, "b", 1)]
    # Blocks up to the second were read, accounts after the fourth.
    torn, later = dump(2, mined[:2], a=2, b=1, c=1), dump(6, mined, a=2, b=2, c=1)
    assert list_unexplained(torn) == {("a", 2), ("c", 1)}
    whole = make_whole(torn, later)
    assert (whole.best, whole.list_sent(), whole.data["block"]["number"]) == (4, mined[:4], "0x4")
    assert [each["header"]["number"] for each in whole.data["blocks"]] == [hex(number) for number in range(5)]
    assert list_unexplained(whole) == frozenset()
    # One that is of a moment stays as it is.
    assert make_whole(dump(2, mined[:2], a=1, b=1), later).best == 2


def test_a_starter_that_is_killed_leaves_no_orphan_and_loses_nothing_saved(tmp_path: Path) -> None:
    folder = tmp_path / "chain"
    script = f"""
import sys
from pathlib import Path
from golem_project.embedded.chain import EmbeddedChain
chain = EmbeddedChain(Path({str(folder)!r}))
chain.start()
print(chain.port, flush=True)
sys.stdin.read()
"""
    starter = [sys.executable, "-c", script]
    with subprocess.Popen(starter, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=CHECKOUT) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        fund(f"http://127.0.0.1:{port}", SOMEBODY, 789, {})
        head, copy = head_of(port), StateCopy(folder)
        assert wait_for(lambda: copy.head() == head)
        record = json.loads((folder / "chain.json").read_text())
        node = ProcessIdentity(record["pid"], record["started_at_ticks"], record["boot_id"])
        assert node.is_alive()
        process.kill()
        process.wait()
    assert wait_for(lambda: not node.is_alive())
    chain = EmbeddedChain(folder)
    try:
        chain.start()
        assert chain.port == port and balance(chain) == 789
    finally:
        chain.stop()


def test_a_running_chain_is_shared_and_its_sharer_does_not_end_it(kept: EmbeddedChain) -> None:
    kept.start()
    second = EmbeddedChain(kept.data_dir)
    assert second.start() is False
    assert second.port == kept.port and second.is_alive()
    second.stop()
    assert kept.is_ready()


def test_a_half_written_state_falls_back_to_the_one_before(kept: EmbeddedChain) -> None:
    copy = StateCopy(kept.data_dir)
    kept.start()
    for amount in (1, 2):
        fund(kept.rpc_url, SOMEBODY, amount, {})
        assert wait_for(lambda: copy.head() == head_of(kept.port))
    kept.stop()
    copy.state.write_bytes(copy.state.read_bytes()[:5_000])
    said: list[str] = []
    again = EmbeddedChain(kept.data_dir, say=said.append)
    try:
        again.start()
        assert balance(again) in {1, 3} and not again.is_fresh
        assert any("one before" in line for line in said)
    finally:
        again.stop()


def test_a_state_that_nothing_can_read_is_put_aside_for_a_fresh_world(kept: EmbeddedChain) -> None:
    kept.start()
    fund(kept.rpc_url, SOMEBODY, 1, {})
    kept.stop()
    copy = StateCopy(kept.data_dir)
    copy.state.write_bytes(b"nonsense")
    copy.previous.unlink(missing_ok=True)
    said: list[str] = []
    again = EmbeddedChain(kept.data_dir, say=said.append)
    try:
        again.start()
        assert again.is_fresh and balance(again) == 0
        assert (kept.data_dir / "state.put-aside.json").read_bytes() == b"nonsense"
        assert len(said) == 1 and "starts over" in said[0]
    finally:
        again.stop()


def test_a_used_chain_made_for_other_addresses_is_put_aside(
    kept: EmbeddedChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.start()
    fund(kept.rpc_url, SOMEBODY, 1, {})
    kept.stop()
    monkeypatch.setattr(chain_module, "hash_addresses", lambda: "other")
    said: list[str] = []
    again = EmbeddedChain(kept.data_dir, say=said.append)
    try:
        again.start()
        assert again.is_fresh and "other addresses" in said[0]
    finally:
        again.stop()


def test_an_unused_chain_gives_way_to_a_newer_world_and_a_used_one_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = saved_world.SavedWorld(inputs="x", built_at=int(time.time()), block_number=1, block_hash="0xnewer")
    used, unused = EmbeddedChain(tmp_path / "used"), EmbeddedChain(tmp_path / "unused")
    for chain in (used, unused):
        chain.start()
    fund(used.rpc_url, SOMEBODY, 1, {})
    for chain in (used, unused):
        chain.stop()
    monkeypatch.setattr(chain_module, "ensure_saved", lambda *, now: newer)
    try:
        used.start()
        assert not used.is_fresh and balance(used) == 1
        unused.start()
        assert unused.is_fresh
        assert json.loads((unused.data_dir / "origin.json").read_text())["block_hash"] == "0xnewer"
    finally:
        used.stop()
        unused.stop()


def test_a_taken_port_is_left_to_its_owner(kept: EmbeddedChain, tmp_path: Path) -> None:
    kept.start()
    other = EmbeddedChain(tmp_path / "other")
    other.data_dir.mkdir()
    (other.data_dir / "port").write_text(f"{kept.port}\n")
    try:
        other.start()
        assert other.port != kept.port and kept.is_ready() and other.is_ready()
    finally:
        other.stop()
    with pytest.raises(EmbeddedError):
        EmbeddedChain(tmp_path / "fixed", throwaway=True, port=kept.port).start()


def test_a_throwaway_chain_writes_no_state(tmp_path: Path) -> None:
    chain = EmbeddedChain(tmp_path / "chain", throwaway=True)
    chain.start()
    try:
        fund(chain.rpc_url, SOMEBODY, 1, {})
    finally:
        chain.stop()
    assert not list((tmp_path / "chain").glob("state*"))


def test_a_checkpoint_is_written_only_when_there_are_new_blocks(kept: EmbeddedChain) -> None:
    kept.start()
    path = StateCopy(kept.data_dir).state
    before = path.stat().st_ino
    checkpoints = Checkpoints(StateCopy(kept.data_dir), kept.port, say=lambda _line: None)
    checkpoints.start()
    checkpoints.stop()
    assert path.stat().st_ino == before
    ask(kept.port, "anvil_mine", "0x1")
    head = head_of(kept.port)
    assert wait_for(lambda: StateCopy(kept.data_dir).head() == head)
    assert path.stat().st_ino != before


def test_a_full_disk_is_said_once_and_the_older_copy_stays(
    kept: EmbeddedChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.start()
    ask(kept.port, "anvil_mine", "0x1")
    copy = StateCopy(kept.data_dir)
    assert wait_for(lambda: copy.head() == head_of(kept.port))
    kept.stop()
    kept = EmbeddedChain(kept.data_dir, throwaway=True)
    kept.start()
    whole = copy.state.read_bytes()
    said: list[str] = []

    def refuse(_path: Path, _content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(keep_chain_on_disk, "replace_file", refuse)
    checkpoints = Checkpoints(copy, kept.port, say=said.append)
    checkpoints.start()
    assert wait_for(lambda: bool(said))
    checkpoints.stop()
    kept.stop()
    assert len(said) == 1 and "No space left" in said[0]
    assert copy.previous.read_bytes() == whole


def test_a_saved_world_is_current_only_for_its_inputs_and_a_few_hours(tmp_path: Path) -> None:
    now = int(time.time())
    world = saved_world.SavedWorld(inputs=saved_world.hash_inputs(), built_at=now, block_number=1, block_hash="0x1")
    assert world.is_current(now=now) and world.is_current(now=now + saved_world.MAX_AGE_SECONDS)
    assert not world.is_current(now=now + saved_world.MAX_AGE_SECONDS + 1)
    assert not world.is_current(now=now - 1)
    other = saved_world.SavedWorld(inputs="other", built_at=now, block_number=1, block_hash="0x1")
    assert not other.is_current(now=now)
    saved_world.write_saved(world, state=b"{}", bare=b"{}", folder=tmp_path)
    assert saved_world.read_saved(tmp_path) == world
    (tmp_path / "state.json").write_bytes(b"")
    assert saved_world.read_saved(tmp_path) is None


def test_every_input_of_the_world_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved_world.hash_inputs()
    shutil.copytree(saved_world.COMPILED_DIR, tmp_path / "out")
    monkeypatch.setattr(saved_world, "COMPILED_DIR", tmp_path / "out")
    assert saved_world.hash_inputs() == before
    with (tmp_path / "out" / "SimulatedFeed.json").open("a") as file:
        file.write(" ")
    assert saved_world.hash_inputs() != before


def test_a_missing_binary_is_one_line_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_world, "is_fetched", lambda _package: False)
    with pytest.raises(EmbeddedError, match=r"Fix: python -m golem_project\.embedded\.world prepare"):
        saved_world.find_anvil()


def test_the_committed_addresses_are_those_of_a_fresh_build() -> None:
    command = [sys.executable, "-m", "golem_project.embedded.world", "addresses", "--check"]
    result = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert "6 tokens, 10 pools, 66 trades" in result.stderr
