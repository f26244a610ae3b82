# SPDX-License-Identifier: GPL-3.0-or-later
"""What a compilation costs."""
import os
import resource
import subprocess

MOST_SECONDS = 600


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


def better(one, other):
    """The least of each."""
    return [min(pair) for pair in zip(one, other)] if one is not None else list(other)


def cost(command, output, directory=None):
    """Processor seconds, peak kilobytes and bytes of the output; None if it fails. The time is that in user
    mode and in the system: of a few hundredths of a second, Linux only guesses which is which."""
    if os.path.exists(output):
        os.unlink(output)
    process = subprocess.Popen(command, cwd=directory, preexec_fn=limit,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0 or not os.path.exists(output):
        return None
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss, os.path.getsize(output)
