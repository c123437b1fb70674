"""Which of these tests want the machine for themselves; the others mostly wait, and run side by side."""

import pytest

# They start real ranks, count processes, or look at what the whole machine does.
_REAL = (
    "test_attached_hosts_real test_cluster_command_launched test_cluster_guardian test_cluster_in_a_run "
    "test_cluster_launch test_identity_real test_misses_real test_probe_in_a_run "
    "test_raw_benchmark_run test_remote_rank test_swarm_real test_tiny_model_served test_transport "
    "test_vitals_real test_web_in_chromium test_wedge test_why_real"
).split()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks them `real`."""
    for item in items:
        if item.path.stem in _REAL:
            item.add_marker("real")
