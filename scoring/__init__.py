"""What was measured, judged: pure functions without clock, network or files."""
