"""What a process said last is known however slowly it is carried to the screen."""

from __future__ import annotations

import os
import time
from io import StringIO

from golem_project.embedded.output import Output
from golem_project.embedded.paths import Paths


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
