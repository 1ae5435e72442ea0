"""What is measured of this server, and the page that Prometheus reads it from."""
