"""What stands before the application: how much of a request is read, for how long, and whose turn it is."""
