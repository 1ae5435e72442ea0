"""Services outside: the door, the page, and the tools that read them."""
