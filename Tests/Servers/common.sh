# Sourced by prosody and ejabberd: what they have in common.
#
# Each server lives in one folder, its own: configuration, data, certificates, log. Ports are chosen
# free at the first start and kept from then on, so that a restarted server is found where it was.

domain=localhost

fail() {
  echo "$(basename "$0"): $1" >&2
  exit 1
}

# usage: free_ports COUNT; prints as many ports that nothing listens on, all different.
free_ports() {
  /usr/bin/python3 - "$1" <<'PYTHON'
import socket, sys
held = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*(s.getsockname()[1] for s in held))
PYTHON
}

# usage: make_certificates FOLDER; an authority (ca.pem) and the server's certificate (server.pem, server.key).
make_certificates() {
  [ ! -s "$1/server.pem" ] || return 0
  mkdir -p "$1"
  {
    make_authority "$1"
    sign_certificate "$1" server "$domain"
  } 2>"$1/openssl.log" || fail "openssl could not make certificates: $(tail -n 3 "$1/openssl.log")"
  cat "$1/server.pem" "$1/server.key" >"$1/server.both"
  chmod 600 "$1"/*.key "$1/server.both"
}

running() { [ -s "$folder/pid" ] && kill -0 "$(cat "$folder/pid")" 2>/dev/null; }

# Returns when something listens on each of the PORTs; fails when the server ends before.
await_listening() {
  for port; do
    tries=0
    until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
      tries=$((tries + 1))
      if ! running || [ "$tries" -gt 600 ]; then
        tail -n 20 "$folder/output.log" "$folder/server.log" >&2 || true
        end_server
        fail "the server did not start; its last lines are above"
      fi
      sleep 0.1
    done
  done
}

# usage: sign_certificate FOLDER NAME SUBJECT; a certificate of the authority in FOLDER for SUBJECT, NAME.pem and NAME.key.
sign_certificate() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$3" -keyout "$1/$2.key" -out "$1/$2.csr"
  cat >"$1/$2.extensions" <<EXTENSIONS
basicConstraints=CA:FALSE
extendedKeyUsage=serverAuth
subjectAltName=DNS:$3,DNS:conference.$3,DNS:upload.$3
EXTENSIONS
  openssl x509 -req -in "$1/$2.csr" -CA "$1/ca.pem" -CAkey "$1/ca.key" -CAcreateserial -days 3650 \
    -extfile "$1/$2.extensions" -out "$1/$2.pem"
}

# usage: make_authority FOLDER; an authority, ca.pem and ca.key.
make_authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=xmppbotd test authority" \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign \
    -keyout "$1/ca.key" -out "$1/ca.pem"
}

# usage: replace_certificate good | expired | other-name | stranger; what the server shows from its next start on.
replace_certificate() {
  made="$folder/certificates/$1"
  if [ ! -s "$made/server.pem" ]; then
    mkdir -p "$made"
    cp "$folder/certificates/ca.pem" "$folder/certificates/ca.key" "$made/"
    {
      case $1 in
        good) cp "$folder/certificates/server.pem" "$folder/certificates/server.key" "$made/" ;;
        # Two years ago it was good for one.
        expired) (
          sign_certificate "$made" server "$domain"
          faketime -f -2y openssl x509 -req -in "$made/server.csr" -CA "$made/ca.pem" -CAkey "$made/ca.key" \
            -CAcreateserial -days 365 -extfile "$made/server.extensions" -out "$made/server.pem"
        ) ;;
        other-name) sign_certificate "$made" server elsewhere.example ;;
        stranger) make_authority "$made"; sign_certificate "$made" server "$domain" ;;
        *) fail "unknown certificate '$1'" ;;
      esac
    } 2>"$made/openssl.log" || fail "openssl could not make it: $(tail -n 3 "$made/openssl.log")"
  fi
  cp "$made/server.pem" "$made/server.key" "$folder/certificates/"
  cat "$made/server.pem" "$made/server.key" >"$folder/certificates/server.both"
}

# Stops the server, by force when it takes longer than ten seconds.
end_server() {
  if running; then
    pid=$(cat "$folder/pid")
    kill -CONT "$pid"
    kill -TERM "$pid"
    for _ in $(seq 100); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
  fi
  rm -f "$folder/pid"
}

signal_server() {
  running || fail "no server is running in $folder"
  kill -"$1" "$(cat "$folder/pid")"
}

# What a client needs to know: shell assignments, in FOLDER/environment.
write_environment() {
  cat >"$folder/environment" <<ENVIRONMENT
XMPP_HOST=127.0.0.1
XMPP_PORT=$c2s_port
XMPP_TLS_PORT=$tls_port
XMPP_DOMAIN=$domain
XMPP_MUC=conference.$domain
XMPP_UPLOAD=upload.$domain
XMPP_CA=$folder/certificates/ca.pem
XMPP_LOG=$folder/server.log
ENVIRONMENT
}

# usage: serve VERB FOLDER [ARGUMENT...]; the server's own script defines configure, launch, add_account, remove_account.
serve() {
  [ $# -ge 2 ] || { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
  verb=$1
  mkdir -p "$2"
  folder=$(cd "$2" && pwd)
  shift 2
  # shellcheck source=/dev/null
  if [ -e "$folder/ports" ]; then . "$folder/ports"; fi
  case $verb in
    start)
      if ! running; then
        make_certificates "$folder/certificates"
        configure
        write_environment
        launch
      fi
      cat "$folder/environment"
      ;;
    stop) end_server ;;
    restart) end_server; launch ;;
    kill) signal_server KILL; rm -f "$folder/pid" ;;
    freeze) signal_server STOP ;;
    thaw) signal_server CONT ;;
    account) add_account "$1" "$2" ;;
    remove) remove_account "$1" ;;
    password) set_password "$1" "$2" ;;
    end) end_stream "$@" ;;
    certificate) replace_certificate good; replace_certificate "$1" ;;
    forget) forget_state ;;
    *) fail "unknown verb '$verb'; $(basename "$0") without arguments lists them" ;;
  esac
}
