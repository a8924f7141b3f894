// Compiles nothing: its target makes the precompiled header of the tests.
