"""`python -m tests.bench.miner`: mines four blocks a second, and follows them with the index while it is told to.

A word on a line of its own says which (`FOLLOW`, `LEAVE`); it is said back once it holds. Ends with its input.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Final

FOLLOW, LEAVE = "follow", "leave"
_SECONDS_A_BLOCK: Final = 0.25


def serve() -> None:
    """Mine, and follow while told to, until nobody speaks any more."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "golem_project.settings.local")
    django.setup()
    from django.conf import settings

    from golem_project.demo.seed import CHAIN_ID
    from golem_project.embedded.world.rpc import JsonRpc
    from tools_app.chain.networks import get_network
    from tools_app.core import clock
    from tools_app.history import chain_following

    words: list[str] = []
    listener = threading.Thread(target=lambda: words.extend(iter(sys.stdin.readline, "")), daemon=True)
    listener.start()
    rpc, network = JsonRpc(settings.GOLEM_RPC_URLS[CHAIN_ID][0]), get_network(CHAIN_ID)
    heard, word, pause = 0, LEAVE, threading.Event()
    while listener.is_alive() or heard < len(words):
        rpc.call("evm_mine")
        said = heard < len(words)
        if said:
            word, heard = words[heard].strip(), heard + 1
        if word == FOLLOW:
            chain_following.follow(network, now=clock.now())
        if said:
            sys.stdout.write(word + "\n")
            sys.stdout.flush()
        pause.wait(_SECONDS_A_BLOCK)


if __name__ == "__main__":
    serve()
