#!/usr/bin/python3
"""An HTTPS server on loopback that takes files, well or badly, for the tests of xmppbotd-upload.

    upload.py FOLDER

Makes an authority (FOLDER/ca.pem) and a certificate for `localhost`, and prints the port. What it does is the path of a
PUT: /ok takes the file to FOLDER/received and its headers to FOLDER/headers; /redirect, /huge-header, /huge-body, /hang and
/NNN (a status) do what they say. It ends with its standard input.
"""
import http.server
import pathlib
import ssl
import subprocess
import sys
import threading

folder = pathlib.Path(sys.argv[1])


def make_certificate():
    extensions = folder / "extensions"
    extensions.write_text("subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for command in (
        ["req", "-x509", *key, "-days", "2", "-subj", "/CN=upload test authority", "-addext",
         "basicConstraints=critical,CA:TRUE", "-keyout", "ca.key", "-out", "ca.pem"],
        ["req", *key, "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr"],
        ["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
         "-extfile", "extensions", "-out", "server.pem"],
    ):
        subprocess.run(["openssl", *command], cwd=folder, check=True, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_PUT(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        what = self.path.strip("/")
        if what == "hang":
            threading.Event().wait(60)
        elif what == "redirect":
            self.answer(307, {"Location": f"https://localhost:{self.server.server_port}/ok"})
        elif what == "huge-header":
            self.answer(201, {f"X-{number}": "x" * 8000 for number in range(40)})
        elif what == "huge-body":
            self.answer(201, {}, b"x" * 1_000_000)
        elif what.isdigit():
            self.answer(int(what), {})
        else:
            (folder / "headers").write_text(f"{self.command} {self.path}\n{self.headers}")
            (folder / "received").write_bytes(body)
            self.answer(201, {})

    def answer(self, status, headers, body=b""):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


make_certificate()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(folder / "server.pem", folder / "server.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
