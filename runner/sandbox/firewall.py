"""What of the network a machine can reach, as rules for the firewall of its own network namespace.

The internet is not filtered. The runner, its other machines, its private networks and link-local addresses are not the
internet (MEASUREMENT §5); the name servers that the machine was given can be asked for names. Nothing comes in.
"""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path

NOT_THE_INTERNET = (
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16"),
    *("198.18.0.0/15", "224.0.0.0/3"),
)
"""Addresses of private networks, links and computers themselves (IANA IPv4 Special-Purpose Address Registry, RFC 6890;
without those for documentation, where nothing is)."""


def rules(name_servers: list[str], runner: list[str]) -> str:
    """A program for `nft`. `runner` are the runner's own addresses; all addresses are IPv4."""
    shut = ipaddress.collapse_addresses(map(ipaddress.IPv4Network, (*NOT_THE_INTERNET, *runner)))
    servers = ", ".join(sorted({str(ipaddress.IPv4Address(server)) for server in name_servers}))
    ask = f"ip daddr {{ {servers} }} meta l4proto {{ tcp, udp }} th dport 53 accept" if servers else ""
    return f"""table inet argusic {{
  chain arriving {{
    type filter hook input priority 0; policy drop;
    iif lo accept
    ct state established,related accept
  }}
  chain leaving {{
    type filter hook output priority 0; policy accept;
    oif lo accept
    {ask}
    ip daddr {{ {", ".join(map(str, shut))} }} reject
    meta nfproto ipv6 reject
  }}
}}
"""


def name_servers(resolver: str) -> list[str]:
    """IPv4 name servers in the text of a resolv.conf."""
    found = re.findall(r"^\s*nameserver\s+([\d.]+)\s*$", resolver, re.M)
    return [server for server in found if not server.startswith("127.")]


def own_addresses(table: Path = Path("/proc/net/fib_trie")) -> list[str]:
    """This computer's own IPv4 addresses, from the kernel's routing table."""
    found = re.findall(r"\|--\s+([\d.]+)\n\s+/32 host LOCAL", table.read_text())
    return sorted({address for address in found if not address.startswith("127.")})
