#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Usage: session.py RECORDS DATABASE INPUT

Starts the server, runs its clients at once (each line of INPUT is a client: requests between ';'), prints
their answers in the order of INPUT, stops the server, and ends as it has ended."""
import os
import signal
import socket
import subprocess
import sys
import threading
import time

server = subprocess.Popen([sys.argv[1], sys.argv[2], "socket"])
answers = {}


def connect():
    while True:
        try:
            client = socket.socket(socket.AF_UNIX)
            client.connect("socket")
            return client
        except OSError:
            client.close()
            if server.poll() is not None:
                return None
            time.sleep(0.001)


def run(number, requests):
    answers[number] = ["no server"]
    client = connect()
    if client is None:
        return
    answers[number] = []
    try:
        with client, client.makefile("rw") as stream:
            for request in requests:
                stream.write(request + "\n")
                stream.flush()
                line = stream.readline()
                while line and not line.startswith(("ok", "error")):
                    answers[number].append(line)
                    line = stream.readline()
                answers[number].append(line or "no answer\n")
                if not line:
                    return
    except OSError as error:
        answers[number].append(f"{error}\n")


with open(sys.argv[3], encoding="ascii") as lines:
    clients = [threading.Thread(target=run, args=(i, [part.strip() for part in line.split(";")]))
               for i, line in enumerate(lines)]
for client in clients:
    client.start()
for client in clients:
    client.join()
run(len(clients), ["stop"])
status = server.wait()
for number in sorted(answers):
    sys.stdout.write(f"client {number}: " + "".join(answers[number]))
sys.stdout.flush()
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
