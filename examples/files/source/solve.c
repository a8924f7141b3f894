int solve() { return 1; }
