"""What may be claimed. Every spec here means something, and runs, without any engine."""
