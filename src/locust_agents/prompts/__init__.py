"""What agents send: histories that only grow, in the sizes of real products, as bytes."""
