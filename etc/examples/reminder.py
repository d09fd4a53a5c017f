#!/usr/bin/python3
"""A long-running handler for xmppbotd, in Python: reminders, a coin, and a word for whoever says hello.

    [handler reminder]
    exec = /usr/local/lib/bots/reminder.py
    commands = remind
    events = message
    allow = everyone
    send = everyone

It reads one JSON object a line, and writes one a line. What it prints otherwise must go to standard error, which is the
log's: `print(…, file=sys.stderr)`.
"""
import json
import random
import sys
import threading

output = threading.Lock()


def say(**line):
    with output:
        print(json.dumps(line), flush=True)


def remind(command):
    """remind SECONDS TEXT: answers at once, and sends the text later."""
    seconds, _, text = command["text"].partition(" ")
    if not (seconds.isascii() and seconds.isdigit() and text):
        return say(type="reply", id=command["id"], result="usage")
    say(type="react", id=command["id"], emoji="⏰")
    later = threading.Timer(int(seconds), say, kwargs={"type": "send", "to": command["from"], "text": f"Remember: {text}"})
    later.daemon = True
    later.start()
    say(type="reply", id=command["id"], text=f"I will remind you in {seconds} s.")


def toss(command):
    """toss [SIDE]: asks for the side where none is given. The answer comes as the same command."""
    if not command["args"]:
        return say(type="reply", id=command["id"], text="Which side?", choices=["Heads", "Tails"])
    side = random.choice(["heads", "tails"])
    verdict = "You win." if command["args"][0].lower() == side else "You lose."
    say(type="reply", id=command["id"], text=f"It is {side}. {verdict}")


def heard(message):
    """What is no command of the bot's comes here."""
    name = message["nick"] or message["from"].partition("@")[0]
    if message["text"].lower().startswith("hello"):
        say(type="reply", id=message["id"], text=f"Hello {name}!")
    else:
        say(type="reply", id=message["id"], text="I only know remind and toss.")


commands = {"remind": remind, "toss": toss}

for text in sys.stdin:
    line = json.loads(text)
    kind = line["type"]
    if kind == "hello":
        say(type="register", command="remind", description="Remind me of something", usage="remind SECONDS TEXT")
        say(type="register", command="toss", description="Toss a coin", usage="toss [SIDE]")
    elif kind == "command":
        commands[line["command"]](line)
    elif kind == "message":
        heard(line)
    elif kind == "ping":
        say(type="pong")
    elif kind == "error":
        print(line["text"], file=sys.stderr)
    elif kind == "shutdown":
        break
