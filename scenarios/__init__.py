"""Which swarm is driven against which server: the scenario files that ship, and the loader that reads them."""
