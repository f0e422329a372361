"""What runs inside a disposable machine as its first process, on the standard library alone; never on the runner."""
