# SPDX-License-Identifier: GPL-3.0-or-later
"""What a compilation costs."""
import os
import resource
import subprocess

MOST_SECONDS = 600


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


def cost(command, output, directory=None):
    """Processor seconds in user mode, peak kilobytes and bytes of the output; None if it fails."""
    if os.path.exists(output):
        os.unlink(output)
    process = subprocess.Popen(command, cwd=directory, preexec_fn=limit,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0 or not os.path.exists(output):
        return None
    return usage.ru_utime, usage.ru_maxrss, os.path.getsize(output)
