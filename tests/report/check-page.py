# SPDX-License-Identifier: GPL-3.0-or-later
# Usage: check-page.py PLAIN NASTY LARGE COMPARISON
# The HTML reports in a headless Chromium: content with and without scripts, filters, order, widths,
# colours, keyboard; and that nothing of a hostile text comes to life.
import base64
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402

plain, nasty, large, comparison = ("file://" + os.path.abspath(name) for name in sys.argv[1:5])
VISIBLE = "[...document.querySelectorAll('%s')].filter(e => e.offsetParent !== null)"


def same(got, expected, what):
    assert got == expected, f"{what}: {got!r}, expected {expected!r}"


def titles(browser):
    return browser.ask(VISIBLE % ".finding" + ".map(e => e.dataset.verdict)")


def check_widths(browser):
    for address in (plain, nasty, large, comparison):
        for width in (360, 1280):
            browser.shape(width)
            browser.open(address)
            same(browser.ask("document.documentElement.scrollWidth"), width, f"width of {address}")


def check_without_scripts(browser):
    browser.shape(1280)
    browser.scripts(False)
    browser.open(plain)
    text = browser.ask("document.body.innerText").replace("\u00a0", " ")
    for words in ("made up", "cp in out", "18446744073709551615", "7.2–16.4 %", "not counted",
                  "SIGSEGV in copy_block at src/copy.c:42 after read=-1/EIO",
                  "ordeal run --inject 'read=-1/EIO when count == 1' -- cp in out",
                  "What limits these claims", "By type", "** p < 0.01"):
        assert words in text, f"{words!r} is not on the page"
    same(len(titles(browser)), 4, "findings")
    same(browser.ask("document.querySelector('.finding .here').textContent"),
         "42line 42 </pre><script>bad()</script>\n", "source")
    same(browser.ask("document.querySelectorAll('.finding .line').length"), 9, "lines of source")
    same(browser.ask("document.querySelectorAll('.copy').length"), 0, "buttons without scripts")
    same(browser.ask(VISIBLE % ".tools" + ".length"), 0, "tools without scripts")
    same(browser.ask("getComputedStyle(document.body).maxWidth"), "1120px", "style")
    browser.scripts(True)


def check_filters(browser):
    browser.open(plain)
    same(titles(browser), ["crash", "hang", "silent", "wrong-output"], "findings")
    browser.open(plain + "#findings?verdict=hang")
    same(titles(browser), ["hang"], "findings by verdict")
    same(browser.ask("document.getElementById('finding-count').textContent"), "1 of 4", "count")
    browser.open(plain + "#findings?text=COPY_BLOCK")
    same(titles(browser)[0], "crash", "findings by text")
    browser.open(plain + "#findings?order=trials")
    same(titles(browser), ["crash", "silent", "wrong-output", "hang"], "findings by trials")
    browser.open(plain + "#trials?verdict=invalid")
    same(browser.ask(VISIBLE % "#trial-list > tr" + ".length"), 1, "trials by verdict")
    browser.open(plain + "#findings?verdict=%zz&order=nonsense&text=%3Cb%3E")
    same(titles(browser), [], "a text that occurs nowhere")
    # Typed, too, and kept in the address.
    browser.open(plain)
    browser.ask("(t => { t.value = 'wait_for'; t.dispatchEvent(new Event('input')) })"
                "(document.getElementById('finding-text'))")
    same(titles(browser), ["hang"], "typed")
    same(browser.ask("location.hash"), "#findings?text=wait_for", "address")


def check_tables(browser):
    browser.open(plain)
    column = ("[...document.querySelectorAll('table.groups')[0].tBodies[0].rows]"
              ".map(r => r.cells[3].textContent)")
    same(browser.ask(column), ["61", "61", "60"], "groups")
    head = "document.querySelectorAll('table.groups')[0].tHead.rows[0].cells[3]"
    browser.ask(head + ".querySelector('button').focus()")
    browser.press("Enter", 13)
    same(browser.ask(head + ".getAttribute('aria-sort')"), "descending", "sorted by the keyboard")
    browser.press("Enter", 13)
    same(browser.ask(head + ".getAttribute('aria-sort')"), "ascending", "sorted again")
    same(browser.ask(column), ["60", "61", "61"], "groups, fewest first")


def check_copy(browser):
    browser.open(plain)
    said = browser.ask("new Promise(done => { const button = document.querySelector('.copy');"
                       " new MutationObserver(() => done(button.textContent)).observe(button,"
                       " {childList: true, characterData: true, subtree: true});"
                       " button.click(); })")
    same(said in ("Copied", "Selected"), True, "copy button")


def check_links(browser):
    browser.open(plain)
    link = "document.querySelectorAll('.finding .id')[1]"
    address = browser.ask(link + ".href")
    browser.open(address)
    same(browser.ask("document.querySelector('.finding:target').dataset.verdict"), "hang",
         "finding of a link")


def check_phone(browser):
    browser.shape(390)
    browser.open(plain)
    narrow = browser.ask("[...document.querySelectorAll('#trial-list > tr:not([hidden]) > .wide')]"
                         ".filter(e => e.offsetWidth < 250).length")
    same(narrow, 0, "narrow cells of trials on a phone")
    browser.shape(1280)


def words_by_page(path):
    text = subprocess.run(["pdftotext", path, "-"], check=True, capture_output=True).stdout.decode()
    return [len(page.split()) for page in text.split("\f")[:-1]]


def check_paper(browser):
    for address in (plain, nasty, large, comparison):
        browser.open(address)
        answer = browser.call("Page.printToPDF")
        with open("page.pdf", "wb") as file:
            file.write(base64.b64decode(answer["data"]))
        words = words_by_page("page.pdf")
        # The last page may have little on it.
        assert words[-1] > 0 and all(number >= 40 for number in words[:-1]), \
            f"words by page of {address} on paper: {words}"


def check_colours(browser):
    shades = []
    for dark in (False, True):
        browser.shape(1280, dark=dark)
        browser.open(plain)
        for place, what in (("document.body", "backgroundColor"),
                            ("document.querySelector('.v-crash')", "color")):
            colour = browser.ask(f"getComputedStyle({place}).{what}")
            shades.append(sum(map(int, re.findall(r"\d+", colour)[:3])))
    assert shades[0] > 600 > 150 > shades[2], shades
    assert shades[3] > shades[1], shades


def check_keyboard(browser):
    browser.open(plain)
    browser.press("Tab", 9)
    same(browser.ask("document.activeElement.className"), "skip", "first stop")
    inside = browser.ask("[...document.querySelectorAll('.scroll, pre')]"
                         ".every(e => e.tabIndex === 0)")
    same(inside, True, "what scrolls can be reached")


def check_nasty(browser):
    browser.open(nasty)
    same(browser.ask("document.scripts.length"), 1, "scripts")
    same(browser.ask("document.querySelectorAll('main script, main b > i, iframe, img').length"), 0,
         "elements out of hostile text")
    text = browser.ask("document.body.textContent")
    assert "<script>alert(1)</script>" in text and "\\x1b[31m" in text
    assert not re.search("[\0-\x08\x0b\x0c\x0e-\x1f\x7f\u202e]", text)


def check_large(browser):
    assert os.path.getsize(sys.argv[3]) < 3_000_000
    browser.open(large)
    same(browser.ask("document.querySelectorAll('#trial-list > tr').length"), 400, "trials listed")


with Browser() as browser:
    for check in (check_widths, check_without_scripts, check_filters, check_tables, check_copy,
                  check_links, check_phone, check_paper, check_colours, check_keyboard, check_nasty, check_large):
        check(browser)
    same(browser.complaints, [], "what the browser complained about")
    same({address.split("#")[0] for address in browser.loaded},
         {plain, nasty, large, comparison}, "what was loaded")
