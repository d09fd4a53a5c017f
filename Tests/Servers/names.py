#!/usr/bin/python3
"""A DNS server that answers as it is told (UDP, and TCP never).

    names.py ADDRESS     listens on port 53 of ADDRESS and prints "ready"

Commands come on standard input, one a line:

    address NAME IP          NAME has that address (A), for no time at all; a further one replaces it
    service NAME PORT HOST   NAME has that SRV record
    fail                     from now on answer SERVFAIL to everything
    silent                   from now on answer nothing at all
    slow MS                  from now on answer so much later
    work                     answer as usual again, at once

Every question is one line on standard output: TYPE NAME. A name that is not known does not exist (NXDOMAIN).
"""
import asyncio
import socket
import struct
import sys

A, SRV = 1, 33
TYPES = {1: "A", 28: "AAAA", 33: "SRV"}


def encoded(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


class Names(asyncio.DatagramProtocol):
    def __init__(self):
        self.records = {}  # (type, name) -> data of the record
        self.mode = "work"
        self.late = 0.0

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        labels, place = [], 12
        while data[place]:
            labels.append(data[place + 1 : place + 1 + data[place]].decode())
            place += 1 + data[place]
        question = data[12 : place + 5]
        kind = struct.unpack(">H", data[place + 1 : place + 3])[0]
        name = ".".join(labels).lower()
        print(TYPES.get(kind, kind), name, flush=True)
        if self.mode == "silent":
            return
        known = any(each == name for _, each in self.records)
        record = self.records.get((kind, name))
        code = 2 if self.mode == "fail" else 0 if known else 3
        found = code == 0 and record is not None
        answer = data[:2] + struct.pack(">HHHHH", 0x8580 | code, 1, int(found), 0, 0) + question
        if found:
            answer += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(record)) + record
        asyncio.get_running_loop().call_later(self.late, self.transport.sendto, answer, address)

    def obey(self, verb, *words):
        if verb == "address":
            self.records[A, words[0]] = socket.inet_aton(words[1])
        elif verb == "service":
            self.records[SRV, words[0]] = struct.pack(">HHH", 0, 0, int(words[1])) + encoded(words[2])
        elif verb == "slow":
            self.mode, self.late = "work", int(words[0]) / 1000
        else:
            self.mode, self.late = verb, 0.0


async def main():
    loop = asyncio.get_running_loop()
    _, names = await loop.create_datagram_endpoint(Names, local_addr=(sys.argv[1], 53))
    print("ready", flush=True)
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        names.obey(*line.decode().split())


asyncio.run(main())
