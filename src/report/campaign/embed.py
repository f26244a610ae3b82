# SPDX-License-Identifier: GPL-3.0-or-later
# Usage: embed.py CSS JS HEADER
# Writes the style and script of the HTML report as C strings, with the hashes by which the page
# allows them.
import base64
import hashlib
import sys


def literal(data):
    lines = []
    for line in data.split("\n"):
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?")
        lines.append('    "%s\\n"' % escaped)
    return "\n".join(lines)


with open(sys.argv[3], "w", encoding="ascii") as header:
    header.write("// Made by embed.py.\n")
    for name, path in (("page_css", sys.argv[1]), ("page_js", sys.argv[2])):
        with open(path, encoding="ascii") as file:
            text = file.read().rstrip("\n")
        digest = hashlib.sha256((text + "\n").encode()).digest()
        header.write("static const char %s[] =\n%s;\n" % (name, literal(text)))
        header.write('static const char %s_sha256[] = "%s";\n'
                     % (name, base64.b64encode(digest).decode()))
