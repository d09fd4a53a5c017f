#!/usr/bin/python3
"""A connection that can fail: passes bytes between its own port on loopback and a server's.

    relay.py HOST PORT     prints the port on which it listens

Commands come on standard input, one a line:

    reset     end all connections at once, with RST
    close     end all connections cleanly
    hold      pass nothing on any more, and accept no new connection's bytes either
    release   pass on what was held

The end of the input ends it.
"""
import asyncio
import socket
import struct
import sys


class Relay:
    def __init__(self, host, port):
        self.server = (host, port)
        self.writers = set()
        self.open = asyncio.Event()
        self.open.set()

    async def accept(self, reader, writer):
        try:
            other_reader, other_writer = await asyncio.open_connection(*self.server)
        except OSError:
            writer.transport.abort()
            return
        self.writers |= {writer, other_writer}
        await asyncio.gather(self.copy(reader, other_writer), self.copy(other_reader, writer))
        self.writers -= {writer, other_writer}

    async def copy(self, reader, writer):
        try:
            while data := await reader.read(65536):
                await self.open.wait()
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        writer.close()

    def reset(self):
        for writer in self.writers:
            # No lingering: the other side gets an RST.
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def close(self):
        for writer in self.writers:
            writer.close()


async def main():
    relay = Relay(sys.argv[1], int(sys.argv[2]))
    server = await asyncio.start_server(relay.accept, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        {"reset": relay.reset, "close": relay.close, "hold": relay.open.clear, "release": relay.open.set}[
            line.decode().strip()
        ]()


asyncio.run(main())
