"""scripts/docs makes pages that hang together, and that can be searched as files."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]

# Types a word until the search, which starts in the background, has found it.
SEARCH = """(async () => {
  await new Promise((done) => setTimeout(done, WAIT));
  const input = document.querySelector(".md-search__input");
  document.querySelector("#__search").click();
  input.focus();
  input.value = "confidence";
  input.dispatchEvent(new Event("keyup", {bubbles: true}));
  for (let left = 100; left > 0; --left) {
    await new Promise((done) => setTimeout(done, 100));
    if (document.querySelector(".md-search-result__item")) break;
  }
  return document.querySelectorAll(".md-search-result__item").length;
})()"""


class DocsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.site = pathlib.Path(cls.directory.name, "html")
        made = subprocess.run([ROOT / "scripts/docs", cls.site], capture_output=True, text=True,
                              check=False)
        if made.returncode == 77:
            print(made.stderr)
            sys.exit(77)
        if made.returncode:
            sys.exit(made.stdout + made.stderr)

    def test_every_page_of_the_book_is_in_the_navigation(self):
        start = (self.site / "index.html").read_text()
        for part in ("Tutorial", "How-to", "Reference", "Background"):
            self.assertRegex(start, rf">\s*{part}\s*<")
        for page in (ROOT / "docs").rglob("*.md"):
            name = page.relative_to(ROOT).with_suffix(".html")
            if page.name != "README.md":
                self.assertIn(f'href="{name}"', start)

    def test_pages_show_pictures_and_files(self):
        self.assertTrue((self.site / "docs/pictures/report-light.png").exists())
        self.assertIn("OMP_WAIT_POLICY", (self.site / "examples/quickstart.yaml.html").read_text())
        self.assertIn('id="parameterset"', (self.site / "docs/reference/language.html").read_text())

    def test_loads_nothing_from_elsewhere(self):
        for page in ("index.html", "docs/reference/language.html"):
            loaded = re.findall(r'<(?:script|img|link)[^>]*(?:src|href)="(https?:[^"]*)"',
                                (self.site / page).read_text())
            self.assertEqual(loaded, [])

    @unittest.skipUnless(shutil.which("chromium") and shutil.which("node"), "needs chromium and node")
    def test_can_be_searched_without_a_server(self):
        # The theme loses a word that is typed before it has its index: later again.
        for wait_ms in (500, 5_000, 50_000):
            run = subprocess.run(
                ["node", ROOT / "tests/pages/browser.mjs", shutil.which("chromium"),
                 self.site / "docs/how-to/make_a_report.html",
                 SEARCH.replace("WAIT", str(wait_ms))], capture_output=True, text=True, check=True)
            answer = json.loads(run.stdout)
            self.assertEqual(answer["errors"], [])
            if answer["values"][0]:
                return
        self.fail("nothing found")


unittest.main()
