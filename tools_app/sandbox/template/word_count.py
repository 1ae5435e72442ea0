"""The same module in Python. What it raises as `Err` is told as its error."""

import json

import wit_world
from wit_world.imports import host


class WitWorld(wit_world.WitWorld):
    """The world of word_count.wit."""

    def run(self, call: str) -> str:
        """How many words the text has."""
        text = json.loads(call)["parameters"]["text"]
        host.log(f"counting {len(text)} characters")
        return json.dumps({"data": {"words": len(text.split())}})
