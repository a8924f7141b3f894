#include "support/environment_variable.hpp"

#include <optional>
#include <ostream>
#include <string>

#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/host.hpp>
#include <bench/energy/program/options.hpp>

namespace bench::energy {
namespace {

using support::EnvironmentVariable;

TEST(Suffix, ReplacesHostAndVariablesInPlace) {
  const EnvironmentVariable rank("SUFFIX_TEST_RANK", "3");
  EXPECT_EQ(expand_suffix("rank%q{SUFFIX_TEST_RANK}_%h_%q{SUFFIX_TEST_RANK}"),
            "rank3_" + host_name() + "_3");
}

TEST(Suffix, TakesAnEmptyVariableAsItIs) {
  const EnvironmentVariable rank("SUFFIX_TEST_RANK", "");
  EXPECT_EQ(expand_suffix("x%q{SUFFIX_TEST_RANK}"), "x");
}

TEST(Suffix, OfJpwrIsHostAndProcessBehindAPlainText) {
  const std::string own = host_name() + "." + std::to_string(::getpid());
  EXPECT_EQ(expand_jpwr_suffix(""), own);
  EXPECT_EQ(expand_jpwr_suffix("a100"), "a100." + own);
}

TEST(Suffix, OfJpwrWithAVariableIsTheTextAlone) {
  const EnvironmentVariable rank("SUFFIX_TEST_RANK", "3");
  EXPECT_EQ(expand_jpwr_suffix("%q{SUFFIX_TEST_RANK}"), "3");
  EXPECT_EQ(expand_jpwr_suffix("rank%q{SUFFIX_TEST_RANK}_x"), "rank3_x");
}

struct SuffixMistakeCase {
  std::string name;
  std::string text;
  std::string message;
};
void PrintTo(const SuffixMistakeCase& c, std::ostream* out) {
  *out << c.name;
}
class SuffixMistakeTest : public testing::TestWithParam<SuffixMistakeCase> {};

TEST_P(SuffixMistakeTest, IsAnErrorInBothKinds) {
  const EnvironmentVariable unset("SUFFIX_TEST_RANK", std::nullopt);
  const EnvironmentVariable path("SUFFIX_TEST_PATH", "a/b");
  for (auto* expand : {&expand_suffix, &expand_jpwr_suffix}) {
    try {
      expand(GetParam().text);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), GetParam().message);
      EXPECT_NE(error.hint(), "");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Energy, SuffixMistakeTest,
    testing::Values(
        SuffixMistakeCase{
            "UnsetVariable", "%q{SUFFIX_TEST_RANK}",
            "the suffix '%q{SUFFIX_TEST_RANK}' needs the variable SUFFIX_TEST_RANK, which is not "
            "set"},
        SuffixMistakeCase{"NoBraces", "a%q", "the suffix 'a%q' has a %q without a variable"},
        SuffixMistakeCase{"OpenBrace", "%q{A", "the suffix '%q{A' has a %q without a variable"},
        SuffixMistakeCase{"NoName", "%q{}", "the suffix '%q{}' has a %q without a variable"},
        SuffixMistakeCase{"Slash", "%q{SUFFIX_TEST_PATH}", "the suffix 'a/b' has a slash"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bench::energy
