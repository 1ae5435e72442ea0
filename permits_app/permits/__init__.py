"""What a permit is: plan, states, life, seal; and the requests that a protocol finishes later (withdrawal queues)."""
