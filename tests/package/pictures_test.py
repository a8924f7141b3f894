"""The pictures of README and docs/: they exist, show something, and are small (scripts/pictures)."""

import pathlib
import re
import struct
import unittest
import xml.etree.ElementTree
import zlib

ROOT = pathlib.Path(__file__).parents[2]
PICTURES = sorted(path for path in (ROOT / "docs/pictures").iterdir() if path.suffix != ".yaml")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
REFERENCE = re.compile(r'!\[[^\]]*\]\(([^)]+)\)|(?:src|srcset)="([^"]+)"')


def shown():
    """Each picture that a page shows, with the page."""
    return [(page.relative_to(ROOT), (page.parent / (match[1] or match[2])).resolve())
            for page in PAGES for match in REFERENCE.finditer(page.read_text())]


def rows(path):
    """The rows of an RGB or RGBA image of 8 bits, and the bytes of a pixel (PNG, 9.2)."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, _, depth, colours = struct.unpack(">IIBB", data[at + 8:at + 18])
            assert depth == 8 and colours in (2, 6), path
            size = 3 if colours == 2 else 4
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    raw, line = zlib.decompress(packed), 1 + width * size
    above = bytes(width * size)
    for start in range(0, len(raw), line):
        kind, row = raw[start], bytearray(raw[start + 1:start + line])
        for k, byte in enumerate(row):
            a = row[k - size] if k >= size else 0
            b, c = above[k], above[k - size] if k >= size else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[k] = (byte + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        above = bytes(row)
        yield above, size


def has_colours(path, wanted):
    found = set()
    for row, size in rows(path):
        found |= {row[k:k + size] for k in range(0, len(row), size)}
        if len(found) >= wanted:
            return True
    return False


class PicturesTest(unittest.TestCase):
    def test_exist_where_they_are_shown(self):
        for page, picture in shown():
            self.assertIn(picture, PICTURES, page)

    def test_are_all_shown(self):
        self.assertGreaterEqual(len(PICTURES), 6)
        self.assertEqual(set(PICTURES) - {picture for _, picture in shown()}, set())

    def test_are_below_200_kb(self):
        for path in PICTURES:
            self.assertLess(path.stat().st_size, 200_000, path.name)

    def test_show_something(self):
        for path in PICTURES:
            with self.subTest(path.name):
                if path.suffix == ".png":
                    self.assertTrue(has_colours(path, 50))
                else:
                    root = xml.etree.ElementTree.parse(path).getroot()
                    texts = ["".join(one.itertext()) for one in root.iter(f"{root.tag[:-3]}text")]
                    self.assertGreater(len(texts), 20)
                    self.assertTrue(any("bench run" in text for text in texts))
                    self.assertGreater(len(set(re.findall("#[0-9a-f]{6}", path.read_text()))), 3)


unittest.main()
