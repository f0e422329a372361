"""The network of a container: the runner, its neighbours and link-local addresses are shut, and nothing comes in."""

from __future__ import annotations

import contextlib
import socket
import threading

import pytest

from runner.sandbox import Machine, firewall
from runner.watch import run
from tests.runner.conftest import SMALL, shell, wait_for

pytestmark = pytest.mark.sandbox
TRY = """
import socket, sys
for word in sys.argv[1:]:
    host, _, port = word.partition(":")
    try:
        socket.create_connection((host, int(port)), 3).close()
        print(word, "reached")
    except OSError as error:
        print(word, "shut", type(error).__name__)
"""


@pytest.fixture
def sandbox(sandboxes):
    return sandboxes("docker")


def tried(machine: Machine, *places: str) -> dict[str, str]:
    """For each place, whether it could be reached from inside."""
    _, said = run(machine.exec(["/usr/bin/python3", "-c", TRY, *places]), seconds=40, most_bytes=1 << 16)
    return {line.split()[0]: line.split()[1] for line in said.decode().splitlines()}


def test_services_of_the_runner_are_shut_on_every_address_of_it(start):
    machine = start(network="open")
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        places = [f"{address}:{port}" for address in firewall.own_addresses()]
        assert len(places) >= 2  # The computer's own and the bridge's.
        assert set(tried(machine, *places).values()) == {"shut"}


def test_link_local_and_private_addresses_are_shut_at_once(start):
    machine = start(network="open")
    places = ["169.254.169.254:80", "10.0.0.1:80", "172.16.0.1:80", "192.168.1.1:443", "100.64.0.1:80"]
    found = tried(machine, *places)
    assert found == dict.fromkeys(places, "shut")


def test_a_name_server_answers_names_and_nothing_else(start):
    machine = start(network="open")
    servers = firewall.name_servers(shell(machine, "cat /etc/resolv.conf")[1])
    assert servers
    assert tried(machine, f"{servers[0]}:443") == {f"{servers[0]}:443": "shut"}


def test_two_machines_cannot_reach_each_other(start):
    one, two = start(network="open"), start(network="open")
    session = two.exec(["/usr/bin/python3", "-u", "-m", "http.server", "8000"])
    wait_for(session, b"Serving")
    address = shell(two, "cat /etc/hosts | tail -1 | cut -f1")[1].strip()
    assert tried(two, f"{address}:8000") == {f"{address}:8000": "reached"}
    assert tried(one, f"{address}:8000") == {f"{address}:8000": "shut"}
    with contextlib.suppress(TimeoutError, ConnectionError):
        socket.create_connection((address, 8000), 2)
        pytest.fail("the runner reached into a machine")


def test_nothing_inside_may_change_the_rules(start):
    machine = start(network="open")
    status, said = shell(machine, "/usr/sbin/nft flush ruleset; /usr/sbin/nft list ruleset; echo $?")
    assert "Operation not permitted" in said
    assert not said.endswith("\n0\n")


def test_rules_name_no_address_twice_and_shut_the_runner_by_each_of_its_addresses():
    text = firewall.rules(["10.1.2.3", "10.1.2.3", "9.9.9.9"], ["8.8.4.4", "10.9.9.9"])
    assert "ip daddr { 10.1.2.3, 9.9.9.9 } meta l4proto { tcp, udp } th dport 53 accept" in text
    assert "8.8.4.4/32" in text
    assert "10.9.9.9" not in text  # Within a network that is shut anyway.


def test_without_a_name_server_no_rule_is_half_written():
    assert "dport 53" not in firewall.rules([], ["192.168.0.2"])
    assert firewall.name_servers("nameserver 127.0.0.53\nnameserver fe80::1\n# nameserver 1.1.1.1\n") == []


def test_own_addresses_are_those_that_the_kernel_has(tmp_path):
    table = tmp_path / "fib_trie"
    table.write_text(
        "Main:\n  +-- 0.0.0.0/0 3 0 4\n     |-- 127.0.0.1\n        /32 host LOCAL\n"
        "     |-- 198.51.100.7\n        /32 host LOCAL\n     |-- 198.51.100.0\n        /24 link UNICAST\n"
        "Local:\n     |-- 198.51.100.7\n        /32 host LOCAL\n"
    )
    assert firewall.own_addresses(table) == ["198.51.100.7"]


def test_twenty_machines_started_at_once_all_come_up(start):
    """Startup thundering herd: each waits its turn, and none is taken for a failure of the agent."""
    machines: list[Machine] = []
    threads = [threading.Thread(target=lambda: machines.append(start(limits=SMALL))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(machines) == 20
    assert {shell(machine, "echo up")[1] for machine in machines} == {"up\n"}
