#include "input_state.hpp"

#include <filesystem>

#include <unistd.h>

#include <bench/base/hash.hpp>

namespace bench::engine {

InputState input_state(const Run& run) {
  const std::filesystem::path file = run.fact("input_file");
  const auto known = run.facts.find("input_sha256");
  std::error_code absent;
  if (known == run.facts.end() || !std::filesystem::is_regular_file(file, absent) ||
      ::access(file.c_str(), R_OK) != 0)
    return InputState::unknown;
  return sha256_of_file(file) == known->second ? InputState::unchanged : InputState::changed;
}

}  // namespace bench::engine
