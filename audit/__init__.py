"""What proves it: every check looks at files alone, trusts no statement about them, and names what it finds."""
