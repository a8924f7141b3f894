// docs/reference/energy.md against the program.
#include "support/environment_variable.hpp"
#include "support/source_directory.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/options.hpp>

namespace bench::energy {
namespace {

std::string page() {
  return read_file(support::source_directory() / "docs/reference/energy.md");
}

/// The words behind `bench-energy` in every indented line that has it.
std::vector<std::vector<std::string>> examples() {
  std::vector<std::vector<std::string>> result;
  for (const std::string& line : split(page(), "\n")) {
    std::vector<std::string> words = split_names(replace_all(line, "'", ""), " ");
    const auto program = std::ranges::find(words, "bench-energy");
    if (line.starts_with("    ") && program != words.end())
      result.emplace_back(program + 1, words.end());
  }
  return result;
}

TEST(Documentation, HasExamplesThatTheProgramTakes) {
  const support::EnvironmentVariable rank("SLURM_PROCID", "0");
  ASSERT_GE(examples().size(), 8U);
  for (const std::vector<std::string>& words : examples()) {
    SCOPED_TRACE(join(words, " "));
    if (words[0] == "combine")
      EXPECT_NO_THROW(parse_combine_options({words.begin() + 1, words.end()}));
    else if (words[0] == "recover")
      EXPECT_NO_THROW(parse_recover_options({words.begin() + 1, words.end()}));
    else
      EXPECT_NO_THROW(parse_options(words));
  }
}

TEST(Documentation, NamesEveryColumn) {
  const std::string text = page();
  for (const EnergyColumn& column : energy_table({}, {}).columns)
    EXPECT_NE(text.find("`" + column.name + "`"), std::string::npos) << column.name;
}

TEST(Documentation, NamesEveryOption) {
  const std::string text = page();
  std::size_t options = 0;
  for (const std::string& line : split(parse_options({"--help"}).help, "\n"))
    if (line.starts_with("  --")) {
      const std::string name = line.substr(2, line.find_first_of(" ,", 2) - 2);
      EXPECT_NE(text.find("| `" + name), std::string::npos) << name;
      ++options;
    }
  EXPECT_GE(options, 11U);
}

TEST(Documentation, NamesEveryMemberOfTheProvenance) {
  const std::string text = page();
  for (const auto& [name, value] : provenance_values({}, {}))
    EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name;
}

}  // namespace
}  // namespace bench::energy
