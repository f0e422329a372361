"""Programs that run inside the disposable machine, where nothing else of the repository is: standard library only."""
