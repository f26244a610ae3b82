# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs of programs.toml: what they need, and a test of one of them."""

import json
import os
import shutil
import subprocess
import time

from measure import version_of

ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "TERM": "dumb",
               "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}


def commit(ordeal):
    """Of the source that this program is built from."""
    version = subprocess.run([ordeal, "--version"], text=True, stdout=subprocess.PIPE, check=True).stdout
    return version.partition("(")[2].partition(")")[0] or version.strip()


def libc_functions():
    """What the C library exports: failures of these are in a table, those of others are guessed."""
    listing = subprocess.run(["nm", "-D", "--defined-only", "/lib/x86_64-linux-gnu/libc.so.6"],
                             stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listing.splitlines()}


class Program:
    def __init__(self, name, all_programs, cache):
        entry = all_programs[name]
        files = entry.get("files", {})
        self.name = name
        self.files = all_programs[files]["files"] if isinstance(files, str) else files
        self.entry = entry
        self.place = os.path.join(cache, name)
        self.store = os.path.join(cache, name + ".db")
        self.facts = os.path.join(cache, name + ".json")
        self.environment = dict(ENVIRONMENT, HOME=self.place)
        self.command = ["sh", "-c", entry["command"].strip()]

    def prepare(self):
        shutil.rmtree(self.place, ignore_errors=True)
        os.makedirs(self.place)
        for path, content in self.files.items():
            whole = os.path.join(self.place, path)
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            with open(whole, "w", encoding="utf-8") as file:
                file.write(content.lstrip("\n"))
        if "prepare" in self.entry:
            subprocess.run(["sh", "-e", "-c", self.entry["prepare"]], cwd=self.place, check=True,
                           env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)

    def count_calls(self, ordeal):
        """Library calls of one run, in all processes; on a copy of the directory."""
        if "setup" in self.entry or "ready" in self.entry:
            return None
        copy = self.place + ".calls"
        shutil.copytree(self.place, copy, symlinks=True)
        report = os.path.join(self.place + ".calls.json")
        with open(report, "w", encoding="utf-8") as file:
            subprocess.run([ordeal, "run", "--json", "--inject", "*=-1 when random(0%)", "--"]
                           + self.command, cwd=copy, env=self.environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=file, timeout=120)
        text = open(report, encoding="utf-8", errors="replace").read()
        shutil.rmtree(copy)
        os.remove(report)
        start = text.rfind('{\n "ordeal"')
        return json.loads(text[start:])["rules"][0]["reached"] if start >= 0 else None

    def arguments(self, store):
        """Of `ordeal`, for a test that goes into a store which is made anew."""
        if os.path.exists(store):
            os.remove(store)
        arguments = ["test", "-q", "--seed", "1", "--db", store,
                     "--time-budget", f"{self.entry.get('seconds', 60)}s"]
        for helper in ["dash"] + self.entry.get("helpers", []):
            arguments += ["--exclude", helper]
        if "setup" in self.entry:
            arguments += ["--setup", self.entry["setup"]]
        if "ready" in self.entry:
            arguments += ["--ready", self.entry["ready"], "--load", self.entry["load"]]
        return arguments + self.entry.get("options", [])

    def test(self, ordeal):
        self.prepare()
        calls = self.count_calls(ordeal)
        arguments = self.arguments(self.store)
        began = time.time()
        done = subprocess.run([ordeal] + arguments + ["--"] + self.command, cwd=self.place, text=True,
                              env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=1200)
        with open(self.facts, "w", encoding="utf-8") as file:
            json.dump({"calls": calls, "seconds": time.time() - began, "status": done.returncode,
                       "version": version_of(self.entry["package"]), "build": commit(ordeal),
                       "load": os.getloadavg()[0]}, file)
        with open(self.facts[:-5] + ".txt", "w", encoding="utf-8") as file:
            file.write(done.stdout + done.stderr)
        print(f"{self.name}: status {done.returncode}, {time.time() - began:.0f} s", flush=True)
        if done.returncode == 2:
            print(done.stderr[-1500:], flush=True)
