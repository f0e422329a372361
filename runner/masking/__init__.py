"""Masking of evidence: what must not be read is found, and covered span by span (MEASUREMENT §10).

Pure functions on complete bytes: they return edits, `archive.edits` applies them.
"""

from runner.masking.keys import keys
from runner.masking.look import credentials
from runner.masking.not_proven import NotProven
from runner.masking.spelling import Known

__all__ = ["Known", "NotProven", "credentials", "keys"]
