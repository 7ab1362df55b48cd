"""Rounding as people expect it: a half goes up."""

from decimal import ROUND_HALF_UP, Decimal


def proper_round(val, digits=0):
    """`val` with that many digits behind the point: 0.5 is 1, 2.675 with two digits is 2.68."""
    rounded = Decimal(repr(val)).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
    return float(rounded)
