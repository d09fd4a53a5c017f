#!/usr/bin/python3
"""A contact of the bot's: a real XMPP client (slixmpp, from Debian) driven by lines.

    peer.py --host HOST --port PORT --ca FILE [--direct-tls] [--plain] JID PASSWORD

Commands come on standard input, one a line, and are carried out in that order:

    send JID TEXT          a chat message
    ask JID TEXT           a chat message, then wait for that JID's answer
    expect REGEX           what the last answer must match
    subscribe JID          ask to see its presence (a request from it is always granted)
    unsubscribe JID
    presence [SHOW] [STATUS]    our own presence; SHOW is available, away, xa, dnd, chat or unavailable
    await JID              wait until that JID is available
    ping JID | version JID | time JID | last JID | disco JID
    request JID XML        an IQ of type get with that payload
    commands JID           its ad-hoc commands (XEP-0050)
    menu JID JSON          one step of such a command: {"node": …, "action": …, "sessionid": …, "fields": {NAME: VALUE}}
    raw XML                one stanza as it is
    quit                   leave (so does the end of the input)

Every event is one line of JSON on standard output, with its kind under "event": connected, message, presence,
roster, iq, raw, timeout, mismatch, error, disconnected. With --plain a conversation that people can read is printed
instead, up to the first thing that goes wrong. The exit status is 0 only if we got online and no answer was missing, late or wrong.
"""
import argparse
import asyncio
import json
import logging
import re
import sys

import slixmpp
from slixmpp.exceptions import IqError, IqTimeout
from slixmpp.jid import JID
from slixmpp.xmlstream import ET
from slixmpp.xmlstream.handler import Callback
from slixmpp.xmlstream.matcher import StanzaPath

CHAT_STATES_NS = "http://jabber.org/protocol/chatstates"
CHAT_STATES = ("active", "composing", "paused", "inactive", "gone")


class Peer(slixmpp.ClientXMPP):
    def __init__(self, options):
        jid = options.jid if "/" in options.jid else options.jid + "/peer"
        super().__init__(jid, options.password)
        self.options = options
        self.ca_certs = options.ca
        self.answers = asyncio.Queue()
        self.available = {}  # bare JID -> set of resources
        self.arrival = asyncio.Condition()
        self.last_answer = ""
        self.failures = 0
        self.is_online = False
        self.finished = asyncio.get_event_loop().create_future()
        for plugin in ("0004", "0012", "0030", "0050", "0085", "0092", "0115", "0199", "0202", "0203"):
            self.register_plugin("xep_" + plugin)
        for event, handler in (
            ("session_start", self.session_started),
            ("presence", self.presence_came),
            ("roster_update", self.roster_came),
            ("failed_auth", lambda _: self.give_up("the server refused our password")),
            ("connection_failed", lambda reason: self.give_up(f"no connection: {reason}")),
            ("disconnected", lambda _: self.report("disconnected")),
        ):
            self.add_event_handler(event, handler)
        # slixmpp's own "message" event leaves out messages without a body.
        self.register_handler(Callback("every message", StanzaPath("message"), self.message_came))

    # Output

    def report(self, event, **fields):
        if self.options.plain:
            self.report_plainly(event, fields)
        else:
            print(json.dumps({"event": event, **fields}, ensure_ascii=False), flush=True)

    def report_plainly(self, event, fields):
        sender = fields.get("from", "").split("@")[0]
        if event == "message" and fields["body"]:
            self.say(sender, fields["body"])
        elif event == "message" and fields["chatstate"] == "composing":
            self.say(sender, "(typing…)")
        elif event in ("timeout", "mismatch", "error"):
            self.say("!", fields["reason"])

    def say(self, who, text):
        for line in text.splitlines():
            print(f"  {who:>8}  {line}", flush=True)
            who = ""

    def fail(self, event, reason, **fields):
        self.failures += 1
        self.report(event, reason=reason, **fields)

    def give_up(self, reason):
        self.fail("error", reason)
        self.abort()
        self.finish()

    def finish(self):
        if not self.finished.done():
            self.finished.set_result(None)

    # What arrives

    async def session_started(self, _):
        self.is_online = True
        await self.get_roster()
        self.send_presence()
        self.report("connected", jid=str(self.boundjid))
        self.commands = asyncio.ensure_future(self.carry_out_commands())  # kept: a task nobody holds may vanish

    def message_came(self, message):
        body = message["body"]
        self.report(
            "message",
            **{"from": str(message["from"]), "type": message["type"], "id": message["id"], "body": body},
            chatstate=next((s for s in CHAT_STATES if message.xml.find(f"{{{CHAT_STATES_NS}}}{s}") is not None), ""),
            delayed=message.xml.find("{urn:xmpp:delay}delay") is not None,
            xml=str(message),
        )
        if body:
            self.answers.put_nowait((message["from"].bare, body))

    async def presence_came(self, presence):
        sender = presence["from"]
        caps = presence.xml.find("{http://jabber.org/protocol/caps}c")
        self.report(
            "presence",
            **{"from": str(sender), "type": presence.xml.get("type", "")},
            show=presence["show"],
            status=presence["status"],
            priority=presence["priority"],
            caps=dict(caps.attrib) if caps is not None else None,
        )
        resources = self.available.setdefault(sender.bare, set())
        async with self.arrival:
            if presence.xml.get("type") is None:
                resources.add(sender.resource)
            elif presence.xml.get("type") == "unavailable":
                resources.discard(sender.resource)
            self.arrival.notify_all()

    def roster_came(self, iq):
        for jid, item in iq["roster"]["items"].items():
            self.report("roster", jid=str(jid), name=item["name"], subscription=item["subscription"], groups=item["groups"])

    # What is asked for

    async def carry_out_commands(self):
        reader = asyncio.StreamReader(limit=1 << 24)
        await self.loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := (await reader.readline()).decode().strip("\n"):
            verb, _, rest = line.partition(" ")
            if verb == "quit":
                break
            command = getattr(self, "do_" + verb, None)
            if command is None:
                self.fail("error", f"unknown command: {verb}")
                continue
            try:
                await command(*rest.split(" ", 1))
            except Exception as error:  # whatever it is: the next command is still carried out
                self.fail("error", f"{line}: {error!r}")
            if self.failures and self.options.plain:
                break
        await self.disconnect(wait=2)
        self.finish()

    async def do_send(self, jid, text):
        self.send_message(mto=jid, mbody=text, mtype="chat")

    async def do_ask(self, jid, text):
        while not self.answers.empty():
            self.answers.get_nowait()
        if self.options.plain:
            self.say(self.boundjid.user, text)
        await self.do_send(jid, text)
        self.last_answer = ""

        async def answer():
            while True:
                sender, body = await self.answers.get()
                if sender == JID(jid).bare:
                    return body

        try:
            self.last_answer = await asyncio.wait_for(answer(), self.options.patience)
        except asyncio.TimeoutError:
            self.fail("timeout", f"no answer to '{text}' within {self.options.patience:g} s")

    async def do_expect(self, *pattern):
        pattern = " ".join(pattern)
        if not re.search(pattern, self.last_answer):
            self.fail("mismatch", f"the answer does not match /{pattern}/", answer=self.last_answer)

    async def do_subscribe(self, jid):
        self.send_presence_subscription(pto=jid, ptype="subscribe")

    async def do_unsubscribe(self, jid):
        self.send_presence_subscription(pto=jid, ptype="unsubscribe")

    async def do_presence(self, show="available", status=None):
        if show == "unavailable":
            self.send_presence(ptype="unavailable", pstatus=status)
        else:
            self.send_presence(pshow=None if show in ("", "available") else show, pstatus=status)

    async def do_await(self, jid):
        try:
            async with self.arrival:
                available = self.arrival.wait_for(lambda: self.available.get(JID(jid).bare))
                await asyncio.wait_for(available, self.options.patience)
        except asyncio.TimeoutError:
            self.fail("timeout", f"{jid} did not become available within {self.options.patience:g} s")

    async def do_raw(self, *xml):
        self.send_raw(" ".join(xml))
        self.report("raw")

    async def query(self, name, jid, request, fields):
        try:
            result = await request
            self.report("iq", query=name, type="result", **{"from": jid}, **fields(result))
        except IqError as error:
            self.report("iq", query=name, type="error", **{"from": jid}, condition=error.iq["error"]["condition"])
        except IqTimeout:
            self.fail("timeout", f"no answer to {name} from {jid}")

    async def do_ping(self, jid):
        request = self["xep_0199"].send_ping(jid, timeout=self.options.patience)
        await self.query("ping", jid, request, lambda iq: {})

    async def do_request(self, jid, xml):
        iq = self.make_iq_get(ito=jid)
        iq.append(ET.fromstring(xml))
        await self.query("request", jid, iq.send(timeout=self.options.patience), lambda iq: {"xml": str(iq)})

    async def do_commands(self, jid):
        request = self["xep_0050"].get_commands(jid, timeout=self.options.patience)
        await self.query(
            "commands", jid, request, lambda iq: {"commands": {i[1]: i[2] for i in sorted(iq["disco_items"]["items"])}}
        )

    async def do_menu(self, jid, text):
        step = json.loads(text)
        form = None
        if "fields" in step:
            form = self["xep_0004"].make_form(ftype="submit")
            for name, value in step["fields"].items():
                form.add_field(var=name, value=value)
        request = self["xep_0050"].send_command(
            jid, step["node"], action=step.get("action", "execute"), payload=form, sessionid=step.get("sessionid"),
            timeout=self.options.patience,
        )
        await self.query("menu", jid, request, self.menu_page)

    @staticmethod
    def menu_page(iq):
        command = iq["command"]
        form = command["form"] if command.xml.find("{jabber:x:data}x") is not None else None
        return {
            "status": command["status"],
            "sessionid": command["sessionid"],
            "actions": sorted(command["actions"]),
            "notes": [text for _, text in command["notes"]],
            "fields": {} if form is None else {
                name: {"type": field["type"], "value": field["value"], "options": [o["value"] for o in field["options"]]}
                for name, field in form.get_fields().items()
            },
        }

    async def do_version(self, jid):
        request = self["xep_0092"].get_version(jid, timeout=self.options.patience)
        await self.query(
            "version", jid, request, lambda iq: {k: iq["software_version"][k] for k in ("name", "version", "os")}
        )

    async def do_time(self, jid):
        request = self["xep_0202"].get_entity_time(jid, timeout=self.options.patience)
        # slixmpp's own reading stumbles over a time that says it is UTC, as XEP-0082 has it.
        path = "{urn:xmpp:time}time/{urn:xmpp:time}"
        await self.query("time", jid, request, lambda iq: {k: iq.xml.findtext(path + k) for k in ("utc", "tzo")})

    async def do_last(self, jid):
        request = self["xep_0012"].get_last_activity(jid, timeout=self.options.patience)
        await self.query("last", jid, request, lambda iq: {"seconds": iq["last_activity"]["seconds"]})

    async def do_disco(self, jid):
        request = self["xep_0030"].get_info(jid=jid, timeout=self.options.patience)
        await self.query(
            "disco", jid, request,
            lambda iq: {
                "identities": [list(i) for i in sorted(iq["disco_info"]["identities"], key=str)],
                "features": sorted(iq["disco_info"]["features"]),
            },
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", help="default: by DNS, as the JID's domain says")
    parser.add_argument("--port", type=int, default=5222)
    parser.add_argument("--ca", help="file with the authority to trust")
    parser.add_argument("--direct-tls", action="store_true")
    parser.add_argument("--patience", type=float, default=20, metavar="SECONDS", help="how long to wait for any answer")
    parser.add_argument("--plain", action="store_true", help="print the conversation instead of JSON")
    parser.add_argument("--debug", action="store_true", help="log the stream to standard error")
    parser.add_argument("jid")
    parser.add_argument("password")
    options = parser.parse_args()
    logging.basicConfig(level=logging.DEBUG if options.debug else logging.CRITICAL)
    peer = Peer(options)
    peer.connect((options.host, options.port) if options.host else None, use_ssl=options.direct_tls)
    peer.loop.run_until_complete(peer.finished)
    return 0 if peer.is_online and peer.failures == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
