"""How sure a pass rate is: the Wilson score interval at 95 %."""

from __future__ import annotations

import math

Z = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""


def wilson_95(passes: int, attempts: int) -> tuple[float, float] | None:
    """Lower and upper end of the pass rate, each in 0 to 1; None for no attempt. Raises ValueError where no rate.

    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927), 209-212.
    Unlike passes ± a share of itself it stays meaningful at 0 of n and n of n.
    """
    if not 0 <= passes <= attempts:
        raise ValueError(f"{passes} passes of {attempts} attempts are no pass rate")
    if attempts == 0:
        return None
    rate, square = passes / attempts, Z * Z
    centre = rate + square / (2 * attempts)
    half = Z * math.sqrt(rate * (1 - rate) / attempts + square / (4 * attempts * attempts))
    scale = 1 + square / attempts
    # The ends are exactly 0 and 1 there; the formula's last bit is not.
    lower = 0.0 if passes == 0 else (centre - half) / scale
    upper = 1.0 if passes == attempts else (centre + half) / scale
    return lower, upper
