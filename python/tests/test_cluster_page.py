"""The page "On your cluster": its script and its manifest are checked, its commands for ssh run on loopback."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import afteryou

distributed = pytest.importorskip("distributed")

PAGE = (Path(__file__).parents[2] / "docs" / "src" / "cluster.md").read_text()
SSHD = shutil.which("sshd", path="/usr/sbin:/usr/bin")
DASK = Path(sys.executable).parent / "dask"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def options_of_the_worker() -> str:
    return subprocess.run([DASK, "worker", "--help"], capture_output=True, text=True, check=True).stdout


def test_the_script_for_slurm_makes_jobs_that_are_queued_again() -> None:
    jobqueue = pytest.importorskip("dask_jobqueue")
    (script,) = (block for block in blocks("python") if "SLURM" in block)
    (made,) = (line for line in script.splitlines() if line.startswith("cluster = "))
    names: dict[str, Any] = {"SLURMCluster": jobqueue.SLURMCluster}
    exec(made.replace("SLURMCluster(", "SLURMCluster(n_workers=0, scheduler_options={'dashboard_address': None}, "), names)
    with names["cluster"] as cluster:
        job = cluster.job_script()
    assert "#SBATCH --requeue" in job and "#SBATCH --cpus-per-task=16" in job
    # A thread for each process.
    assert "--nworkers 16" in job and "--nthreads 1" in job


def test_the_manifest_for_kubernetes_starts_workers() -> None:
    yaml = pytest.importorskip("yaml")
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    (manifest,) = (yaml.safe_load(block) for block in blocks("yaml"))
    kubernetes_validate.validate(manifest, "1.31", strict=True)
    assert (manifest["apiVersion"], manifest["kind"]) == ("apps/v1", "Deployment")
    template = manifest["spec"]["template"]
    assert manifest["spec"]["selector"]["matchLabels"] == template["metadata"]["labels"]
    (container,) = template["spec"]["containers"]
    program, kind, address, *options = container["command"]
    assert (program, kind) == ("dask", "worker") and address.startswith("tcp://")
    known = options_of_the_worker()
    assert all(option in known for option in options[::2])
    assert options[options.index("--nworkers") + 1] == container["resources"]["requests"]["cpu"]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[list[str]]:
    """The words of a command that logs in to this machine, by a server of its own with keys of its own."""
    if SSHD is None or shutil.which("ssh") is None:
        pytest.skip("no sshd, or no ssh")
    port, keys = free_port(), tmp_path / "keys"
    keys.mkdir(mode=0o700)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", keys / name], check=True)
    lines = (
        f"Port {port}",
        "ListenAddress 127.0.0.1",
        f"HostKey {keys / 'host'}",
        f"AuthorizedKeysFile {keys / 'user.pub'}",
        "StrictModes no",
        "UsePAM no",
        f"PidFile {keys / 'pid'}",
    )
    (keys / "config").write_text("\n".join(lines) + "\n")
    if os.getuid() == 0:
        # sshd separates its privileges there.
        Path("/run/sshd").mkdir(exist_ok=True)
    server = subprocess.Popen([SSHD, "-D", "-e", "-f", keys / "config"], stderr=subprocess.DEVNULL)
    words = ["ssh", "-p", str(port), "-i", str(keys / "user"), "-o", "StrictHostKeyChecking=no"]
    words += ["-o", f"UserKnownHostsFile={keys / 'known'}", "-o", "BatchMode=yes", "127.0.0.1"]
    for _ in range(100):
        if subprocess.run([*words, "true"], capture_output=True).returncode == 0:
            break
        time.sleep(0.1)
    else:
        server.terminate()
        pytest.skip("sshd takes no connection here")
    yield words
    server.terminate()
    server.wait()


def test_workers_that_ssh_starts_compute_a_sweep(ssh: list[str], tmp_path: Path) -> None:
    assert "ssh " in "".join(blocks("sh")) and "dask worker" in "".join(blocks("sh"))
    port = free_port()
    scheduler = subprocess.Popen(
        [DASK, "scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"], stderr=subprocess.DEVNULL
    )
    address = f"tcp://127.0.0.1:{port}"
    words = f"{DASK} worker {address} --nworkers 2 --nthreads 1 --no-dashboard --local-directory {tmp_path}"
    # -tt: the workers end with the connection.
    worker = subprocess.Popen([*ssh[:1], "-tt", *ssh[1:], words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with distributed.Client(address, timeout="30s") as client:
            client.wait_for_workers(2, timeout=60)
            scenario = afteryou.Scenario(
                {
                    "duration": "4 s",
                    "repeat": 8,
                    "link": {"rate": "5 Mbit/s", "buffer": "50 packets"},
                    "flow": [{"name": "a", "controller": "cubic", "rtt": "20 ms"}],
                }
            )
            (swept,) = afteryou.sweep(scenario, tmp_path / "out", client, progress=False)
            assert (swept.runs, swept.computed) == (8, 8)
    finally:
        for process in (worker, scheduler):
            process.terminate()
            process.wait()
