#pragma once

#include <string>

#include <bench/result/table.hpp>

namespace bench::result {

/// The json style.
std::string render_json(const Table& table);

}  // namespace bench::result
