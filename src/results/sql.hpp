#pragma once

#include <optional>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include <bench/base/value.hpp>

namespace bench::results {

/// A name in quotes, as an SQL statement takes it.
std::string identifier(const std::string& name);

/// @param index counted from 1
void bind_value(SQLite::Statement& statement, int index, const std::optional<Value>& value);

}  // namespace bench::results
