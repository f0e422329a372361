"""What a session says it used, in one normal form for every agent: a number means the same in each of them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from archive.model import Model

Tokens = Annotated[int, Field(ge=0)]


class UsageReading(Model):
    """Tokens of one attempt as its agent's own output has them; null is unknown, never 0.

    Programs count differently: the input of some includes what came from a cache, the output of some leaves reasoning
    out. Here the three kinds of input never overlap, and reasoning is a part of the output. Failed and repeated
    requests are billed and stand in no session, so this is at most what a key's broker counts, and neither is derived
    from the other.
    """

    input_uncached_tokens: Tokens | None
    """Input that came from no cache and was written to none."""
    cache_read_tokens: Tokens | None
    cache_write_tokens: Tokens | None
    """Null where the provider's interface has no such number."""
    output_tokens: Tokens | None
    """All output, reasoning included."""
    reasoning_tokens: Tokens | None
    """The part of the output that was reasoning."""
    calls: Tokens | None
    """Answers of the model."""
    source: str | None
    """Which part of the agent's output the numbers are from, and by which rule; null where there are none."""
    complete: bool
    """Whether every answer that the output knows of is in the numbers."""

    @model_validator(mode="after")
    def _consistent(self) -> UsageReading:
        if self.reasoning_tokens is not None and self.reasoning_tokens > (self.output_tokens or 0):
            raise ValueError("reasoning_tokens: more than output_tokens, of which they are a part")
        if self.complete and None in (self.input_uncached_tokens, self.output_tokens):
            raise ValueError("complete: input and output must be known")
        return self

    @classmethod
    def unknown(cls, calls: int | None = None) -> UsageReading:
        """No number of tokens is known."""
        return cls(
            input_uncached_tokens=None,
            cache_read_tokens=None,
            cache_write_tokens=None,
            output_tokens=None,
            reasoning_tokens=None,
            calls=calls,
            source=None,
            complete=False,
        )
