"""Memory: the embedding model and the constants of retrieval."""

from __future__ import annotations

from pathlib import Path

from golem_project.settings.environment import VAR_DIR, read_flag, read_integer, read_text

GOLEM_MEMORY_ENABLED = read_flag("GOLEM_MEMORY_ENABLED", True)

GOLEM_EMBEDDING_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
GOLEM_EMBEDDING_DIMENSIONS = 384
GOLEM_EMBEDDING_BATCH = 16  # texts; long texts in large batches take gigabytes
GOLEM_EMBEDDING_THREADS = read_integer("GOLEM_EMBEDDING_THREADS", 1)  # one core of two stays for the rest
GOLEM_EMBEDDING_DIR = Path(read_text("GOLEM_CACHE_DIR") or VAR_DIR / "cache") / "embedding"

GOLEM_MEMORY_EXACT_SCAN_ROWS = 5_000  # like sentences cluster and the index then misses some; exact takes 10 ms here
GOLEM_MEMORY_ANN_EF_SEARCH = 300  # candidates HNSW keeps: recall against time
GOLEM_MEMORY_ANN_MAX_SCAN_TUPLES = 40_000  # how far an iterative scan goes before the exact scan takes over
GOLEM_MEMORY_TEXT_SCAN_ROWS = 600  # rows that the rarest words of a question may bring; each costs microseconds
GOLEM_MEMORY_QUERY_WAIT_SECONDS = 3  # then the answer comes from words alone
GOLEM_MEMORY_AUGMENT_TIMEOUT_MS = 50  # a preview never waits longer for memory
GOLEM_MEMORY_MOST_EPISODES = read_integer("GOLEM_MEMORY_MOST_EPISODES", 150_000)  # a golem; the least retained go
GOLEM_MEMORY_MOST_ARCHIVE_ROWS = 250_000  # of one archive file that is imported
GOLEM_MEMORY_DREAM_SECONDS = 45  # one dream; under the soft time limit of a task
GOLEM_MEMORY_DREAM_EPISODES = 12  # replayed in one dream, largest prediction errors first
GOLEM_GRIMOIRE_DIR = VAR_DIR / "grimoire"  # archives that are exported to and imported from
GOLEM_GRIMOIRE_TRUSTED_KEYS = tuple(  # Ed25519 public keys (hex) whose archives are taken in besides our own
    key for key in read_text("GOLEM_GRIMOIRE_TRUSTED_KEYS").lower().split(",") if key
)
