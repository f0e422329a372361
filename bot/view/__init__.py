"""What the templates show, as values in the words of the rules: one file a page."""
