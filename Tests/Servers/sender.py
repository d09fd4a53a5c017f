#!/usr/bin/python3
"""An operator who sends numbered messages with xmppbotctl, one after the other.

    sender.py XMPPBOTCTL CONFIGURATION JID

Commands come on standard input, one a line:

    run FIRST LAST RATE     send "say N" for each number, at most RATE a second

What came of each is one line on standard output: accepted N (exit 0), refused N EXIT REASON; then ran. The end of the
input ends it.
"""
import subprocess
import sys
import time

program, configuration, recipient = sys.argv[1:]
for line in sys.stdin:
    _, first, last, rate = line.split()
    begun = time.monotonic()
    for count, number in enumerate(range(int(first), int(last) + 1)):
        time.sleep(max(0, begun + count / float(rate) - time.monotonic()))
        call = subprocess.run(
            [program, "--config", configuration, "send", recipient, f"say {number}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        reason = call.stdout.decode(errors="replace").replace("\n", " ")
        print(f"accepted {number}" if call.returncode == 0 else f"refused {number} {call.returncode} {reason}", flush=True)
    print("ran", flush=True)
