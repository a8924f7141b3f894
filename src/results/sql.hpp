#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <SQLiteCpp/SQLiteCpp.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>

namespace bench::results {

/// A name in quotes, as an SQL statement takes it.
inline std::string identifier(const std::string& name) {
  return "\"" + replace_all(name, "\"", "\"\"") + "\"";
}

/// @param index counted from 1
inline void bind_value(SQLite::Statement& statement, int index, const std::optional<Value>& value) {
  if (!value)
    statement.bind(index);
  else if (const auto* integer = std::get_if<long long>(&*value))
    statement.bind(index, static_cast<std::int64_t>(*integer));
  else if (const auto* real = std::get_if<double>(&*value))
    statement.bind(index, *real);
  else
    statement.bind(index, std::get<std::string>(*value));
}

}  // namespace bench::results
