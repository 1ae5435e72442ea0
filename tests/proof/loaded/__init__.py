"""What the proof of load is made of: the product's own processes, clients, owners, and what must hold afterwards."""
