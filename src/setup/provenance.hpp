#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace bench::setup {

/// Provenance of a run: input hash and git revision, host, operating system, CPU,
/// memory, GPUs and driver, loaded modules, and the variables of the environment that change what
/// is measured (no others: the environment may hold secrets). Absent ones are left out.
std::map<std::string, std::string> collect_provenance(const std::filesystem::path& input_file);

/// `gpus` (`4 x NVIDIA A100-SXM4-40GB`) and `gpu_driver`, empty where there are none, by the files
/// of the NVIDIA and AMD drivers.
/// @param root where `proc` and `sys` are
std::map<std::string, std::string> gpu_facts(const std::filesystem::path& root);

}  // namespace bench::setup
