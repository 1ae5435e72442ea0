"""A database backend: `ENGINE = "golem_project.pooled_postgresql"`."""
