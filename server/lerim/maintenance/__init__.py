"""What becomes of the memories of a store over time."""
