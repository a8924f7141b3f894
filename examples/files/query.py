"""Prints the table `measurements` of an SQLite file."""
import sqlite3
import sys

for row in sqlite3.connect(sys.argv[1]).execute("SELECT n, seconds FROM measurements ORDER BY n"):
    print(*row)
