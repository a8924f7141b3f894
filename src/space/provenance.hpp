#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace bench::space {

/// Provenance of a run: input hash, git revision and difference, host, operating system, CPU with
/// topology, clocks and firmware, memory, GPUs and driver, container, loaded modules, and the
/// variables of the environment that change what is measured (no others: the environment may hold
/// secrets). Absent ones are left out.
std::map<std::string, std::string> collect_provenance(const std::filesystem::path& input_file);

}  // namespace bench::space
