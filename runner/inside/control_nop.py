"""The control agent that does nothing. A project that it passes is not measured by anything: it must never pass."""
