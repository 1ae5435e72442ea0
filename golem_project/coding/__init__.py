"""Where golems' coding tools work: folders of this server, and machines of their owners by SSH."""
