"""Pages of the admin that belong to no app: the first page, search, the list of all lists, test money."""
