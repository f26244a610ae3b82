#!/usr/bin/python3
# Python makes the calls: open, read, sockets, threads.
import os
import socket
import threading

try:
    with open("/etc/passwd") as f:
        print("read", len(f.read()) > 0)
except OSError as error:
    print("file:", error.errno)
try:
    socket.socket().close()
    print("socket ok")
except OSError as error:
    print("socket:", error.errno)
try:
    thread = threading.Thread(target=lambda: print("in thread"))
    thread.start()
    thread.join()
except RuntimeError as error:
    print("thread:", error)
