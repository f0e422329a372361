"""The nouns: models of what is measured and of what was measured, with load, save and canonical form."""
