#!/usr/bin/python3
"""A contact that sends numbered messages and writes down what comes back: light enough for tens of thousands.

    contact.py --host HOST --port PORT --ca FILE [--silent] JID PASSWORD

It speaks TLS from the first byte (XEP-0368), PLAIN, stream management without resumption (so that it knows what the
server has) and XEP-0313. It is never the cause of a loss: when its stream ends it comes back at once, and asks the
server's archive for what it missed. With --silent it sends no presence, and only reads an archive.

Commands come on standard input, one a line:

    run FIRST LAST RATE EVERY TEXT     send "ping N" for each number to the bot, RATE a second (0: as fast as it goes);
                                       each EVERY-th is TEXT and the number instead (0: none). The thread is tN.
    bot JID                            whom the numbers are for
    raw XML                            one stanza as it is
    repeat COUNT XML                   so many stanzas, with {n} replaced
    archive                            print all of our archive on the server
    reconnect                          end the stream and come back
    quit                               leave (so does the end of the input)

What happens is one line each on standard output: connected, disconnected, sent N, confirmed N (the server has it), ran
(the numbers of a `run` are all sent), flushed (`repeat` is done and the server has it), and

    arrived ID THREAD BODY             a message that came, now or by the archive; ID is its stanza-id (XEP-0359)
    archived WAY ID THREAD BODY        an item of our archive, WAY is in or out; then `archive-end`

where BODY is a JSON string and a missing field is "-".
"""
import argparse
import asyncio
import base64
import itertools
import json
import os
import ssl
import sys
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

STREAM = "{http://etherx.jabber.org/streams}"
SM = "{urn:xmpp:sm:3}"
CLIENT = "{jabber:client}"
MAM = "{urn:xmpp:mam:2}"
RSM = "{http://jabber.org/protocol/rsm}"
PAGE = 500


def say(*words):
    print(*words, flush=True)


class Ended(Exception):
    """The stream is over."""


class Stream:
    """One connection: XML in and out."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.restart()

    def restart(self):
        self.parser = ElementTree.XMLPullParser(["start", "end"])
        self.depth = 0
        self.root = None

    def send(self, text):
        self.writer.write(text.encode())

    async def open(self, domain):
        self.restart()
        self.send(
            f"<?xml version='1.0'?><stream:stream to={quoteattr(domain)} version='1.0' xmlns='jabber:client' "
            "xmlns:stream='http://etherx.jabber.org/streams'>"
        )
        return await self.next(STREAM + "features")

    async def elements(self):
        while True:
            for event, element in self.parser.read_events():
                if event == "start":
                    self.depth += 1
                    self.root = self.root if self.root is not None else element
                    continue
                self.depth -= 1
                if self.depth == 1:
                    yield element
                    self.root.clear()
                elif self.depth == 0:
                    raise Ended("the server closed the stream")
            try:
                data = await self.reader.read(65536)
            except (OSError, ssl.SSLError) as error:
                raise Ended(repr(error)) from error
            if not data:
                raise Ended("the connection was closed")
            try:
                self.parser.feed(data)
            except ElementTree.ParseError as error:
                raise Ended(repr(error)) from error

    async def next(self, *tags):
        async for element in self.elements():
            if element.tag in tags or not tags:
                return element
            if element.tag == STREAM + "error":
                raise Ended(ElementTree.tostring(element).decode())


class Contact:
    def __init__(self, options):
        self.options = options
        self.bare = options.jid.split("/")[0]
        self.user, self.domain = self.bare.split("@")
        self.bot = ""
        self.stream = None
        self.ready = asyncio.Event()
        self.leaving = False
        self.serial = itertools.count(1)
        self.answers = {}  # id of our IQ -> future
        self.running = asyncio.Lock()  # one `run` after the other
        self.last_id = None  # the newest item of our archive that we have seen
        self.begin_stream()

    def begin_stream(self):
        self.unconfirmed = []  # (position among our stanzas, number)
        self.sent_stanzas = self.received_stanzas = 0
        self.flushes = []  # (position, future)

    # The stream

    async def live(self):
        while not self.leaving:
            try:
                await self.connect()
                await self.read()
            except (Ended, OSError, ssl.SSLError, asyncio.IncompleteReadError) as error:
                print(f"stream: {error}", file=sys.stderr, flush=True)
            self.ready.clear()
            for future in [*self.answers.values(), *(f for _, f in self.flushes)]:
                if not future.done():
                    future.set_exception(Ended("the stream ended"))
            self.answers = {}
            if self.stream:
                self.stream.writer.transport.abort()
                self.stream = None
                say("disconnected")
            if not self.leaving:
                await asyncio.sleep(0.2)

    async def connect(self):
        context = ssl.create_default_context(cafile=self.options.ca)
        reader, writer = await asyncio.open_connection(
            self.options.host, self.options.port, ssl=context, server_hostname=self.domain, limit=1 << 20
        )
        self.begin_stream()
        stream = Stream(reader, writer)
        await stream.open(self.domain)
        plain = base64.b64encode(f"\0{self.user}\0{self.options.password}".encode()).decode()
        stream.send(f"<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>{plain}</auth>")
        answer = await stream.next()
        if not answer.tag.endswith("}success"):
            raise Ended("not let in: " + ElementTree.tostring(answer).decode())
        await stream.open(self.domain)
        resource = f"contact-{os.urandom(4).hex()}"
        stream.send(
            "<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>"
            f"<resource>{resource}</resource></bind></iq>"
        )
        await stream.next(CLIENT + "iq")
        stream.send("<enable xmlns='urn:xmpp:sm:3'/>")
        await stream.next(SM + "enabled", SM + "failed")
        self.stream = stream

    async def read(self):
        self.tasks = [asyncio.ensure_future(self.begin())]  # kept: a task nobody holds may vanish
        async for element in self.stream.elements():
            if element.tag == SM + "r":
                self.stream.send(f"<a xmlns='urn:xmpp:sm:3' h='{self.received_stanzas}'/>")
            elif element.tag == SM + "a":
                self.confirm(int(element.get("h")))
            elif element.tag == STREAM + "error":
                raise Ended(ElementTree.tostring(element).decode())
            elif element.tag.startswith(CLIENT):
                self.received_stanzas += 1
                self.stanza(element)

    async def begin(self):
        try:
            if not self.options.silent:
                await self.catch_up()
                self.send_stanza("<presence/>")
        except Ended:
            return
        self.ready.set()
        say("connected")

    def send_stanza(self, xml):
        self.stream.send(xml)
        self.sent_stanzas += 1

    def confirm(self, handled):
        while self.unconfirmed and self.unconfirmed[0][0] <= handled:
            say("confirmed", self.unconfirmed.pop(0)[1])
        while self.flushes and self.flushes[0][0] <= handled:
            future = self.flushes.pop(0)[1]
            if not future.done():
                future.set_result(None)

    # What comes

    def stanza(self, element):
        if element.tag == CLIENT + "iq":
            self.iq(element)
        elif element.tag == CLIENT + "message":
            result = element.find(MAM + "result")
            if result is not None:
                future = self.answers.get(result.get("queryid"))
                if future is not None:
                    future.items.append(self.item(result))
            elif element.find(CLIENT + "body") is not None and element.get("type") != "error":
                stanza_id = next(
                    (e.get("id") for e in element.findall("{urn:xmpp:sid:0}stanza-id") if e.get("by") == self.bare), None
                )
                self.arrived(element, stanza_id)
            elif element.get("type") == "error":
                say("bounced", element.get("id", "-"))

    def arrived(self, message, stanza_id):
        if stanza_id:
            self.last_id = stanza_id
        if message.get("from", "").split("/")[0] == self.bot:
            say("arrived", stanza_id or "-", *self.told(message))

    @staticmethod
    def told(message):
        body = message.findtext(CLIENT + "body")
        return message.findtext(CLIENT + "thread") or "-", json.dumps(body)

    def item(self, result):
        message = result.find("{urn:xmpp:forward:0}forwarded/" + CLIENT + "message")
        return result.get("id"), message

    def iq(self, element):
        kind, identifier = element.get("type"), element.get("id", "")
        if kind in ("get", "set"):
            to = f" to={quoteattr(element.get('from'))}" if element.get("from") else ""
            self.send_stanza(f"<iq type='result' id={quoteattr(identifier)}{to}/>")
            return
        future = self.answers.pop(identifier, None)
        if future is not None and not future.done():
            future.set_result(element)

    # The archive

    async def page(self, after):
        identifier = f"q{next(self.serial)}"
        future = asyncio.get_running_loop().create_future()
        future.items = []
        self.answers[identifier] = future
        place = f"<after>{escape(after)}</after>" if after else ""
        self.send_stanza(
            f"<iq type='set' id='{identifier}'><query xmlns='urn:xmpp:mam:2' queryid='{identifier}'>"
            f"<set xmlns='http://jabber.org/protocol/rsm'><max>{PAGE}</max>{place}</set></query></iq>"
        )
        answer = await future
        end = answer.find(MAM + "fin")
        if end is None:
            # The place is not known any more: the archive was cleared.
            return [], None, True
        return future.items, end.findtext(RSM + "set/" + RSM + "last"), end.get("complete") == "true"

    async def items(self, after):
        while True:
            items, last, complete = await self.page(after)
            for item in items:
                yield item
            if complete or not items or not last:
                return
            after = last

    async def catch_up(self):
        if self.last_id is None:
            return
        async for identifier, message in self.items(self.last_id):
            if message is not None and message.find(CLIENT + "body") is not None:
                self.arrived(message, identifier)

    async def do_archive(self):
        while True:
            lines = []
            await self.ready.wait()
            try:
                async for identifier, message in self.items(None):
                    if message is None or message.find(CLIENT + "body") is None or message.get("type") == "error":
                        continue
                    way = "out" if message.get("from", self.bare).split("/")[0] == self.bare else "in"
                    lines.append(" ".join(["archived", way, identifier, *self.told(message)]))
            except Ended:
                await asyncio.sleep(0.1)
                continue
            for line in lines:
                say(line)
            return say("archive-end")

    # What is asked for

    async def do_run(self, *words):
        async with self.running:
            await self.run(*words)
        say("ran")

    async def run(self, first, last, rate, every, text=""):
        rate, every = float(rate), int(every)
        begun = asyncio.get_running_loop().time()
        for count, number in enumerate(range(int(first), int(last) + 1)):
            if rate:
                await asyncio.sleep(max(0, begun + count / rate - asyncio.get_running_loop().time()))
            elif count % 50 == 49:
                await self.flushed()
            await self.ready.wait()
            body = f"{text} {number}" if every and number % every == 0 else f"ping {number}"
            self.send_stanza(
                f"<message type='chat' to={quoteattr(self.bot)} id='m{number}'><body>{escape(body)}</body>"
                f"<thread>t{number}</thread></message>"
            )
            self.unconfirmed.append((self.sent_stanzas, number))
            self.stream.send("<r xmlns='urn:xmpp:sm:3'/>")
            say("sent", number)

    async def flushed(self):
        """The server has all that was sent."""
        while True:
            await self.ready.wait()
            future = asyncio.get_running_loop().create_future()
            self.flushes.append((self.sent_stanzas, future))
            self.stream.send("<r xmlns='urn:xmpp:sm:3'/>")
            try:
                return await future
            except Ended:
                await asyncio.sleep(0.1)

    async def do_repeat(self, count, *xml):
        xml = " ".join(xml)
        for number in range(1, int(count) + 1):
            await self.ready.wait()
            self.send_stanza(xml.replace("{n}", str(number)))
            if number % 200 == 0:
                await self.flushed()
        await self.flushed()
        say("flushed")

    async def do_raw(self, *xml):
        await self.ready.wait()
        self.send_stanza(" ".join(xml))

    async def do_bot(self, jid):
        self.bot = jid

    async def do_reconnect(self):
        if self.stream:
            self.stream.writer.transport.abort()

    async def obey(self):
        reader = asyncio.StreamReader(limit=1 << 24)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        running = set()
        while line := (await reader.readline()).decode().strip("\n"):
            verb, *rest = line.split(" ")
            if verb == "quit":
                break
            task = asyncio.ensure_future(getattr(self, "do_" + verb)(*rest))
            running.add(task)
            if verb not in ("run", "repeat", "archive"):
                await task
        self.leaving = True
        if self.stream:
            self.stream.send("</stream:stream>")
            self.stream.writer.close()


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--ca", required=True)
    parser.add_argument("--silent", action="store_true")
    parser.add_argument("jid")
    parser.add_argument("password")
    contact = Contact(parser.parse_args())
    living = asyncio.ensure_future(contact.live())
    await contact.obey()
    living.cancel()


asyncio.run(main())
