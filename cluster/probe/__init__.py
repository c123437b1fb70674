"""`check --probe`: what each host of a launch is asked, and what its answers mean."""
