"""From records to pages and pull requests."""
