"""One run for each cell of a matrix, and which cell is the best one."""
