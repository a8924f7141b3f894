#pragma once

#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>

namespace bench::workspace {

/// The limits of a database that anybody may have written.
/// Source: https://www.sqlite.org/security.html, 1.1.
void set_limits(SQLite::Database& sqlite);

/// That the database is a workspace of this version of bench, and its schema bench's own, text for
/// text: generated columns, views, triggers or checks of others would be computed by whoever reads
/// a row.
/// @throws Error
void check_schema(SQLite::Database& sqlite, const std::filesystem::path& file);

}  // namespace bench::workspace
