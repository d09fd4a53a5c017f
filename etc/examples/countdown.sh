#!/bin/sh
# A long-running handler for xmppbotd, in shell: a countdown in one message, and how busy the machine is.
#
#     [handler countdown]
#     exec = /usr/local/lib/bots/countdown.sh
#     commands = countdown, load
#     allow = everyone
#
# It reads one JSON object a line, and writes one a line. Taking values out of the line by hand, as `field` does, is
# good enough for ids and names, in which nothing is ever escaped; for all else there is jq(1).

field() { # NAME: the value of that member of $line, where it is a string
  rest=${line#*"\"$1\":\""}
  printf %s "${rest%%\"*}"
}

say() { printf '%s\n' "$1"; } # one write for one line, so that two at a time don't mix

countdown() { # ID SECONDS
  say "{\"type\":\"reply\",\"id\":\"$1\",\"text\":\"$2…\",\"done\":false}"
  left=$2
  while [ "$left" -gt 1 ]; do
    sleep 1
    left=$((left - 1))
    say "{\"type\":\"edit\",\"id\":\"$1\",\"text\":\"$left…\"}"
  done
  sleep 1
  say "{\"type\":\"edit\",\"id\":\"$1\",\"text\":\"Go!\",\"done\":true}"
}

say '{"type":"register","command":"countdown","description":"Count down","usage":"countdown SECONDS"}'
say '{"type":"register","command":"load","description":"How busy this machine is"}'

while IFS= read -r line; do
  case $(field type) in
    command)
      id=$(field id)
      text=$(field text)
      case $(field command) in
        load)
          read -r one five fifteen rest </proc/loadavg
          say "{\"type\":\"reply\",\"id\":\"$id\",\"text\":\"$one, $five, $fifteen\"}"
          ;;
        countdown)
          case $text in
            [1-9] | [1-5][0-9]) countdown "$id" "$text" & ;; # beside, so that others need not wait
            *) say "{\"type\":\"reply\",\"id\":\"$id\",\"result\":\"usage\"}" ;;
          esac
          ;;
      esac
      ;;
    ping) say '{"type":"pong"}' ;;
    shutdown) break ;;
  esac
done
wait # for countdowns that still run
