"""What a process said last is known however slowly it is carried to the screen, and it can always say more."""

from __future__ import annotations

import os
import time
from io import StringIO

from golem_project.embedded.paths import Paths
from golem_project.embedded.process_output import Output


def test_the_last_words_of_a_process_are_told_however_slowly_they_are_carried_to_the_screen(paths: Paths) -> None:
    class SlowScreen(StringIO):
        def write(self, text: str) -> int:
            time.sleep(0.1)
            return super().write(text)

    output = Output(paths.log_dir, stream=SlowScreen())
    pump = output.pump("worker")
    assert pump.read_last_words() == ""
    for words in (b"first\nno broker\n", b"first\nno room, and no end of the line"):
        os.write(pump.write_end, words)
        assert pump.read_last_words() == words.decode().splitlines()[-1]
    output.close()
    said = (paths.log_dir / "worker.log").read_text()
    assert said == "first\nno broker\nfirst\nno room, and no end of the line\n"


def test_a_process_speaks_on_while_the_disk_of_its_log_is_full(paths: Paths) -> None:
    """Where nobody read its pipe any more it would be ended by its next words, or wait for ever."""
    (paths.log_dir / "worker.log").symlink_to("/dev/full")
    screen = StringIO()
    output = Output(paths.log_dir, stream=screen)
    pump = output.pump("worker")
    for words in ("first", "second"):
        os.write(pump.write_end, f"{words}\n".encode())
        assert pump.read_last_words() == words
    (paths.log_dir / "worker.log").unlink()
    output.close()
    assert "first" in screen.getvalue() and "second" in screen.getvalue()


def test_a_process_speaks_on_while_the_disk_of_the_screen_is_full(paths: Paths) -> None:
    with open("/dev/full", "w", encoding="utf-8") as screen:
        output = Output(paths.log_dir, stream=screen)
        pump = output.pump("worker")
        for words in ("first", "second"):
            os.write(pump.write_end, f"{words}\n".encode())
            assert pump.read_last_words() == words
        output.say("and so does the supervisor")
        output.close()
        assert (paths.log_dir / "worker.log").read_text() == "first\nsecond\n"
        # What is left in its buffer would fail the end of this block.
        os.dup2(os.open(os.devnull, os.O_WRONLY), screen.fileno())


def test_the_log_of_a_process_is_bounded_while_it_is_written(paths: Paths) -> None:
    output = Output(paths.log_dir, stream=StringIO(), quiet=True)
    pump = output.pump("worker")
    line = b"x" * 1_048_575 + b"\n"
    for number in range(45):
        os.write(pump.write_end, b"%d " % number)
        written = 0
        while written < len(line):
            written += os.write(pump.write_end, line[written:])
    assert pump.read_last_words().startswith("44 ")
    output.close()
    kept = sorted(paths.log_dir.glob("worker.log*"))
    assert [each.name for each in kept] == ["worker.log", "worker.log.1"]
    assert sum(each.stat().st_size for each in kept) < 45 * 1_048_576
