#include "dump.hpp"
#include "support/case_name.hpp"
#include "support/error_of.hpp"

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/error.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

using support::case_name;

struct YamlCase {
  std::string name;
  std::string yaml;
  std::string expected;
};

class ReadTest : public testing::TestWithParam<YamlCase> {};

TEST_P(ReadTest, GivesTheTree) {
  EXPECT_EQ(dump_yaml(GetParam().yaml), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ReadTest,
    testing::Values(
        YamlCase{"OneBenchmarkAtTheTop",
                 "name: demo\noutpath: runs\nstep: {name: s, do: echo hi}\n",
                 R"(benchmark[name=demo outpath=runs](step[name=s](do("echo hi"))))"},
        YamlCase{"OneBenchmarkKeepsItsSets",
                 "name: d\nparameterset: {name: p}\npatternset: {name: q}\n",
                 "benchmark[name=d](parameterset[name=p] patternset[name=q])"},
        YamlCase{
            "Wrapper",
            "parameterset: {name: g}\nbenchmark:\n  - {name: b1, outpath: r}\n  - {name: b2}\n",
            "parameterset[name=g] benchmark[name=b1 outpath=r] benchmark[name=b2]"},
        YamlCase{"WrapperAroundOne", "benchmark: {name: b}\n", "benchmark[name=b]"},
        YamlCase{"List", "- {name: b1}\n- {name: b2}\n", "benchmark[name=b1] benchmark[name=b2]"},
        YamlCase{
            "PrivateKeysAreLeftOut",
            "x-anchors: {a: &a hello, b: [1]}\nname: d\ncomment: *a\nstep: {name: s, x-note: 1}\n",
            R"(benchmark[name=d](comment("hello") step[name=s]))"},
        YamlCase{"ByteOrderMarkAndCarriageReturns", "\xEF\xBB\xBFname: d\r\ncomment: c\r\n",
                 R"(benchmark[name=d](comment("c")))"}),
    case_name);

std::string with_step(const std::string& yaml) {
  return "step: {name: s}\n" + yaml;
}

INSTANTIATE_TEST_SUITE_P(
    Elements, ReadTest,
    testing::Values(
        YamlCase{
            "ListsAndTextsOfDo",
            "step:\n  do: [echo a, [echo b, echo c], {active: true, _: [echo d, echo e]}]\n",
            R"(benchmark(step(do("echo a") do("echo b") do("echo c") do[active=True]("echo d") )"
            R"(do[active=True]("echo e"))))"},
        YamlCase{"NullIsAnEmptyText", "step:\n  do:\n  use: ~\n", "benchmark(step(do use))"},
        YamlCase{"EmptyListIsNoElement", "step:\n  do: []\n", "benchmark(step)"},
        YamlCase{"MappingWithoutText", "step: {do: {active: false}}\n",
                 "benchmark(step(do[active=False]))"},
        YamlCase{"MappingWithNullText", "step: {do: {_: , active: x}}\n",
                 "benchmark(step(do[active=x]))"},
        YamlCase{"ListUnderAnAttributeIsJoined", "step: {name: c, depend: [a, [b, 1]]}\n",
                 "benchmark(step[name=c depend=a,b,1])"},
        YamlCase{"NullAttributeIsEmpty", "step: {name: c, depend: , active: ''}\n",
                 "benchmark(step[name=c depend= active=])"},
        YamlCase{"EmptyBlockScalar",
                 "parameterset:\n  parameter:\n    - name: a\n      separator: |\n      _: |\n"
                 "        x, y\n        z\n",
                 "benchmark(parameterset(parameter[name=a separator=](\"x, y\nz\n\")))"},
        YamlCase{"OrderIsThatOfTheFile",
                 "result: {table: {name: t, column: [a, {title: b, _: c}]}, use: x}\n",
                 R"(benchmark(result(table[name=t](column("a") column[title=b]("c")) use("x"))))"},
        YamlCase{"LongFormWithTwoTextsIsTwoParameters",
                 "parameterset: {parameter: {name: a, duplicate: concat, _: [1, 2]}}\n",
                 "benchmark(parameterset(parameter[name=a duplicate=concat](\"1\") "
                 "parameter[name=a duplicate=concat](\"2\")))"},
        YamlCase{"BatchAndEnergyAsSwitches",
                 with_step("").substr(0, 14) + ", batch: true, energy: no}\n",
                 R"(benchmark(step[name=s](batch("True") energy("False"))))"},
        YamlCase{
            "BatchAndEnergyWithSettings",
            "step: {batch: {nodes: $n, time_limit: 00:15:00}, energy: {methods: [rapl, nvml]}}\n",
            "benchmark(step(batch[nodes=$n time_limit=00:15:00] energy[methods=rapl,nvml]))"}),
    case_name);

std::string in_set(const std::string& parameter) {
  return "parameterset:\n  parameter: " + parameter + "\n";
}

std::string set_of(const std::string& parameters) {
  return "benchmark(parameterset(" + parameters + "))";
}

INSTANTIATE_TEST_SUITE_P(
    ShortParameters, ReadTest,
    testing::Values(
        YamlCase{"ListsAndScalars", in_set("{batch_size: [16, 32], precision: fp16}"),
                 set_of(R"(parameter[name=batch_size](value("16") value("32")) )"
                        R"(parameter[name=precision]("fp16"))")},
        YamlCase{"InAList", in_set("[{name: a, _: 1}, {b: 2, c: ''}]"),
                 set_of(R"(parameter[name=a]("1") parameter[name=b]("2") parameter[name=c])")},
        YamlCase{"SettingsOfOneParameter",
                 in_set("{n: {type: int, _: [1, 2]}, m: {type: int, _: 3}}"),
                 set_of(R"(parameter[name=n type=int](value("1") value("2")) )"
                        R"(parameter[name=m type=int]("3"))")},
        YamlCase{"SettingsWithoutValue", in_set("{n: {type: int, _: ''}}"),
                 set_of("parameter[name=n type=int]")},
        YamlCase{"OneValueInAList", in_set("{n: [1]}"), set_of(R"(parameter[name=n](value("1")))")},
        YamlCase{"ListUnderTheContentKey", in_set("{name: n, type: int, _: [1, 2]}"),
                 set_of(R"(parameter[name=n type=int](value("1") value("2")))")},
        YamlCase{"SeveralTextsThatAreJoined", in_set("{name: n, duplicate: concat, _: [1, 2]}"),
                 set_of(R"(parameter[name=n duplicate=concat]("1") )"
                        R"(parameter[name=n duplicate=concat]("2"))")},
        YamlCase{"NamesLikeAttributes", in_set("{type: [int, real], mode: fast, unit: {_: GB}}"),
                 set_of(R"(parameter[name=type](value("int") value("real")) )"
                        R"(parameter[name=mode]("fast") parameter[name=unit]("GB"))")},
        YamlCase{
            "TagHoldsForAll", in_set("{tag: big, n: 1, m: {tag: b|c, _: 2}}"),
            set_of(R"(parameter[name=n tag=big]("1") parameter[name=m tag=(big)+(b|c)]("2"))")},
        YamlCase{"KeysAreTakenAsWritten", in_set("{on: 1, 010: 2}"),
                 set_of(R"(parameter[name=on]("1") parameter[name=010]("2"))")}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    MergeKeys, ReadTest,
    testing::Values(
        YamlCase{"OwnKeysOverride",
                 "x-s: &s {active: a, iterations: 2}\nstep: {<<: *s, name: s, active: b}\n",
                 "benchmark(step[active=b iterations=2 name=s])"},
        YamlCase{"FirstOfAListWins",
                 "x-s: [&a {active: a}, &b {active: b, where: w}]\nstep: {<<: [*a, *b], name: s}\n",
                 "benchmark(step[active=a where=w name=s])"},
        YamlCase{"MergedMappingMerges",
                 "x-a: &a {where: w}\nx-b: &b {<<: *a, active: b}\nstep: {name: s, <<: *b}\n",
                 "benchmark(step[where=w active=b name=s])"},
        YamlCase{"QuotedIsAnOrdinaryKey", in_set("{\"<<\": 1}"),
                 set_of(R"(parameter[name=<<]("1"))")}),
    case_name);

/// A parameter as written and the type that follows from its values.
struct TypeCase {
  std::string name;
  std::string parameter;
  std::string type;
};

class InferredTypeTest : public testing::TestWithParam<TypeCase> {};

TEST_P(InferredTypeTest, IsThatOfAllValues) {
  Diagnostics strict(true);
  const Node root = read_yaml(in_set(GetParam().parameter), "t.yaml", strict);
  EXPECT_EQ(root.children[0].children[0].children[0].get("inferred_type"), GetParam().type);
}

INSTANTIATE_TEST_SUITE_P(
    Values, InferredTypeTest,
    testing::Values(
        TypeCase{"Integers", "{n: [2, 16]}", "int"}, TypeCase{"OneInteger", "{n: 5}", "int"},
        TypeCase{"Reals", "{n: [0.5, 2.0]}", "float"},
        TypeCase{"IntegersAndReals", "{n: [1, 0.5]}", "float"},
        TypeCase{"Exponents", "{n: [1e-3, 1e-4]}", "float"}, TypeCase{"Texts", "{n: [a, b]}", ""},
        TypeCase{"Quoted", "{n: ['2', '16']}", ""}, TypeCase{"Mixed", "{n: [2, two]}", ""},
        TypeCase{"Empty", "{n: [2, ]}", "int"}, TypeCase{"NullAmongThem", "{n: [2, ~]}", ""},
        TypeCase{"Substituted", "{n: $m}", ""}, TypeCase{"Truths", "{n: [true, false]}", ""},
        TypeCase{"ItsOwnType", "{n: {type: string, _: [1, 2]}}", ""},
        TypeCase{"Script", "{n: {mode: python, _: 1}}", ""},
        TypeCase{"ListOfALongForm", "{name: n, _: [1, 2]}", "int"},
        TypeCase{"TextOfALongForm", "{name: n, _: 1}", ""}),
    [](const auto& test) { return test.param.name; });

/// A mistake, and the message with its hint.
class MistakeTest : public testing::TestWithParam<YamlCase> {};

TEST_P(MistakeTest, HasAHint) {
  Diagnostics diagnostics;
  EXPECT_EQ(support::fault_of([&] { read_yaml(GetParam().yaml, "t.yaml", diagnostics); }),
            GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    ShortParameters, MistakeTest,
    testing::Values(
        YamlCase{"AttributeBesideAList", in_set("{n: [1, 2], type: int}"),
                 "t.yaml:2:26: invalid-value"},
        YamlCase{"AttributeAlone", in_set("{export: true}"), "t.yaml:2:15: invalid-value"},
        YamlCase{"ListInAList", in_set("{n: [1, [2, 3]]}"), "t.yaml:2:22: wrong-structure"},
        YamlCase{"MappingInAList", in_set("{name: n, _: [1, {a: 2}]}"),
                 "t.yaml:2:31: wrong-structure"}),
    case_name);

/// A scalar that YAML 1.1 makes a surprise of, and what it means.
struct SurpriseCase {
  std::string yaml;
  std::string warning;
};
void PrintTo(const SurpriseCase& c, std::ostream* out) {
  *out << c.yaml;
}

class SurpriseTest : public testing::TestWithParam<SurpriseCase> {};

TEST_P(SurpriseTest, IsAWarning) {
  Diagnostics diagnostics;
  read_yaml(GetParam().yaml + "\n", "t.yaml", diagnostics);
  std::string messages;
  for (const Warning& warning : diagnostics.warnings())
    messages += (messages.empty() ? "" : "\n") + warning.message;
  EXPECT_EQ(messages, GetParam().warning);
}

INSTANTIATE_TEST_SUITE_P(
    Scalars, SurpriseTest,
    testing::Values(
        SurpriseCase{"parameterset: {parameter: {n: on}}", "'on' without quotes means True"},
        SurpriseCase{"parameterset: {parameter: {name: n, _: No}}",
                     "'No' without quotes means False"},
        SurpriseCase{"parameterset: {parameter: {n: [1, 010]}}", "'010' without quotes means 8"},
        SurpriseCase{"step: {name: on}", "'on' without quotes means True"},
        SurpriseCase{"step: {name: s, timeout: 12:30:00}", "'12:30:00' without quotes means 45000"},
        SurpriseCase{"step: {name: s, use: [yes, b]}", "'yes' without quotes means True"},
        SurpriseCase{"comment: 1:30.5", "'1:30.5' without quotes means 90.5"},
        SurpriseCase{"parameterset: {parameter: {v: 1.10}}", "'1.10' without quotes means 1.1"},
        SurpriseCase{"parameterset: {parameter: {v: 2023023902_2}}",
                     "'2023023902_2' without quotes means 20230239022"},
        SurpriseCase{"parameterset: {parameter: {v: -0x1F}}", "'-0x1F' without quotes means -31"},
        SurpriseCase{"parameterset: {parameter: {n: 'on', m: true, o: 0, p: +5, q: 1.5, r: .5}}",
                     ""},
        SurpriseCase{"parameterset: {parameter: {r: -1., s: 1.0e-5, t: -0, u: .inf, v: 3.0}}", ""},
        SurpriseCase{"parameterset: {parameter: {r: {_: 0.20, type: float}, s: {type: float, _: "
                     "[0.10, 1.50]}}}",
                     ""},
        SurpriseCase{"parameterset: {parameter: {t: {type: float, _: 1:30.5}}}",
                     "'1:30.5' without quotes means 90.5"},
        SurpriseCase{"parameterset: {parameter: {n: {export: yes, _: 1}}}", ""},
        SurpriseCase{"step: {name: s, batch: on, active: no, do_log_file: yes}", ""},
        SurpriseCase{"step: {name: s, batch: {kill_on_bad_exit: no, same_nodes: yes, "
                     "exclusive: on, array: off}}",
                     ""},
        SurpriseCase{"step: {name: s, active: 010}", "'010' without quotes means 8"}));

INSTANTIATE_TEST_SUITE_P(
    Comments, SurpriseTest,
    testing::Values(
        SurpriseCase{"step:\n  do: echo a # b; ./x", "'# b; ./x' is a comment in YAML"},
        SurpriseCase{"step:\n  do:\n    - &a echo a #b\n    - {stdout: out, _: c} # all\n    - *a",
                     "'#b' is a comment in YAML"},
        SurpriseCase{"patternset:\n  pattern:\n    name: p # first\n    _: took # $jube_pat_fp",
                     "'# $jube_pat_fp' is a comment in YAML"},
        SurpriseCase{"fileset:\n  prepare: make # all", "'# all' is a comment in YAML"},
        SurpriseCase{"parameterset:\n  parameter:\n    n: 4 # nodes\nstep: # one\n  do: 'a # b'",
                     ""},
        SurpriseCase{"step:\n  # all\n  do: echo a#b\n  # of it\n  name: s", ""},
        SurpriseCase{"step:\n  do: |\n    echo a # b", ""}));

TEST(Read, NamesThePlaceOfAComment) {
  Diagnostics diagnostics;
  read_yaml("step:\n  do: é echo # b\n", "t.yaml", diagnostics);
  ASSERT_EQ(diagnostics.warnings().size(), 1U);
  EXPECT_EQ(diagnostics.warnings()[0].place, (Place{"t.yaml", 2, 15}));
}

TEST(Read, RefusesAnEmptyListUnderTheContentKey) {
  for (const char* yaml :
       {"parameterset: {parameter: {name: n, _: []}}", "step: {do: {stdout: out, _: []}}"}) {
    Diagnostics diagnostics;
    EXPECT_THAT(support::fault_of([&] { read_yaml(yaml, "t.yaml", diagnostics); }),
                testing::EndsWith(": wrong-structure"))
        << yaml;
  }
}

TEST(Read, GivesPlacesFromOne) {
  Diagnostics strict(true);
  const Node root = read_yaml(
      "name: demo\n"
      "step:\n"
      "  - name:   hello\n"
      "    depend:\n"
      "    do: &x\n"
      "      - echo a\n"
      "      - {_: é echo, active: true}\n"
      "parameterset: {parameter: {n: [1, 2]}}\n",
      "t.yaml", strict);
  const Node& step = *root.first("benchmark")->first("step");
  const auto at = [](int line, int column) { return Place{"t.yaml", line, column}; };
  EXPECT_EQ(step.place, at(3, 5));
  EXPECT_EQ(step.text_place, at(3, 5));
  EXPECT_EQ(step.find("name")->name_place, at(3, 5));
  EXPECT_EQ(step.find("name")->place, at(3, 13));
  EXPECT_EQ(step.find("depend")->place, at(4, 5)) << "an empty value has the place of its key";
  EXPECT_EQ(step.all("do")[0]->place, at(6, 9));
  EXPECT_EQ(step.all("do")[1]->place, at(7, 9));
  EXPECT_EQ(step.all("do")[1]->text_place, at(7, 13));
  EXPECT_EQ(step.all("do")[1]->find("active")->place, at(7, 30)) << "columns count bytes";
  const Node& parameter = *root.first("benchmark")->first("parameterset")->first("parameter");
  EXPECT_EQ(parameter.place, at(8, 28));
  EXPECT_EQ(parameter.text_place, at(8, 31));
  EXPECT_EQ(parameter.find("name")->place, at(8, 28));
  EXPECT_EQ(parameter.all("value")[1]->place, at(8, 35));
}

TEST(Read, MakesOneTextOfNamesWithValues) {
  Diagnostics diagnostics;
  const Node root = read_yaml(
      "result: {table: {name: t, column: {metric: m, of: [a, b], baseline: {n: 1, kind: 'x,y'}}}}",
      "in.yaml", diagnostics);
  const Node& column = *root.first("benchmark")->first("result")->first("table")->first("column");
  EXPECT_EQ(column.get("baseline"), "n=1,kind=x\\,y");
  EXPECT_EQ(column.get("of"), "a,b");
  EXPECT_EQ(diagnostics.warnings().size(), 0);
}

TEST(Read, FindsAttributesAndChildren) {
  Diagnostics strict(true);
  const Node root = read_yaml("name: b\nstep: [{name: s}, {name: t}]\n", "t.yaml", strict);
  const Node& benchmark = *root.first("benchmark");
  EXPECT_EQ(benchmark.get("name"), "b");
  EXPECT_EQ(benchmark.get("outpath", "runs"), "runs");
  EXPECT_EQ(benchmark.find("outpath"), nullptr);
  EXPECT_EQ(benchmark.all("step")[1]->get("name"), "t");
  EXPECT_EQ(benchmark.first("result"), nullptr);
}

class ReadFile : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    const auto file = std::filesystem::path(testing::TempDir()) / name;
    std::ofstream(file) << text;
    return file;
  }
  std::string message(const std::filesystem::path& file) const {
    Diagnostics diagnostics;
    try {
      read_file(file, diagnostics);
    } catch (const Error& error) {
      return render(error);
    }
    return "";
  }
};

TEST_F(ReadFile, ReadsAnyNameThatIsNotXml) {
  Diagnostics strict(true);
  EXPECT_EQ(dump(read_file(write("document_in.bench", "name: b\n"), strict)),
            "jube(benchmark[name=b])");
  EXPECT_EQ(dump(read_file(write("document_in.YML", "name: b\n"), strict)),
            "jube(benchmark[name=b])");
}

TEST_F(ReadFile, ReadsXmlByItsNameOrItsFirstByte) {
  Diagnostics strict(true);
  const std::string xml = "\xEF\xBB\xBF\n<jube><benchmark name='b'/></jube>";
  for (const char* name : {"document_in.xml", "document_in.XML", "document_in"})
    EXPECT_EQ(dump(read_file(write(name, xml), strict)), "jube(benchmark[name=b])") << name;
}

TEST_F(ReadFile, NamesAMissingFile) {
  EXPECT_THAT(message("/nonexistent/in.yaml"), testing::HasSubstr("/nonexistent/in.yaml"));
}

}  // namespace
}  // namespace bench::document
