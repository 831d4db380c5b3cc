"""Sockets as background traffic."""

from __future__ import annotations

import asyncio
import socket
import sys

import pytest

import afteryou

LINUX = sys.platform == "linux"
LE = 4


def pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        return client, listener.accept()[0]


def test_a_socket_moves_its_bytes_marked_and_by_the_rule_that_is_returned() -> None:
    client, server = pair()
    with client, server:
        facts = afteryou.set_background(client)
        client.sendall(b"after you" * 1000)
        client.shutdown(socket.SHUT_WR)
        received = b"".join(iter(lambda: server.recv(65536), b""))
        assert received == b"after you" * 1000
        assert facts.marked and str(facts) == facts.sentence and facts.sentence in repr(facts)
        assert (facts.rule is None) == (facts.missing is not None)
        if LINUX:
            assert facts.low_priority
            assert client.getsockopt(socket.IPPROTO_IP, socket.IP_TOS) == LE
            name = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()
            assert name == (facts.rule or name) and facts.missing in (None, "not-loaded", "not-permitted")


def test_a_descriptor_and_a_second_call_have_the_same_facts() -> None:
    client, server = pair()
    with client, server:
        by_number, by_object = afteryou.set_background(client.fileno()), afteryou.set_background(client)
        assert (by_number.marked, by_number.low_priority) == (by_object.marked, by_object.low_priority)


def test_the_sockets_of_asyncio() -> None:
    async def talk() -> tuple[afteryou.Background, bytes]:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            afteryou.set_background(writer.get_extra_info("socket"))
            writer.write(await reader.readline())
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        facts = afteryou.set_background(writer.get_extra_info("socket"))
        writer.write(b"after you\n")
        line = await reader.readline()
        writer.close()
        server.close()
        return facts, line

    facts, line = asyncio.run(talk())
    assert facts.marked and line == b"after you\n"


def test_datagrams_are_marked_alone() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as datagrams:
        facts = afteryou.set_background(datagrams)
        assert facts.marked and facts.rule is None and facts.missing == "not-tcp"


def test_what_is_no_socket_of_the_internet_is_an_error() -> None:
    closed = socket.socket()
    closed.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        afteryou.set_background(closed)
    with open(__file__) as file, pytest.raises(OSError):
        afteryou.set_background(file)
    local, peer = socket.socketpair(socket.AF_UNIX)
    with local, peer, pytest.raises(ValueError, match="neither of IPv4 nor of IPv6"):
        afteryou.set_background(local)
    with pytest.raises(AttributeError):
        afteryou.set_background("127.0.0.1")  # type: ignore[arg-type]
