#include "bench_program.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::ContainsRegex;
using testing::ElementsAreArray;
using testing::HasSubstr;

/// Texts in which a shell, a glob, a template, a table or an option would see more than a text.
const std::vector<std::string>& odd_texts() {
  static const std::vector<std::string> texts{";",
                                              "$(touch evil)",
                                              "`touch evil`",
                                              "&",
                                              "|",
                                              "<",
                                              ">",
                                              "*",
                                              "?",
                                              "'",
                                              "\"",
                                              "\\",
                                              "a\nb",
                                              "a b",
                                              "-n",
                                              "--",
                                              "#c",
                                              "~",
                                              "{a,b}",
                                              "!x",
                                              "%d",
                                              "{{h}}",
                                              "\\n",
                                              "''",
                                              "ü",
                                              "tab\there",
                                              "a,b",
                                              "[x]",
                                              "||true;",
                                              "$",
                                              "$1 ${HOME}"};
  return texts;
}

/// As a double-quoted scalar of YAML.
std::string quoted(std::string text) {
  text = replace_all(std::move(text), "\\", "\\\\");
  text = replace_all(std::move(text), "\"", "\\\"");
  text = replace_all(std::move(text), "\t", "\\t");
  return '"' + replace_all(std::move(text), "\n", "\\n") + '"';
}

std::string list_of(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts)
    items.push_back(quoted(replace_all(text, "$", "$$")));
  return "[" + join(items, ", ") + "]";
}

/// The texts in files of this name, one in the work directory of each workpackage.
std::vector<std::string> read_each(const Playground& here, const std::string& name) {
  std::map<std::filesystem::path, std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(here.path() / "runs/000000"))
    if (const auto file = entry.path() / "work" / name; std::filesystem::exists(file))
      texts[file] = read_file(file);
  std::vector<std::string> all;
  for (const auto& [file, text] : texts)
    all.push_back(text);
  return all;
}

class ValuesTest : public testing::TestWithParam<const char*> {};

// What stands in a command is text of the shell's, as in JUBE; what is exported, or substituted in
// a file, is the value and nothing else, whoever runs the commands.
TEST_P(ValuesTest, ReachFilesAndEnvironmentUntouched) {
  const Playground here;
  here.write("in.txt", "HOLE\n");
  here.run("v.yaml",
           "name: v\noutpath: runs\n"
           "parameterset: {name: p, parameter: [{value: " +
               list_of(odd_texts()) +
               "}, {name: known, export: true, separator: '@@@', _: $value}]}\n"
               "fileset: {name: f, copy: in.txt}\n"
               "substituteset: {name: s, iofile: {in: in.txt, out: out.txt}, sub: "
               "{source: HOLE, dest: $value}}\n"
               "step: {name: s, use: [p, f, s], " +
               GetParam() + "do: [printenv known > exported, echo n=1]}\n");
  std::vector<std::string> lines;
  for (const std::string& text : odd_texts())
    lines.push_back(text + "\n");
  EXPECT_THAT(read_each(here, "exported"), ElementsAreArray(lines));
  EXPECT_THAT(read_each(here, "out.txt"), ElementsAreArray(lines));
  EXPECT_TRUE(read_each(here, "evil").empty());
  EXPECT_FALSE(here.has("evil"));
}

INSTANTIATE_TEST_SUITE_P(Steps, ValuesTest, testing::Values("", "batch: true, "),
                         [](const auto& one) { return *one.param ? "Batch" : "Local"; });

TEST(CharactersTest, ACommandIsTextOfTheShell) {
  const Playground here;
  here.run("v.yaml",
           "name: v\noutpath: runs\n"
           "parameterset: {name: p, parameter: {value: ['a; echo b', '\"$$(echo c)\"']}}\n"
           "step: {name: s, use: p, do: echo $value}\n");
  EXPECT_EQ(here.read("runs/000000/000000_s/work/stdout"), "a\nb\n");
  EXPECT_EQ(here.read("runs/000000/000001_s/work/stdout"), "c\n");
}

/// Names that a file may have and that nothing but a slash takes from it.
const std::vector<std::string> odd_names{"new\nline", "quo\"te", "apo'strophe", "sp ace",
                                         "-dash",     "semi;c",  "back\\slash", "%p?#",
                                         "a&b|c",     "<lt>",    "(p)",         "`tick`"};

TEST(CharactersTest, FilesOfAnyNameAreCopiedSubstitutedInWrittenToAndAnalysed) {
  const Playground here;
  for (const std::string& name : odd_names)
    here.write("files/" + name, "value=HOLE\n");
  here.run("n.yaml",
           "name: n\noutpath: \"out \\\"put\\n'dir\"\n"
           "parameterset: {name: p, parameter: [{name: file, separator: '@', _: " +
               quoted(join(odd_names, "@")) +
               "}]}\n"
               "fileset:\n"
               "  name: f\n"
               "  copy: {source_dir: files, separator: '@', _: $file}\n"
               "  link: {source_dir: files, separator: '@', _: $file, name: a link}\n"
               "substituteset: {name: s, iofile: {in: $file, out: new $file}, sub: {source: "
               "HOLE, dest: 7}}\n"
               "step: {name: s, use: [p, f, s], do: {stdout: said $file, _: cat ./new*}}\n"
               "patternset: {name: x, pattern: {name: value, type: int, _: "
               "value=$jube_pat_int}}\n"
               "analyser: {name: a, use: x, analyse: {step: s, file: said $file}}\n"
               "result: {use: a, table: {name: t, style: csv, column: [jube_wp_id, value]}}\n");
  std::string table = "jube_wp_id,value\n";
  for (std::size_t k = 0; k < odd_names.size(); ++k)
    table += std::to_string(k) + ",7\n";
  const std::string outpath = "out \"put\n'dir";
  EXPECT_EQ(here.bench({"result", outpath}).standard_output, table + "\n");
  EXPECT_EQ(here.bench({"status", outpath}).standard_output, "finished\n");
  EXPECT_EQ(here.read(outpath + "/000000/000000_s/work/a link"), "value=HOLE\n");
  EXPECT_EQ(here.bench({"continue", outpath}).status.code, 0);
  EXPECT_EQ(here.bench({"remove", outpath, "-f"}).status.code, 0);
  EXPECT_FALSE(here.has(outpath + "/000000"));
}

TEST(CharactersTest, ZeroBytesAndBytesThatAreNoUtf8AreFoundAndShown) {
  const Playground here;
  here.write("z.yaml", R"(name: z
outpath: runs
step: {name: s, do: ['printf "a\000b n=1\n\377\376 n=2\nw=\000x\377y\n"; printf "why\000\377\n" >&2; false']}
patternset: {name: x, pattern: [{name: n, type: int, _: n=$jube_pat_int}, {name: w, _: w=(.*)}]}
analyser: {name: a, use: x, analyse: {step: s, file: stdout}}
result: {use: a, table: {name: t, style: csv, column: [n_sum, w]}}
)");
  const std::string zero(1, '\0');
  EXPECT_EQ(here.bench({"run", "z.yaml"}).standard_error,
            "workpackage 0 (s) failed: command 1 of 1: exit code 1: why" + zero + "\uFFFD\n");
  EXPECT_EQ(here.bench({"result", "runs"}).standard_output, "n_sum,w\n3," + zero + "x\uFFFDy\n\n");
  EXPECT_THAT(here.bench({"result", "runs", "-s", "json"}).standard_output,
              HasSubstr(R"("w": "\u0000x)"));
  EXPECT_THAT(here.bench({"why", "runs", "0"}).standard_output, HasSubstr("why" + zero));
  EXPECT_THAT(here.bench({"log", "runs", "-c", "run"}).standard_output, HasSubstr("why" + zero));
  EXPECT_THAT(here.bench({"output", "runs", "-d"}).standard_output, HasSubstr("\xFF\xFE n=2"))
      << "as it is";
}

TEST(OtherBytes, InAComputedValueAreWarnedOf) {
  const Playground here;
  const auto run = here.run("b.yaml", R"(name: b
outpath: runs
parameterset:
  - name: p
    parameter:
      - {name: shell, mode: shell, _: "printf 'caf\\351'"}
      - {name: python, mode: python, _: "'caf\\udce9'"}
      - {name: env, mode: env, _: DRINK}
step: {name: s, use: p, do: 'printf %s $shell $python $env > out'}
)",
                            {}, 0, {{"DRINK", "caf\xE9"}});
  for (const char* parameter : {"shell", "python", "env"})
    EXPECT_THAT(
        run.standard_error,
        ContainsRegex(std::string("b.yaml:[678]:[0-9]+: warning: the value of parameter '") +
                      parameter +
                      "' has bytes that are not UTF-8, which bench cannot keep: it is "
                      "'caf\uFFFD'\n"));
  EXPECT_EQ(here.read("runs/000000/000000_s/work/out"), "caf\uFFFDcaf\uFFFDcaf\uFFFD");
}

}  // namespace
}  // namespace bench::end_to_end
