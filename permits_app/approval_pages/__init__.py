"""The pages and forms on which owners decide."""
