#include "../support/temp_directory.hpp"
#include "invariant.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/workspace/run_directory.hpp>

namespace bench::fuzz {
namespace {

using Words = std::vector<std::string>;
using Ids = std::vector<int>;

const Ids ids_there = {0, 1, 2, 5, 12, 1000000};

/// An outpath with a few runs, made once, and what people keep beside them.
const std::filesystem::path& outpath() {
  static const support::TempDirectory directory;
  static const bool made = [] {
    for (const int id : ids_there) {
      const auto run = directory.path() / workspace::padded(id);
      std::filesystem::create_directory(run);
      std::ofstream(run / "workspace.db");
    }
    for (const char* other : {"000003", "plots", "7x"})
      std::filesystem::create_directory(directory.path() / other);
    return true;
  }();
  require(made, "the runs are there");
  return directory.path();
}

/// Nothing where the words select no runs.
std::optional<Ids> selected(const Words& words) {
  try {
    Ids ids;
    for (const auto& run : workspace::select_runs(outpath(), words)) {
      require(
          run.path.parent_path() == outpath() && run.path.filename() == workspace::padded(run.id),
          "a run is where its id says");
      ids.push_back(run.id);
    }
    return ids;
  } catch (const Error& error) {
    require(!error.message().empty(), "an error says what is wrong");
    return std::nullopt;
  }
}

void check(Words words) {
  const auto ids = selected(words);
  const bool all_alone_are_fine = std::ranges::all_of(
      words, [](const std::string& word) { return selected({word}).has_value(); });
  require(ids.has_value() == all_alone_are_fine, "words are right or wrong each for itself");
  if (!ids)
    return;
  require(!ids->empty(), "where there is no error there is a run");
  require(std::ranges::adjacent_find(*ids, std::greater_equal<>()) == ids->end(),
          "runs are ascending, each once");
  require(std::ranges::includes(ids_there, *ids), "only runs that exist are selected");
  if (std::ranges::find(words, "all") != words.end())
    require(*ids == ids_there, "all is all");
  std::ranges::reverse(words);
  require(selected(words) == ids, "the order of the words is no matter");
}

}  // namespace
}  // namespace bench::fuzz

/// Every line is a word.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  fuzz::check(size == 0 ? fuzz::Words{} : split(fuzz::text_of(data, size), "\n"));
  return 0;
}
