"""The database backend: Django's for PostgreSQL, with connections from a pool that knows dead ones."""
