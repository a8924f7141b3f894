#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bench::model {

/// The variables that a shell text loops over or reads into (`for i in`, `select i in`,
/// `read a b`), in order.
std::vector<std::string> loop_variables(std::string_view text);

/// The words of a shell text that stand without a `$`: whatever it assigns is among them.
std::set<std::string> bare_words(std::string_view text);

/// True if a command executes a file or a text in the shell itself (`.`, `source`, `eval`,
/// `module`), which may define any variable.
bool defines_unseen(std::string_view text);

/// The words behind a `$` that hold a character that is not ASCII, where the shell ends the name.
std::vector<std::string> broken_names(std::string_view text);

}  // namespace bench::model
