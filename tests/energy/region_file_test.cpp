#include "energy/fixtures.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/energy/core/region_book.hpp>
#include <bench/energy/core/ticks.hpp>

namespace bench::energy {
namespace {

using testing::ElementsAre;

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

}  // namespace
}  // namespace bench::energy
