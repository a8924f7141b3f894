#include "energy/fixtures.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/region_book.hpp>
#include <bench/energy/core/ticks.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The lines that a listener was told.
class Heard {
 public:
  RegionFile::Listener listener() {
    return [this](std::string_view line, Clock::time_point received) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
      received_ = received;
    };
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  Clock::time_point received() const {
    const std::lock_guard lock(mutex_);
    return received_;
  }
  bool wait_for(std::size_t count) const {
    for (int k = 0; k < 2000 && lines().size() < count; ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return lines().size() >= count;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  Clock::time_point received_;
};

TEST(RegionFile, TellsOfLinesAsTheyCome) {
  const TemporaryDirectory directory;
  RegionFile file(directory.path() / "regions.log");
  Heard heard;
  file.listen(heard.listener());
  const auto before = Clock::now();
  append_to_file(file.path(), "begin a\nend");
  ASSERT_TRUE(heard.wait_for(1));
  EXPECT_GE(heard.received(), before);
  append_to_file(file.path(), " a\n");
  ASSERT_TRUE(heard.wait_for(2));
  file.stop();
  EXPECT_THAT(heard.lines(), ElementsAre("begin a", "end a"));
}

TEST(RegionFile, ReadsTheRestBeforeItStops) {
  const TemporaryDirectory directory;
  RegionFile file(directory.path() / "regions.log");
  Heard heard;
  file.listen(heard.listener());
  std::string many;
  for (int k = 0; k < 5000; ++k)
    many += "begin a\nend a\n";
  append_to_file(file.path(), many + "begin b");
  file.stop();
  EXPECT_EQ(heard.lines().size(), 10001U);
  EXPECT_EQ(heard.lines().back(), "begin b");
}

TEST(RegionFile, MayBeStartedAnewByTheProgram) {
  const TemporaryDirectory directory;
  RegionFile file(directory.path() / "regions.log");
  Heard heard;
  file.listen(heard.listener());
  append_to_file(file.path(), "begin a long name\n");
  ASSERT_TRUE(heard.wait_for(1));
  std::ofstream(file.path()) << "end a\n";
  file.stop();
  EXPECT_EQ(heard.lines().back(), "end a");
}

TEST(RegionFile, StaysWhereItHasAName) {
  const TemporaryDirectory directory;
  const auto name = directory.path() / "regions.log";
  append_to_file(name, "of an earlier run\n");
  { const RegionFile file(name); }
  EXPECT_EQ(read_file(name), "");
}

TEST(RegionFile, GoesAwayWhereItHasNone) {
  std::filesystem::path name;
  {
    const RegionFile file("");
    name = file.path();
    EXPECT_TRUE(std::filesystem::exists(name));
  }
  EXPECT_FALSE(std::filesystem::exists(name));
}

TEST(RegionFile, InADirectoryThatIsNotThereIsAnError) {
  EXPECT_THROW(RegionFile("/nowhere/regions.log"), Error);
}

struct LineCase {
  std::string line;
  std::optional<RegionMark> expected;
};
void PrintTo(const LineCase& c, std::ostream* out) {
  *out << c.line;
}
class RegionMarkTest : public testing::TestWithParam<LineCase> {};

TEST_P(RegionMarkTest, IsALineOfTheProtocolOrNone) {
  const auto mark = parse_region_mark(GetParam().line);
  const auto& expected = GetParam().expected;
  ASSERT_EQ(mark.has_value(), expected.has_value());
  if (!mark)
    return;
  EXPECT_EQ(mark->begins, expected->begins);
  EXPECT_EQ(mark->name, expected->name);
  EXPECT_EQ(mark->monotonic_ns, expected->monotonic_ns);
}

INSTANTIATE_TEST_SUITE_P(
    Energy, RegionMarkTest,
    testing::Values(LineCase{"begin train", RegionMark{true, "train", {}}},
                    LineCase{"end train", RegionMark{false, "train", {}}},
                    LineCase{"begin  epoch 1 \r", RegionMark{true, "epoch 1", {}}},
                    LineCase{"begin@1234567890123 a", RegionMark{true, "a", 1234567890123}},
                    LineCase{"end@-5 a", RegionMark{false, "a", -5}},
                    LineCase{"begin " + std::string(200, 'x'),
                             RegionMark{true, std::string(100, 'x'), {}}},
                    LineCase{"", {}}, LineCase{"begin", {}}, LineCase{"begin ", {}},
                    LineCase{"beginning x", {}}, LineCase{"end@ x", {}}, LineCase{"end@7x", {}},
                    LineCase{"stop x", {}}));

class RegionBookTest : public testing::Test {
 protected:
  std::optional<RegionEdge> begin(const std::string& name, double time_s) {
    return book_.take({.begins = true, .name = name, .monotonic_ns = {}}, time_s);
  }
  std::optional<RegionEdge> end(const std::string& name, double time_s) {
    return book_.take({.begins = false, .name = name, .monotonic_ns = {}}, time_s);
  }

  RegionBook book_;
};

TEST_F(RegionBookTest, NumbersRegionsAndAddsUpTheirTimes) {
  EXPECT_EQ(begin("load", 0.5)->region, 0U);
  EXPECT_TRUE(begin("train", 1)->begins);
  EXPECT_EQ(end("load", 2)->region, 0U);
  EXPECT_FALSE(end("train", 3)->begins);
  EXPECT_EQ(begin("load", 4)->time_s, 4);
  end("load", 4.25);
  ASSERT_EQ(book_.regions().size(), 2U);
  EXPECT_EQ(book_.regions()[0].name, "load");
  EXPECT_EQ(book_.regions()[0].count, 2U);
  EXPECT_DOUBLE_EQ(book_.regions()[0].duration_s, 1.75);
  EXPECT_DOUBLE_EQ(book_.regions()[1].duration_s, 2);
  EXPECT_THAT(book_.warnings(), IsEmpty());
}

TEST_F(RegionBookTest, CountsARegionInItselfOnce) {
  EXPECT_TRUE(begin("a", 1));
  EXPECT_FALSE(begin("a", 2));
  EXPECT_FALSE(end("a", 3));
  EXPECT_TRUE(end("a", 4));
  EXPECT_EQ(book_.regions()[0].count, 1U);
  EXPECT_DOUBLE_EQ(book_.regions()[0].duration_s, 3);
}

TEST_F(RegionBookTest, EndsWithTheRun) {
  begin("a", 1);
  const auto edges = book_.close(5);
  ASSERT_EQ(edges.size(), 1U);
  EXPECT_EQ(edges[0].time_s, 5);
  EXPECT_DOUBLE_EQ(book_.regions()[0].duration_s, 4);
  EXPECT_THAT(book_.warnings(), ElementsAre("a region was still open at the end; it ends there"));
}

TEST_F(RegionBookTest, CountsTheRegionsThatAreLeftOpen) {
  for (const char* name : {"a", "b", "c"})
    begin(name, 1);
  book_.close(5);
  EXPECT_THAT(book_.warnings(),
              ElementsAre("3 regions were still open at the end; they end there"));
}

TEST_F(RegionBookTest, DoesNotBeginBeforeTheRun) {
  EXPECT_EQ(begin("a", -0.1)->time_s, 0);
}

TEST_F(RegionBookTest, TellsOfMarksThatMakeNoSense) {
  EXPECT_FALSE(end("a", 1));
  book_.note_nonsense("start a");
  book_.note_nonsense("b");
  EXPECT_THAT(book_.warnings(),
              ElementsAre("2 of the program's marks are not `begin NAME` or `end NAME`: start a",
                          "the program ended a region once that it had not begun"));
}

TEST_F(RegionBookTest, HasRoomForAThousandNames) {
  for (int k = 0; k < 1000; ++k) {
    EXPECT_TRUE(begin(std::to_string(k), k));
    EXPECT_TRUE(end(std::to_string(k), k + 0.5));
  }
  EXPECT_FALSE(begin("another", 2000));
  EXPECT_FALSE(end("another", 2001));
  EXPECT_TRUE(begin("5", 2002));
  EXPECT_EQ(book_.regions().size(), 1000U);
  EXPECT_THAT(book_.warnings(),
              ElementsAre("the program has more than 1000 regions; the others have no energy"));
}

}  // namespace
}  // namespace bench::energy
