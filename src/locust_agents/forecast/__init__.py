"""What a run will send and about how long it will take, before anything is sent."""
