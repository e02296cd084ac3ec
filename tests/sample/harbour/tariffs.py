"""What sending a parcel costs."""

from __future__ import annotations

# Cents for each begun kilogram, by zone.
CENTS_PER_KG = {"inner": 140, "outer": 260}
INSURANCE_PERCENT = 2


def postage_cents(weight_g: int, zone: str, *, value_cents: int = 0) -> int:
    """Compute the postage: begun kilograms by zone, and insurance on the declared value.

    Example:
        >>> postage_cents(1200, "inner")
        280
    """
    kilograms = -(-weight_g // 1000)
    return kilograms * CENTS_PER_KG[zone] + value_cents * INSURANCE_PERCENT // 100
