"""What holds every process together: when it may start, its clock, its memory, its queue and its threads."""
