"""One verb per file. Views, tasks and admin actions make one call into here."""
