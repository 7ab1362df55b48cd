"""Histograms of response times as dicts of rounded milliseconds, and percentiles of them."""


def bucket_response_time(response_time):
    """The key of a time: two digits of it, or whole milliseconds below 100.

    May be replaced by assigning `locust.stats.bucket_response_time` before the test starts.
    """
    for limit, digits in ((100, 0), (1000, -1), (10000, -2)):
        if response_time < limit:
            return int(round(response_time, digits))
    return int(round(response_time, -3))


def calculate_response_time_percentile(response_times, num_requests, percent):
    """The time that a share `percent` (0 to 1) of the requests took at most; 0 if there are none.

    That is the largest bucket with no more than `num_requests * percent` requests below it.
    """
    allowed_below = int(num_requests * percent)
    seen = 0
    for time in sorted(response_times, reverse=True):
        seen += response_times[time]
        if num_requests - seen <= allowed_below:
            return time
    return 0


def diff_response_time_dicts(latest, old):
    """The histogram of what came between two states of it."""
    difference = {time: count - old.get(time, 0) for time, count in latest.items()}
    return {time: count for time, count in difference.items() if count}


def get_readable_percentiles(percentile_list):
    """Shares as a table's head shows them: 0.999 is `99.9%`."""
    percents = [round(share * 100, 6) for share in percentile_list]
    return [f"{int(one) if float(one).is_integer() else one}%" for one in percents]
