"""Whether the percentiles that a locustfile assigned can be computed."""

import sys

from .. import stats as tunables


def validate_stats_configuration():
    """End the process with a sentence if a constant of this package has no meaning."""
    if len(tunables.PERCENTILES_TO_CHART) > 6:
        _refuse("stats.PERCENTILES_TO_CHART parameter should be a maximum of 6 parameters \n")
    for name in ("PERCENTILES_TO_CHART", "PERCENTILES_TO_STATISTICS"):
        if not all(map(_is_share, getattr(tunables, name))):
            _refuse(
                f"stats.{name} parameter need to be float and value between. "
                "0 < percentile < 1 Eg 0.95\n"
            )


def _refuse(sentence):
    sys.stderr.write(sentence)
    sys.exit(1)


def _is_share(value):
    try:
        return 0 < float(value) < 1
    except (TypeError, ValueError):
        return False
