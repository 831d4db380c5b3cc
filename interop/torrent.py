#!/usr/bin/env python3
"""One torrent over uTP between `examples/torrent` and other clients, both ways, every byte compared.

    cargo build --release -p afteryou-interop --features libutp --example torrent
    interop/torrent.py --check [--mb 64] [--program target/release/examples/torrent]

libtorrent is a gate: `--check` exits with 1 if a transfer with it fails. transmission is reported. TCP, DHT, trackers and
encryption are off, where a client can turn them off. libtorrent runs on loopback. transmission refuses addresses of loopback, so it
needs root: it runs in a network namespace, which this script makes, and finds our seed by a tracker of twenty lines.
A client that is not here is SKIPPED with the reason.
"""

import argparse
import contextlib
import hashlib
import http.server
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from urllib.parse import urlparse

PATIENCE = 120
HERE = Path(__file__).resolve().parent


def free_port():
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "no file"


def run(program, *arguments):
    """Runs our program to its end and returns what it printed."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout.strip()


class Ours:
    """Our seed, while it runs."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen(
            [program, *map(str, arguments)], stdout=subprocess.PIPE, text=True, bufsize=1
        )
        print(" ", self.process.stdout.readline().strip())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def libtorrent_session(lt, port):
    return lt.session(
        {
            "listen_interfaces": f"127.0.0.1:{port}",
            "enable_incoming_tcp": False,
            "enable_outgoing_tcp": False,
            "enable_incoming_utp": True,
            "enable_outgoing_utp": True,
            "enable_dht": False,
            "enable_lsd": False,
            "enable_upnp": False,
            "enable_natpmp": False,
            "allow_multiple_connections_per_ip": True,
            "out_enc_policy": 2,
            "in_enc_policy": 2,
            "anonymous_mode": False,
        }
    )


def make_torrent(lt, file, folder):
    storage = lt.file_storage()
    lt.add_files(storage, str(file))
    torrent = lt.create_torrent(storage, 1 << 18, flags=64)  # v1_only
    lt.set_piece_hashes(torrent, str(file.parent))
    path = folder / "file.torrent"
    path.write_bytes(lt.bencode(torrent.generate()))
    return path


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"no {what} within {PATIENCE} s")
        time.sleep(0.1)


def libtorrent_seeds(lt, program, torrent, file, folder):
    session = libtorrent_session(lt, port := free_port())
    handle = session.add_torrent({"ti": lt.torrent_info(str(torrent)), "save_path": str(file.parent)})
    wait_until(lambda: handle.status().is_seeding, "seed")
    got = folder / "from-libtorrent"
    print(" ", run(program, "fetch", torrent, got, "--peer", f"127.0.0.1:{port}"))
    return digest(got) == digest(file)


def libtorrent_fetches(lt, program, torrent, file, folder):
    into = folder / "to-libtorrent"
    into.mkdir()
    port = free_port()
    with Ours(program, "seed", torrent, file, "--listen", f"127.0.0.1:{port}"):
        session = libtorrent_session(lt, free_port())
        handle = session.add_torrent({"ti": lt.torrent_info(str(torrent)), "save_path": str(into)})
        began, tried = time.monotonic(), 0.0
        while not handle.status().is_seeding:
            now = time.monotonic()
            if now > began + PATIENCE:
                raise RuntimeError(f"libtorrent has {handle.status().progress:.0%} after {PATIENCE} s")
            if now > tried + 2 and handle.status().num_peers == 0:
                handle.connect_peer(("127.0.0.1", port))
                tried = now
            time.sleep(0.05)
        seconds = time.monotonic() - began
        print(f"  libtorrent has all after {seconds:.2f} s: {file.stat().st_size * 8e-6 / seconds:.1f} Mbit/s")
    return digest(into / file.name) == digest(file)


@contextlib.contextmanager
def namespace():
    """A network namespace with two addresses that are not loopback's; yields the words that run a program in it."""
    name = f"ay-torrent-{os.getpid()}"
    ip = lambda *words: subprocess.run(["ip", *words], check=True)
    ip("netns", "add", name)
    try:
        for words in (["link", "set", "lo", "up"], ["addr", "add", "10.77.0.1/32", "dev", "lo"], ["addr", "add", "10.77.0.2/32", "dev", "lo"]):
            ip("-n", name, *words)
        yield ["ip", "netns", "exec", name]
    finally:
        ip("netns", "del", name)


def track(port, peer):
    """The child's part: a tracker that knows one peer."""

    class Tracker(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if not urlparse(self.path).path.startswith("/announce"):
                self.send_error(404)
                return
            address, its_port = peer.split(":")
            compact = socket.inet_aton(address) + int(its_port).to_bytes(2, "big")
            body = b"d8:intervali10e12:min intervali5e5:peers6:" + compact + b"e"
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("10.77.0.1", port), Tracker)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Event().wait()


def transmission(prefix, folder, *arguments):
    config = folder / "config"
    config.mkdir(parents=True)
    (config / "settings.json").write_text(
        '{"utp-enabled": true, "tcp-enabled": false, "dht-enabled": false, "lpd-enabled": false, "pex-enabled": false,'
        ' "encryption": 0, "port-forwarding-enabled": false, "bind-address-ipv4": "10.77.0.2", "rpc-enabled": false,'
        ' "blocklist-enabled": false}'
    )
    return subprocess.Popen(
        [*prefix, "transmission-cli", "-g", str(config), "-w", str(folder), "-p", "51413", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def with_tracker(torrent, folder):
    """The same torrent with an announce address; the info hash stays."""
    announce = b"http://10.77.0.1:6969/announce"
    raw = torrent.read_bytes()
    assert raw.startswith(b"d")
    path = folder / "tracked.torrent"
    path.write_bytes(b"d8:announce" + str(len(announce)).encode() + b":" + announce + raw[1:])
    return path


def transmission_seeds(program, torrent, file, folder):
    with namespace() as prefix:
        home = folder / "transmission-seeds"
        home.mkdir()
        shutil.copy(file, home / file.name)
        peer = transmission(prefix, home, torrent)
        try:
            got = folder / "from-transmission"
            end = time.monotonic() + PATIENCE
            while True:
                try:
                    words = [*prefix, program, "fetch", torrent, got, "--peer", "10.77.0.2:51413", "--listen", "10.77.0.1:0"]
                    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=PATIENCE)
                    if done.returncode == 0:
                        print(" ", done.stdout.strip())
                        return digest(got) == digest(file)
                    reason = done.stderr.strip()
                except subprocess.TimeoutExpired:
                    reason = "stalled"
                if time.monotonic() > end:
                    raise RuntimeError(reason)
                time.sleep(1)  # it may still check its file
        finally:
            peer.terminate()
            peer.wait()


def transmission_fetches(program, torrent, file, folder):
    with namespace() as prefix:
        home = folder / "transmission-fetches"
        home.mkdir()
        tracker = subprocess.Popen([*prefix, sys.executable, __file__, "--track", "10.77.0.1:7000"])
        ours = subprocess.Popen(
            [*prefix, str(program), "seed", str(torrent), str(file), "--listen", "10.77.0.1:7000"],
            stdout=subprocess.DEVNULL,
        )
        peer = transmission(prefix, home, with_tracker(torrent, home))
        began = time.monotonic()
        try:
            wait_until(lambda: digest(home / file.name) == digest(file), "whole file of transmission's")
            seconds = time.monotonic() - began
            print(f"  transmission has all after {seconds:.1f} s: {file.stat().st_size * 8e-6 / seconds:.1f} Mbit/s")
            return True
        finally:
            for process in (peer, ours, tracker):
                process.terminate()
                process.wait()


def attempt(name, transfer):
    print(name)
    try:
        is_equal = transfer()
        print("  every byte equal" if is_equal else "  BYTES DIFFER")
        return is_equal
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        print(f"  FAILED: {error}")
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a transfer with libtorrent fails")
    parser.add_argument("--mb", type=int, default=64, help="size of the file")
    parser.add_argument("--program", type=Path, default=HERE.parent / "target/release/examples/torrent")
    parser.add_argument("--only", choices=["libtorrent", "transmission"])
    parser.add_argument("--track", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.track:
        track(6969, options.track)
    warnings.simplefilter("ignore", DeprecationWarning)  # libtorrent 2.0 lacks what 2.1 has instead
    try:
        import libtorrent as lt
    except ImportError as error:
        print(f"SKIPPED: {error}: `pip install libtorrent` or Debian's python3-libtorrent")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        folder, program = Path(folder), options.program
        file = folder / "data" / "file"
        file.parent.mkdir()
        file.write_bytes(os.urandom(options.mb * 1_000_000))
        torrent = make_torrent(lt, file, folder)
        is_met = True
        if options.only != "transmission":
            print(f"libtorrent {lt.__version__}, a gate")
            for name, transfer in [("libtorrent seeds", libtorrent_seeds), ("libtorrent fetches", libtorrent_fetches)]:
                is_met &= attempt(name, lambda: transfer(lt, program, torrent, file, folder))
        if options.only == "libtorrent":
            pass
        elif not shutil.which("transmission-cli"):
            print("SKIPPED: transmission: there is no transmission-cli")
        elif os.geteuid() != 0:
            print("SKIPPED: transmission: it takes no peers on loopback, and a network namespace needs root")
        else:
            print("transmission, reported")
            attempt("transmission seeds", lambda: transmission_seeds(program, torrent, file, folder))
            attempt("transmission fetches", lambda: transmission_fetches(program, torrent, file, folder))
        return 0 if is_met or not options.check else 1


if __name__ == "__main__":
    sys.exit(main())
