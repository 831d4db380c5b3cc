#!/bin/sh
# Linux 6.18.44, iproute2 6.1.0: `congctl` of a route is the congestion control of connections to that destination, and reads like a default for
# sockets that choose none. It is not. A socket that has chosen a controller by TCP_CONGESTION before connect() has the route's afterwards, and no
# call fails. The same choice after connect() stays.
#
#   no congctl:   before connect bbr after bbr
#   congctl reno: before connect reno after bbr
#
# "bbr" is the first controller here that a user may choose and that is not reno. So a program that chooses a controller has to do so after
# connect(), or to look at what it has.
#
# The script requires ip, python3 and the right to make a network namespace, and nothing else: all of it is the kernel's.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/choices.py" <<'P'
import os, socket, subprocess, sys

def ip(*words):
    subprocess.run(["ip", *words], check=True)

names = open("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read().split()
own = next((name for name in names if name != "reno"), None)
if own is None:
    sys.exit("users may choose reno alone here: load another controller first")

def controller(sock):
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).strip(b"\0").decode()

def seen():
    with socket.create_server(("192.0.2.1", 0)) as server:
        before, after = socket.socket(), socket.socket()
        before.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, own.encode())
        before.connect(server.getsockname())
        after.connect(server.getsockname())
        after.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, own.encode())
        return controller(before), controller(after)

ip("-V")
ip("link", "set", "lo", "up")
ip("addr", "add", "192.0.2.1/32", "dev", "lo")
plain = seen()
ip("route", "replace", "table", "local", "local", "192.0.2.1", "dev", "lo", "congctl", "reno")
routed = seen()
print("Linux", os.uname().release)
print("no congctl:   before connect", plain[0], "after", plain[1])
print("congctl reno: before connect", routed[0], "after", routed[1])
sys.exit((plain, routed) != ((own, own), ("reno", own)))
P
unshare --user --map-root-user --net python3 "$dir/choices.py"
