#pragma once

#include <exception>

#include <SQLiteCpp/SQLiteCpp.h>

#include <bench/base/error.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::workspace {

struct Workspace::Database {
  SQLite::Database sqlite;
  bool writes;
};

/// Runs `action` and turns SQLite's exceptions into bench's, which say what to do.
template <class Action>
auto translated(const SQLite::Database& sqlite, Action action) {
  try {
    return action();
  } catch (const SQLite::Exception& failure) {
    throw Error("the workspace " + sqlite.getFilename() + " failed: " + failure.what(),
                "is the disk full, or the quota used up? nothing that was recorded is lost");
  }
}

}  // namespace bench::workspace
