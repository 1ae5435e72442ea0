"""Memory: the embedding model and the constants of forgetting."""

from __future__ import annotations

from golem_project.settings.environment import read_flag

GOLEM_MEMORY_ENABLED = read_flag("GOLEM_MEMORY_ENABLED", True)
GOLEM_EMBEDDING_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
GOLEM_EMBEDDING_DIMENSIONS = 384
GOLEM_EMBEDDING_BATCH = 16  # texts; long texts in large batches take gigabytes
GOLEM_EMBEDDING_THREADS = 1
