#include "energy/energy_hdf5_fixture.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/host.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/energy/core/channel.hpp>
#include <bench/energy/program/options.hpp>
#include <bench/energy/program/output.hpp>
#include <bench/energy/program/recover.hpp>
#include <bench/energy/program/run_record.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr const char* samples = "time_s,unix_time_s,a_w\n0,9,100\n2,11,100\n";

/// The same, with times of today.
std::string samples_since(double unix_time_s) {
  return "time_s,unix_time_s,a_w\n0," + std::to_string(unix_time_s) + ",100\n2," +
         std::to_string(unix_time_s + 2) + ",100\n";
}

class RecoverTest : public testing::Test {
 protected:
  std::filesystem::path directory() const { return directory_.path(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory() / name) << text;
  }

  /// What a meter on this node that was killed leaves behind.
  void write_record(const std::string& name, const std::set<Format>& formats = {Format::csv},
                    const std::string& host = host_name()) const {
    RunRecord record(directory() / name);
    add_to(record, formats, host);
  }

  void add_to(RunRecord& record, const std::set<Format>& formats = {Format::csv},
              const std::string& host = host_name()) const {
    Channel channel;
    channel.name = "a";
    channel.additive = true;
    RunStart start{.provenance = {}, .formats = formats};
    start.provenance.host = host;
    record.add_start(start);
    record.add_channels({channel}, {false});
    record.open();
  }

  std::vector<RecoveredFiles> recover() const { return recover_directory(options()).made; }
  RecoverOptions options() const { return {.directory = directory(), .suffix = {}, .formats = {}}; }

  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory()))
      found.insert(entry.path().filename());
    return found;
  }

  /// Every file with what it holds.
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> found;
    for (const std::string& name : names())
      found[name] = read_file(directory() / name);
    return found;
  }

 private:
  TemporaryDirectory directory_;
};

TEST_F(RecoverTest, MakesTheFilesThatTheMeterWasAskedFor) {
  write("power.csv", samples);
  write_record("unfinished.jsonl", {Format::json});
  const auto made = recover();
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(made[0].line,
            "recovered " + (directory() / "power.csv").string() + ": 2 rows of samples");
  EXPECT_THAT(names(),
              UnorderedElementsAre("power.csv", "unfinished.jsonl", "energy.txt", "energy.json"));
  const std::string text = read_file(directory() / "energy.txt");
  EXPECT_THAT(text, HasSubstr("energy_wh=0.05555556\n"));
  EXPECT_THAT(text, HasSubstr("energy_quality=recovered\n"));
}

TEST_F(RecoverTest, WithoutARecordMakesATable) {
  write("power.csv", samples);
  recover();
  EXPECT_THAT(names(), UnorderedElementsAre("power.csv", "energy.txt", "energy.csv"));
  EXPECT_THAT(read_file(directory() / "energy.txt"), HasSubstr("energy_quality=none\n"));
}

TEST_F(RecoverTest, MakesOtherFormatsIfToldTo) {
  write("power.csv", samples);
  write_record("unfinished.jsonl", {Format::json});
  RecoverOptions csv = options();
  csv.formats = {Format::csv};
  recover_directory(csv);
  EXPECT_EQ(names().count("energy.csv"), 1U);
  EXPECT_EQ(names().count("energy.json"), 0U);
}

TEST_F(RecoverTest, ChangesNothingThatIsThere) {
  write("power.csv", std::string(samples) + "3,12,1");
  write_record("unfinished.jsonl");
  const auto before = contents();
  recover();
  auto after = contents();
  for (const auto& [name, text] : before)
    EXPECT_EQ(after.at(name), text) << name;
  EXPECT_THROW(recover(), Error);
  EXPECT_EQ(contents(), after);
}

TEST_F(RecoverTest, MakesTheSameOnceMore) {
  write("power.csv", samples);
  write_record("unfinished.jsonl", {Format::csv, Format::json});
  recover();
  const auto first = contents();
  for (const char* name : {"energy.txt", "energy.csv", "energy.json"})
    std::filesystem::remove(directory() / name);
  recover();
  EXPECT_EQ(contents(), first);
}

TEST_F(RecoverTest, TakesEveryRunThatHasNoResults) {
  for (const char* suffix : {".rank0", ".rank1", ".n.rank2", ""}) {
    write(std::string("power") + suffix + ".csv", samples);
    write_record(std::string("unfinished") + suffix + ".jsonl");
  }
  write("energy.rank1.txt", "energy_wh=1\n");
  write("powerless.csv", "other");
  EXPECT_EQ(recover().size(), 3U);
  EXPECT_EQ(read_file(directory() / "energy.rank1.txt"), "energy_wh=1\n");
  EXPECT_EQ(names().count("energy.n.rank2.csv") + names().count("energy.rank0.csv") +
                names().count("energy.csv"),
            3U);
  EXPECT_EQ(names().count("energy.rank1.csv"), 0U);
}

TEST_F(RecoverTest, TakesTheRunThatIsNamed) {
  for (const char* suffix : {"rank0", "rank1"})
    write(std::string("power.") + suffix + ".csv", samples);
  RecoverOptions one = options();
  one.suffix = "rank1";
  recover_directory(one);
  EXPECT_EQ(names().count("energy.rank1.txt"), 1U);
  EXPECT_EQ(names().count("energy.rank0.txt"), 0U);
}

TEST_F(RecoverTest, AnEmptyLogHasAReason) {
  write("power.csv", "");
  write_record("unfinished.jsonl", {Format::h5});  // which would hold samples
  recover();
  EXPECT_THAT(names(),
              UnorderedElementsAre("power.csv", "unfinished.jsonl", "energy.txt", "energy.csv"));
  EXPECT_EQ(read_file(directory() / "energy.txt"),
            "energy_source=a\nenergy_quality=none\n"
            "energy_recovered=the meter was killed before the first sample\n"
            "energy_absent=a: the meter was killed before the first sample\n");
}

TEST_F(RecoverTest, OneThatCannotBeUsedIsToldAndTheOthersAreMade) {
  write("power.a.csv", samples);
  write("power.b.csv", "");
  write("power.model.csv", "watts,hours\n1,2\n");  // of a program
  const RecoveredDirectory recovery = recover_directory(options());
  EXPECT_EQ(recovery.made.size(), 1U);
  EXPECT_EQ(names().count("energy.a.txt"), 1U);
  ASSERT_EQ(recovery.failures.size(), 1U);
  EXPECT_THAT(recovery.failures[0].message(), HasSubstr("power.b.csv is empty"));
}

TEST_F(RecoverTest, ALivingMeterIsLeftAlone) {
  write("power.rank1.csv", samples);
  RunRecord living(directory() / "unfinished.rank1.jsonl");
  add_to(living);
  const auto before = contents();
  try {
    recover();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "a meter still writes " +
                                   (directory() / "power.rank1.csv").string() + " (process " +
                                   std::to_string(::getpid()) + " on " + host_name() + ")");
    EXPECT_EQ(error.hint(), "wait for its end, when it writes the results itself");
  }
  EXPECT_EQ(contents(), before);
}

TEST_F(RecoverTest, AMeterOnAnotherNodeMayBeAliveAsLongAsItsSamplesAreYoung) {
  const double now_s = unix_time_now();
  write("power.csv", samples_since(now_s - 12));
  write_record("unfinished.jsonl", {Format::csv}, "another-node");
  try {
    recover();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr(" s old, and its meter (process "));
    EXPECT_EQ(error.hint(), "try again when it is older than 60 s");
  }
  EXPECT_EQ(names().size(), 2U);
  write("power.csv", samples_since(now_s - 72));
  EXPECT_EQ(recover().size(), 1U);
}

struct RefusalCase {
  std::string name;
  std::vector<std::pair<std::string, std::string>> files;
  std::string suffix;
  std::string message;  ///< `DIR` is the directory.
};
void PrintTo(const RefusalCase& c, std::ostream* out) {
  *out << c.name;
}
class RecoverRefusalTest : public RecoverTest, public testing::WithParamInterface<RefusalCase> {};

TEST_P(RecoverRefusalTest, HasAReasonAndAHintAndWritesNothing) {
  for (const auto& [name, text] : GetParam().files)
    write(name, text);
  const auto before = contents();
  RecoverOptions asked = options();
  if (!GetParam().suffix.empty())
    asked.suffix = GetParam().suffix;
  try {
    recover_directory(asked);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), replace_all(GetParam().message, "DIR", directory().string()));
    EXPECT_NE(error.hint(), "");
  }
  EXPECT_EQ(contents(), before);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, RecoverRefusalTest,
    testing::Values(RefusalCase{"NoLog", {{"other.csv", "x"}}, "", "no power.csv in DIR"},
                    RefusalCase{
                        "NoLogOfThatName", {{"power.csv", samples}}, "a", "no power.a.csv in DIR"},
                    RefusalCase{"Results",
                                {{"power.csv", samples}, {"energy.txt", "energy_wh=1\n"}},
                                "",
                                "DIR/energy.txt is there already"},
                    RefusalCase{"OneOfTheResults",
                                {{"power.csv", samples}, {"energy.json", "{}"}},
                                "",
                                "DIR/energy.json is there already"},
                    RefusalCase{"AMeterThatHasNotBegun",
                                {{"power.csv", ""}},
                                "",
                                "DIR/power.csv is empty, and DIR/unfinished.jsonl is not there"},
                    RefusalCase{"SomethingElse",
                                {{"power.csv", "a,b\n1,2\n"}},
                                "",
                                "the columns are not those of samples"}),
    [](const auto& test) { return test.param.name; });

TEST_F(RecoverTest, ADirectoryThatIsNotThereIsNamed) {
  RecoverOptions asked = options();
  asked.directory = directory() / "missing";
  try {
    recover_directory(asked);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "cannot read " + asked.directory.string() + ": No such file or directory");
  }
}

class RecoverHdf5Test : public Hdf5Test {};

TEST_F(RecoverHdf5Test, KeepsTheSamplesAsTheyWere) {
  write_file("power.csv", samples);
  RecoverOptions h5{
      .directory = file("power.csv").parent_path(), .suffix = {}, .formats = std::set{Format::h5}};
  recover_directory(h5);
  EXPECT_EQ(read_file(file("power.csv")), samples);
  EXPECT_THAT(Hdf5Reader(file("energy.h5")).dimensions("/power"), ElementsAre(2));
}

}  // namespace
}  // namespace bench::energy
