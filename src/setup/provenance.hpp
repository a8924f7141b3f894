#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace bench::setup {

/// Where and with what a run was made: input hash and git revision, host, operating system, CPU,
/// memory, GPUs and driver, loaded modules, and the variables of the environment that change what
/// is measured (no others: the environment may hold secrets). What is not there is left out.
std::map<std::string, std::string> collect_provenance(const std::filesystem::path& input_file);

}  // namespace bench::setup
