"""InfiniBand as the kernel shows it, and whether UCX would use it."""

import pytest

from taskflow.runtime.host.inventory import Port, ports, unused_ports
from taskflow.runtime.machine.channel.ucx import ucx_problem, ways_between_hosts


@pytest.fixture
def adapters(tmp_path):
    """The kernel's folder with an InfiniBand port that is up, one that is down, and one of RoCE."""
    for name, state, rate, link in (
        ("mlx5_0", "4: ACTIVE", "200 Gb/sec (4X HDR)", "InfiniBand"),
        ("mlx5_1", "1: DOWN", "10 Gb/sec (4X SDR)", "InfiniBand"),
        ("mlx5_2", "4: ACTIVE", "100 Gb/sec (4X EDR)", "Ethernet"),
    ):
        port = tmp_path / name / "ports" / "1"
        port.mkdir(parents=True)
        for file, text in (("state", state), ("rate", rate), ("link_layer", link)):
            (port / file).write_text(text + "\n")
    return tmp_path


def test_ports(adapters, tmp_path):
    first, second, third = ports(adapters)
    assert first == Port("mlx5_0:1", True, "200 Gb/sec (4X HDR)", "InfiniBand")
    assert str(first) == "mlx5_0:1 (InfiniBand, 200 Gb/sec (4X HDR))"
    assert str(second) == "mlx5_1:1 (InfiniBand, not active)"
    assert third.link == "Ethernet"
    assert ports(tmp_path / "none") == ()


def test_a_port_that_ucx_leaves_aside(adapters, monkeypatch):
    monkeypatch.delenv("UCX_TLS", raising=False)
    monkeypatch.delenv("UCX_NET_DEVICES", raising=False)
    result = ports(adapters)
    assert unused_ports(result, ["tcp/ib0", "rc_mlx5/mlx5_0:1", "ud_mlx5/mlx5_2:1"]) is None
    assert unused_ports(result, ["tcp/ib0", "rc_mlx5/mlx5_0:1"]).startswith(
        "UCX does not use mlx5_2:1: this UCX was built without"
    )
    monkeypatch.setenv("UCX_TLS", "tcp")
    assert "mlx5_0:1, mlx5_2:1: UCX_TLS=tcp may forbid it" in unused_ports(result, ["tcp/ib0"])


@pytest.mark.skipif(ucx_problem() is not None, reason="ucxx is not installed")
def test_ucx_tells_how_it_reaches_other_hosts():
    ways = ways_between_hosts()
    assert any(way.startswith("tcp/") for way in ways)
    assert not [way for way in ways if way.startswith(("self", "sysv", "posix", "cma"))]
