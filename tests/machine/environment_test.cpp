#include "support/patience.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <bench/base/process.hpp>
#include <bench/machine/environment.hpp>

namespace bench::machine {
namespace {

/// Executes the changes and then the command in one shell. Returns what it prints.
std::string after(const EnvironmentChanges& changes, const std::string& command) {
  const auto output = run_command(
      {.arguments = {"/bin/sh", "-c", shell_commands(changes) + command},
       .environment = Environment{{"PATH", "/usr/bin:/bin"}, {"KEPT", "k"}, {"GONE", "g"}}},
      support::far_too_long_s);
  EXPECT_TRUE(output.status.success()) << output.standard_error;
  return output.standard_output;
}

TEST(EnvironmentTest, AShellMakesTheChanges) {
  EXPECT_EQ(
      after({{"NEW", "two words"}, {"GONE", std::nullopt}}, "echo \"$NEW, $KEPT, ${GONE-unset}\""),
      "two words, k, unset\n");
}

/// Bash hands on functions in variables of such names, `module` on most clusters; dash ends where
/// it is asked to change one.
TEST(EnvironmentTest, AShellDoesNotEndAtVariablesThatItCannotSet) {
  for (const std::string name : {"BASH_FUNC_module%%", "--option", "1st", "a.b", ""})
    EXPECT_EQ(after({{name, std::nullopt}, {name, "() { :; }"}, {"NEW", "n"}}, "echo $NEW"), "n\n")
        << name;
}

}  // namespace
}  // namespace bench::machine
