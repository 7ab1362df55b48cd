"""What only this machine reaches."""

import ipaddress


def is_loopback(host):
    """Whether only this machine reaches what listens at this address or name."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback
