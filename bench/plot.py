# SPDX-License-Identifier: GPL-3.0-or-later
"""Curves that go up in steps, as SVG: how many things had happened by then."""

import math

COLOURS = ["#0b6e4f", "#c1440e", "#5b5f97", "#a0a0a0"]
WIDTH, HEIGHT, LEFT, TOP, GAP = 380, 260, 56, 36, 70


def position(value, low, high):
    """On a logarithmic scale."""
    value = min(max(value, low), high)
    return WIDTH * math.log(value / low) / math.log(high / low)


def panel(offset, unit, curves, most):
    low = 1 if unit == "trials" else 0.1
    high = max([10 * low] + [value for values in curves.values() for value in values])
    parts = [f'<g transform="translate({offset},{TOP})">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>']
    mark = low
    while mark <= high:
        x = position(mark, low, high)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y2="{HEIGHT}" stroke="#ddd"/>'
                     f'<text x="{x:.1f}" y="{HEIGHT + 16}" text-anchor="middle">{mark:g}</text>')
        mark *= 10
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = HEIGHT * (1 - share)
        parts.append(f'<line y1="{y:.1f}" x2="{WIDTH}" y2="{y:.1f}" stroke="#ddd"/>'
                     f'<text x="-6" y="{y + 4:.1f}" text-anchor="end">{100 * share:.0f} %</text>')
    for (name, values), colour in zip(curves.items(), COLOURS):
        path, y = f"M0 {HEIGHT}", HEIGHT
        for number, value in enumerate(sorted(values), 1):
            x, y = position(value, low, high), HEIGHT * (1 - number / most)
            path += f"H{x:.1f}V{y:.1f}"
        parts.append(f'<path d="{path}H{WIDTH}" fill="none" stroke="{colour}" stroke-width="2"/>')
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT + 34}" text-anchor="middle">{unit}</text></g>')
    return "".join(parts)


def steps(panels, most, title):
    """One panel per unit; curves are lists of when each thing happened, of `most` that could."""
    width = LEFT + len(panels) * (WIDTH + GAP)
    height = TOP + HEIGHT + 70
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>',
             f'<text x="{LEFT}" y="20" font-size="14">{title}, of {most}</text>']
    for number, (unit, curves) in enumerate(panels):
        parts.append(panel(LEFT + number * (WIDTH + GAP), unit, curves, most))
    for number, name in enumerate(panels[0][1]):
        x = LEFT + number * 130
        parts.append(f'<rect x="{x}" y="{height - 20}" width="14" height="4" fill="{COLOURS[number]}"/>'
                     f'<text x="{x + 20}" y="{height - 14}">{name}</text>')
    return "\n".join(parts) + "\n</svg>\n"
