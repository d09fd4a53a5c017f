#!/usr/bin/python3
"""How long a contact waits for "pong" while another contact's command misbehaves; called by scripts/bench handlers.

    bench_handlers.py PROGRAMS      the folder of xmppbotd and xmppbotctl

Prints a Markdown table: per misbehaviour and place where commands run, the median and the slowest of the answers.
"""
import asyncio
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import slixmpp

SERVERS = pathlib.Path(__file__).resolve().parent.parent / "Tests" / "Servers"
SECONDS = 3
HANDLERS = {
    "none": None,
    "hangs": "exec sleep 1000",
    "ignores TERM": "trap '' TERM\nsleep 1000\nsleep 1000",
    "prints 1 GB of NUL": "exec head -c 1G /dev/zero",
    "prints lines": "exec yes 'a line of text'",
    "prints to standard error": "exec yes >&2",
    "forks 200 times": "i=0\nwhile [ $i -lt 200 ]; do sleep 1000 & i=$((i+1)); done\nwait",
    "computes": "while :; do :; done",
    "calls setsid": "setsid sleep 1000 &\nwait",
    # Only where the number of processes is limited.
    "forks without end": "all() { setsid sleep 1000 & all & all; }\nall 2>/dev/null",
}


class Contact(slixmpp.ClientXMPP):
    def __init__(self, jid, password, environment):
        super().__init__(jid, password)
        self.ca_certs = environment["XMPP_CA"]
        self.online = asyncio.get_event_loop().create_future()
        self.answers = asyncio.Queue()
        self.add_event_handler("session_start", lambda _: self.online.set_result(None))
        self.add_event_handler("message", lambda message: self.answers.put_nowait(message["body"]))
        self.connect((environment["XMPP_HOST"], int(environment["XMPP_PORT"])))


def start_bot(programs, folder, environment, place):
    bot = f"bot-{place}@{environment['XMPP_DOMAIN']}"
    subprocess.run([SERVERS / "prosody", "account", folder / "server", bot.split("@")[0], "secret"], check=True)
    home = folder / place
    (home / "commands.d").mkdir(parents=True)
    (home / "password").write_text("secret\n")
    (home / "password").chmod(0o600)
    for number, script in enumerate(HANDLERS.values()):
        if script:
            file = home / "commands.d" / f"bad{number}"
            file.write_text(f"#!/bin/sh\n# allow: everyone\n# timeout: {SECONDS}s\n{script}\n")
            file.chmod(0o755)
    processes, commands = [], ""
    if place == "service":
        socket = home / "commands.sock"
        service = subprocess.Popen(
            [SERVERS / "commands-service", socket, home / "state", f"{programs}/xmppbotd", "--serve-commands"],
            stdout=subprocess.PIPE)
        service.stdout.readline()
        processes.append(service)
        commands = f"[commands]\nsocket = {socket}\n"
    (home / "xmppbotd.conf").write_text(f"""[account]
jid = {bot}
password-file = {home}/password
host = {environment['XMPP_HOST']}
port = {environment['XMPP_PORT']}
tls = starttls
ca-file = {environment['XMPP_CA']}
[archive]
path = {home}/archive.db
[control]
socket = {home}/control.sock
[limits]
rate = unlimited
[log]
level = error
{commands}""")
    processes.insert(0, subprocess.Popen(
        [f"{programs}/xmppbotd", "--config", home / "xmppbotd.conf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    return bot, processes


async def ask(contact, bot, text):
    start = time.perf_counter()
    contact.send_message(mto=bot, mbody=text, mtype="chat")
    await asyncio.wait_for(contact.answers.get(), 60)
    return (time.perf_counter() - start) * 1000


async def measure(environment, bot, place, passwords):
    good, bad = [Contact(jid, password, environment) for jid, password in passwords]
    await asyncio.gather(good.online, bad.online)
    for contact in (good, bad):
        contact.send_presence()
    for _ in range(600):
        # Until the bot is online the server answers in its place.
        good.send_message(mto=bot, mbody="ping", mtype="chat")
        try:
            if await asyncio.wait_for(good.answers.get(), 0.5) == "pong":
                break
        except asyncio.TimeoutError:
            pass
    await asyncio.sleep(1)
    while not good.answers.empty():
        good.answers.get_nowait()
    for number, (name, script) in enumerate(HANDLERS.items()):
        if name == "forks without end" and place != "service":
            continue
        if script:
            bad.send_message(mto=bot, mbody=f"bad{number}", mtype="chat")
        times, end = [], time.monotonic() + SECONDS
        while time.monotonic() < end:
            times.append(await ask(good, bot, f"ping {len(times)}"))
            await asyncio.sleep(0.02)
        if script:
            await asyncio.wait_for(bad.answers.get(), 60)
        print(f"| {name} | {place} | {len(times)} | {statistics.median(times):.1f} | {max(times):.1f} |", flush=True)
    for contact in (good, bad):
        await contact.disconnect()


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="xmppbotd-bench.") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o711)  # the commands' user has to come through
        try:
            subprocess.run([SERVERS / "prosody", "start", folder / "server"], check=True, stdout=subprocess.DEVNULL)
            lines = (folder / "server" / "environment").read_text().splitlines()
            environment = dict(line.split("=", 1) for line in lines if "=" in line)
            environment = {key: value.strip("'\"") for key, value in environment.items()}
            passwords = []
            for user in ("good", "bad"):
                subprocess.run([SERVERS / "prosody", "account", folder / "server", user, "secret"], check=True)
                passwords.append((f"{user}@{environment['XMPP_DOMAIN']}", "secret"))
            print("| another contact's command | runs as | pings | median, ms | slowest, ms |\n|---|---|---|---|---|")
            for place in ("child", "service"):
                bot, processes = start_bot(programs, folder, environment, place)
                try:
                    asyncio.get_event_loop().run_until_complete(measure(environment, bot, place, passwords))
                finally:
                    for process in processes:
                        process.terminate()
                        process.wait(30)
        finally:
            subprocess.run([SERVERS / "prosody", "stop", folder / "server"], check=False)


main()
