#include "outcome.hpp"
#include "support/environment_variable.hpp"
#include "support/temp_directory.hpp"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <bench/evaluate/evaluator.hpp>

namespace bench::evaluate {
namespace {

std::vector<Outcome> evaluate(Evaluator& evaluator, const std::vector<std::string>& expressions) {
  std::vector<Request> requests;
  for (const std::string& text : expressions)
    requests.push_back({Mode::python, text});
  return evaluator.evaluate(requests);
}

/// As environment modules set it, and as JUBE finds modules.
TEST(Python, FindsModulesInPythonPathAndNotInTheCurrentDirectory) {
  const support::TempDirectory directory;
  for (const char* folder : {"set", "here"})
    std::filesystem::create_directory(directory.path() / folder);
  std::ofstream(directory.path() / "set/site_sizes.py") << "nodes = 4\n";
  std::ofstream(directory.path() / "here/json.py") << "raise SystemExit\n";
  const support::EnvironmentVariable path("PYTHONPATH", (directory.path() / "set").string());
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path() / "here");
  Evaluator evaluator;
  EXPECT_EQ(evaluate(evaluator, {"__import__('site_sizes').nodes", "__import__('json').dumps(1)"}),
            (std::vector{value("4"), value("1")}));
  std::filesystem::current_path(before);
}

struct PythonCase {
  std::string expression;
  Outcome expected;
};
void PrintTo(const PythonCase& c, std::ostream* out) {
  *out << c.expression.substr(0, 40);
}

class PythonTest : public testing::TestWithParam<PythonCase> {
 protected:
  static inline Evaluator evaluator{};
};

TEST_P(PythonTest, GivesTheTextOfTheValue) {
  EXPECT_EQ(evaluate(evaluator, {GetParam().expression}).at(0), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Values, PythonTest,
    testing::Values(
        PythonCase{"1/2", value("0.5")}, PythonCase{"4/2", value("2.0")},
        PythonCase{"7//2+7%3", value("4")}, PythonCase{"2**70", value("1180591620717411303424")},
        PythonCase{"1e20", value("1e+20")}, PythonCase{"0.1+0.2", value("0.30000000000000004")},
        PythonCase{"round(2.5)", value("2")}, PythonCase{"True", value("True")},
        PythonCase{"None", value("None")}, PythonCase{"[1,2,3]", value("[1, 2, 3]")},
        PythonCase{"(1,2)", value("(1, 2)")}, PythonCase{"''", value("")},
        PythonCase{"'  pad  '", value("  pad  ")}, PythonCase{"'%05.2f' % 3.14159", value("03.14")},
        PythonCase{"f'{3:03d}'", value("003")}, PythonCase{"'a' if 1>2 else 'b'", value("b")},
        PythonCase{"1_000", value("1000")}, PythonCase{"{'a': 1}['a']", value("1")},
        PythonCase{"[\n1,\n2][1]", value("2")}, PythonCase{"  1+1\n", value("2")},
        PythonCase{"'größe 测'", value("größe 测")}, PythonCase{"'a\\nb'", value("a\nb")},
        PythonCase{"'\\d'", value("\\d")},
        PythonCase{"'\xFF'", error("UnicodeEncodeError: 'utf-8' codec can't encode character "
                                   "'\\udcff' in position 1: surrogates not allowed")},
        PythonCase{"'a\\0b'", value(std::string("a\0b", 3))}));

INSTANTIATE_TEST_SUITE_P(
    Names, PythonTest,
    testing::Values(PythonCase{"os.path.basename('/a/b')", value("b")},
                    PythonCase{"re.sub('a', 'b', 'aa')", value("bb")},
                    PythonCase{"string.digits", value("0123456789")},
                    PythonCase{"operator.add(1, 2)", value("3")},
                    PythonCase{"math.sqrt(16)", value("4.0")},
                    PythonCase{"time.time() > 0", value("True")},
                    PythonCase{"subprocess.check_output(['echo', 'x'])", value("b'x\\n'")},
                    PythonCase{"deque([1])", value("deque([1])")},
                    PythonCase{"nan * 2", value("nan")}, PythonCase{"-inf < 3", value("True")},
                    PythonCase{"'nan' + 'inf'", value("naninf")},
                    PythonCase{"[math.floor(x) for x in (1.5,)]", value("[1]")},
                    PythonCase{"sys.path", error("NameError: name 'sys' is not defined")}));

INSTANTIATE_TEST_SUITE_P(
    Errors, PythonTest,
    testing::Values(
        PythonCase{"1/0", error("ZeroDivisionError: division by zero")},
        PythonCase{"x", error("NameError: name 'x' is not defined")},
        PythonCase{"{'a': 1}['b']", error("KeyError: 'b'")},
        PythonCase{"1 +", error("SyntaxError: invalid syntax")},
        PythonCase{"", error("SyntaxError: invalid syntax")},
        PythonCase{"a = 1", error("SyntaxError: invalid syntax")},
        PythonCase{"int('z')", error("ValueError: invalid literal for int() with base 10: 'z'")},
        PythonCase{"exit(3)", error("SystemExit: 3")},
        PythonCase{"__import__('sys').exit(3)", error("SystemExit: 3")},
        PythonCase{"[].pop(0)", error("IndexError: pop from empty list")},
        PythonCase{"(_ for _ in ()).throw(KeyboardInterrupt)", error("KeyboardInterrupt")},
        PythonCase{"(_ for _ in ()).throw(AssertionError)", error("AssertionError")}));

INSTANTIATE_TEST_SUITE_P(
    Protocol, PythonTest,
    testing::Values(PythonCase{"print('noise')", value("None")},
                    PythonCase{"os.write(1, b'noise')", value("5")},
                    PythonCase{"os.system('echo noise')", value("0")},
                    PythonCase{"len('x' * 3000000)", value("3000000")},
                    PythonCase{"'y' * 1000000", value(std::string(1'000'000, 'y'))},
                    PythonCase{"len('" + std::string(1'000'000, 'z') + "')", value("1000000")},
                    PythonCase{"os.fork() and os.wait()[1]", value("0")}));

/// Python 3.13 has shortened its words.
TEST(Python, HasNoInputThatAnExpressionCouldTake) {
  Evaluator evaluator;
  EXPECT_THAT(evaluate(evaluator, {"input()"}).at(0),
              testing::AnyOf(error("RuntimeError: input(): lost sys.stdin"),
                             error("RuntimeError: lost sys.stdin")));
}

TEST(Python, AnswersALargeBatchInOneCall) {
  Evaluator evaluator;
  std::vector<std::string> expressions;
  std::vector<Outcome> expected;
  for (int k = 0; k < 10'000; ++k) {
    expressions.push_back(std::to_string(k) + "*2");
    expected.push_back(value(std::to_string(k * 2)));
  }
  EXPECT_EQ(evaluate(evaluator, expressions), expected);
}

/// Every `#` of an expression stands for a whole number that differs from text to text.
class ShapeTest : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    evaluate(together, {"'" + std::string(20'000, 'x') + "'"});  // large enough
  }

  static inline Evaluator one_by_one{};
  static inline Evaluator together{};
};

// A large request compiles an expression once for all numbers; the values must not show it.
TEST_P(ShapeTest, HasTheValuesThatEachTextHasAlone) {
  std::vector<std::string> texts;
  for (const char* number : {"0", "7", "12", "1000", "007", "1", "123456789012345678901234"}) {
    std::string text = GetParam();
    for (auto at = text.find('#'); at != std::string::npos; at = text.find('#'))
      text.replace(at, 1, number);
    texts.push_back(text);
  }
  std::vector<Outcome> expected;
  for (const std::string& text : texts)
    expected.push_back(evaluate(one_by_one, {text}).at(0));
  EXPECT_EQ(evaluate(together, texts), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Expressions, ShapeTest,
    testing::Values("# + # * 2", "-# ** 2 / 3", "1 / #", "'%d-%d' % (#, # // 5)", "'n#' + str(#)",
                    "f'{# + 1:04d}'", R"("it's #" * 2)", R"('''#''' + str(#))", R"('a\'#' + 'b')",
                    "# is 1000", "# .bit_length()", "(#).real", "#.5 + 1", "1#", "#e2", "x#",
                    "[# for k in range(3)][0]", "[k for # in [1]]", "dict(#=1)", "#(#)", "'a' #",
                    "max(#, 5) if # > 3 else 'few'", "{1: 'a', 7: 'b'}.get(#, 'c')",
                    "sorted(dir()) * #", "os.path.join('a', str(#))", "  # + 1", "'#' '#'",
                    "(lambda a=#: a + #)()", "#, #", "r'#' + str(#)", "'#", "#if # else 2",
                    "# * 1e-3", "1e-#", "2.5E+# * #", "1.e-#", "0x1e-#", "1e - #", "1e3-#"));

// Both sides have far more to write than a socket holds.
TEST(Python, LargeTextsInBothDirectionsDoNotBlock) {
  Evaluator evaluator;
  std::vector<std::string> expressions;
  for (int k = 0; k < 20; ++k)
    expressions.push_back("'" + std::string(1'000'000, static_cast<char>('a' + k)) + "'");
  const auto outcomes = evaluate(evaluator, expressions);
  for (std::size_t k = 0; k < expressions.size(); ++k)
    EXPECT_EQ("'" + outcomes[k].value + "'", expressions[k]);
}

TEST(Python, SyntaxIsCheckedWithoutEvaluation) {
  Evaluator evaluator;
  const auto outcomes =
      evaluator.check_syntax(std::vector<std::string>{" os._exit(3)", "1 >", "import os"});
  EXPECT_EQ(outcomes.at(0), value(""));
  EXPECT_THAT(outcomes.at(1).error, testing::StartsWith("SyntaxError"));
  EXPECT_FALSE(outcomes.at(2).ok);
}

TEST(Python, KeepsOneProcessForAllCalls) {
  Evaluator evaluator;
  EXPECT_EQ(evaluate(evaluator, {"os.getpid()"}), evaluate(evaluator, {"os.getpid()"}));
}

TEST(Python, EvaluatesEqualTextsOnce) {
  Evaluator evaluator;
  const std::string count = "os.environ.update(N=os.environ.get('N', '') + 'x') or os.environ['N']";
  EXPECT_EQ(evaluate(evaluator, {count, "1", count}),
            (std::vector<Outcome>{value("x"), value("1"), value("x")}));
  EXPECT_EQ(evaluate(evaluator, {count}).at(0), value("xx"));
}

TEST(Python, GivesEachExpressionFreshNames) {
  Evaluator evaluator;
  EXPECT_EQ(evaluate(evaluator, {"(leak := 1)", "leak"}),
            (std::vector<Outcome>{value("1"), error("NameError: name 'leak' is not defined")}));
}

TEST(Python, GoesOnAfterACrash) {
  Evaluator evaluator;
  EXPECT_EQ(evaluate(evaluator, {"1", "os._exit(3)", "2", "os.kill(os.getpid(), 9)", "3"}),
            (std::vector<Outcome>{
                value("1"), error("the Python process ended with exit code 3"), value("2"),
                error("the Python process ended with signal 9 (Killed)"), value("3")}));
  EXPECT_EQ(evaluate(evaluator, {"4"}).at(0), value("4"));
}

/// The letter in /proc: `Z` for a process that has ended and is not reaped yet.
char state_of(const std::string& pid) {
  std::string stat;
  std::getline(std::ifstream("/proc/" + pid + "/stat"), stat);
  return stat.at(stat.rfind(')') + 2);
}

TEST(Python, StartsAgainWhereItWasKilledBetweenCalls) {
  Evaluator evaluator;
  const std::string pid = evaluate(evaluator, {"os.getpid()"}).at(0).value;
  ::kill(std::stoi(pid), SIGKILL);
  while (state_of(pid) != 'Z')
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(evaluate(evaluator, {"5"}).at(0), value("5"));
}

TEST(Python, GivesUpAtTheTimeout) {
  Evaluator evaluator(3);
  EXPECT_EQ(evaluate(evaluator, {"1", "[0 for _ in iter(int, 1)]", "2"}),
            (std::vector<Outcome>{
                value("1"), error("no answer within 3 s"),
                error("not evaluated, since an expression before it gave no answer within 3 s")}));
  EXPECT_EQ(evaluate(evaluator, {"2"}).at(0), value("2"));
}

TEST(Python, LeavesNoProcessBehind) {
  std::string pid;
  {
    Evaluator evaluator;
    Evaluator moved = std::move(evaluator);
    pid = evaluate(moved, {"os.getpid()"}).at(0).value;
    EXPECT_TRUE(std::filesystem::exists("/proc/" + pid));
  }
  EXPECT_FALSE(std::filesystem::exists("/proc/" + pid));
}

}  // namespace
}  // namespace bench::evaluate
