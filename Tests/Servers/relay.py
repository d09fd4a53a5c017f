#!/usr/bin/python3
"""A connection that can fail: passes bytes between its own port and a server's.

    relay.py HOST PORT [ADDRESS [OWN-PORT]]     listens there (default: loopback, any port) and prints the port

Commands come on standard input, one a line:

    reset          end all connections at once, with RST
    close          end all connections cleanly
    hold           pass nothing on any more, and accept no new connection's bytes either
    release        pass on what was held
    refuse         end new connections at once; `accept` takes them again
    delay MS       pass everything on so much later
    pieces BYTES   pass everything on in writes so small; 0: as it comes

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
        self.refuses = False
        self.delay = 0.0
        self.piece = 0

    async def connected(self, reader, writer):
        if self.refuses:
            writer.transport.abort()
            return
        try:
            other_reader, other_writer = await asyncio.open_connection(*self.server)
        except OSError:
            writer.transport.abort()
            return
        for each in (writer, other_writer):
            each.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.writers |= {writer, other_writer}
        await asyncio.gather(self.copy(reader, other_writer), self.copy(other_reader, writer))
        self.writers -= {writer, other_writer}

    async def copy(self, reader, writer):
        loop = asyncio.get_running_loop()
        late = asyncio.Queue(256)  # (when to pass on, bytes); beyond it, TCP makes the sender wait
        passing = asyncio.ensure_future(self.pass_on(late, writer))
        try:
            while data := await reader.read(65536):
                await late.put((loop.time() + self.delay, data))
        except OSError:
            pass
        await late.put((0, b""))
        await passing

    async def pass_on(self, late, writer):
        loop = asyncio.get_running_loop()
        try:
            while True:
                time, data = await late.get()
                if time > loop.time():
                    await asyncio.sleep(time - loop.time())
                await self.open.wait()
                if not data:
                    break
                size = self.piece or len(data)
                for start in range(0, len(data), size):
                    writer.write(data[start : start + size])
                    await writer.drain()
        except OSError:
            # What still comes has nowhere to go.
            while (await late.get())[1]:
                pass
        writer.close()

    def do_reset(self):
        for writer in self.writers:
            # No lingering: the other side gets an RST.
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    def do_close(self):
        for writer in self.writers:
            writer.close()

    def do_hold(self):
        self.open.clear()

    def do_release(self):
        self.open.set()

    def do_refuse(self):
        self.refuses = True

    def do_accept(self):
        self.refuses = False

    def do_delay(self, milliseconds):
        self.delay = int(milliseconds) / 1000

    def do_pieces(self, count):
        self.piece = int(count)


async def main():
    relay = Relay(sys.argv[1], int(sys.argv[2]))
    address, port = (sys.argv[3:] + ["127.0.0.1", "0"][len(sys.argv[3:]) :])[:2]
    server = await asyncio.start_server(relay.connected, address, int(port))
    print(server.sockets[0].getsockname()[1], flush=True)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        verb, *rest = line.decode().split()
        getattr(relay, "do_" + verb)(*rest)


asyncio.run(main())
