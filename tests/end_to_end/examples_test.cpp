#include "support/golden.hpp"
#include "support/source_directory.hpp"
#include "transcript.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using support::source_directory;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

const fs::path sessions = source_directory() / "tests/data/examples";

/// The examples of one kind by their names; the quickstart has a test of its own.
std::vector<std::string> examples(const std::string& extension) {
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(source_directory() / "examples"))
    if (entry.path().extension() == extension && entry.path().stem() != "quickstart")
      found.insert(entry.path().stem().string());
  return {found.begin(), found.end()};
}

/// A playground with a copy of the examples, without what a user's own runs left there.
class ExampleTest : public testing::TestWithParam<std::string> {
 protected:
  ExampleTest() {
    fs::create_directory(here_.path() / "examples");
    for (const auto& entry : fs::directory_iterator(source_directory() / "examples"))
      if (entry.path().filename() != "runs")
        fs::copy(entry.path(), here_.path() / "examples" / entry.path().filename(),
                 fs::copy_options::recursive);
  }

  Playground here_;
};

/// The commands that the comment at the top of an example offers, indented in it.
std::vector<std::string> offered_commands(const std::string& example) {
  std::vector<std::string> commands;
  for (const std::string& line : split(example, "\n"))
    if (line.starts_with("#     "))
      commands.emplace_back(strip(line.substr(1)));
  return commands;
}

class ExampleSessions : public ExampleTest {};

TEST_P(ExampleSessions, PrintAndLeaveWhatIsExpected) {
  const fs::path session = sessions / (GetParam() + ".expected");
  ASSERT_TRUE(fs::exists(session)) << "every example needs its session in " << session;
  const std::string expected = read_file(session);
  const auto offered = offered_commands(here_.read("examples/" + GetParam() + ".yaml"));
  EXPECT_THAT(offered, Not(IsEmpty()));
  EXPECT_THAT(commands_of(expected), IsSupersetOf(offered));
  support::expect_golden("examples/" + GetParam() + ".expected", play(here_, expected));
}

std::string name_of_case(const testing::TestParamInfo<std::string>& info) {
  return info.param;
}

INSTANTIATE_TEST_SUITE_P(Examples, ExampleSessions, testing::ValuesIn(examples(".yaml")),
                         name_of_case);

TEST(ExamplesIndex, NamesEveryExample) {
  const std::string index = read_file(source_directory() / "examples/README.md");
  for (const std::string& name : examples(".yaml"))
    EXPECT_THAT(index, HasSubstr("](" + name + ".yaml)"));
  for (const std::string& name : examples(".xml"))
    EXPECT_THAT(index, HasSubstr("](" + name + ".xml)"));
}

class ExampleTwins : public ExampleTest {};

/// What a run made for its user: tables, output and files, by their paths.
std::map<std::string, std::string> products(const fs::path& run) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    const fs::path path = entry.path().lexically_relative(run);
    const bool of_user =
        path.begin()->string() == "result" || path.string().find("/work/") != std::string::npos;
    if (of_user && entry.is_regular_file())
      found.emplace(path.string(), read_file(entry.path()));
  }
  return found;
}

TEST_P(ExampleTwins, MakeTheSameInXmlAsInYaml) {
  for (const std::string kind : {"xml", "yaml"}) {
    const auto run = here_.bench(
        {"run", "examples/" + GetParam() + "." + kind, "--strict", "--result", "--outpath", kind});
    ASSERT_EQ(run.status.code, 0) << run.standard_error;
  }
  const auto made = products(here_.path() / "xml/000000");
  EXPECT_FALSE(made.empty());
  EXPECT_EQ(made, products(here_.path() / "yaml/000000"));
}

INSTANTIATE_TEST_SUITE_P(Examples, ExampleTwins, testing::ValuesIn(examples(".xml")), name_of_case);

}  // namespace
}  // namespace bench::end_to_end
