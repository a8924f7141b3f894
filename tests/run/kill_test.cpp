#include "run/sequencer.hpp"
#include "run/store_fixture.hpp"
#include "space/run_fixture.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/outcome.hpp>
#include <bench/machine/job.hpp>
#include <bench/workspace/event.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {
namespace {

using workspace::State;
using workspace::Workpackage;

/// A run whose bench is killed again and again. Its commands are not executed: how each of them
/// ends follows from what it belongs to.
class KillTest : public StoreFixture, public testing::WithParamInterface<unsigned> {
 protected:
  static constexpr const char* benchmark =
      "parameterset: [{name: p, parameter: {n: [1, 2, 3, 4]}}, {name: q, parameter: {m: [1, 2]}}]\n"
      "step: [{name: a, use: p, do: [x, {done_file: f}], retry: {times: 1, on: timeout}},\n"
      "       {name: b, use: q, cycles: 2, shared: d, do: [x, {shared: true, _: y}, z]},\n"
      "       {name: c, depend: 'a,b', iterations: 2, procs: 3},\n"
      "       {name: d, depend: c}]\n";

  static Outcome outcome_of(const Workpackage& workpackage) {
    std::string key = workpackage.step + std::to_string(workpackage.iteration);
    for (const auto& [name, value] : workpackage.parameters)
      key += name + value;
    const unsigned kind = std::accumulate(key.begin(), key.end(), 0U) % 8;
    if (workpackage.step != "b" && kind == 0)
      return Outcome::failed;
    return kind < 3 && workpackage.retries == 0 && workpackage.step == "a" ? Outcome::timeout
                                                                           : Outcome::done;
  }

  /// @returns whether anything happened
  bool tick() {
    Sequencer sequencer(run_, *store_, evaluator_);
    store_->expand_released();
    sequencer.pass_barriers();
    const std::vector<long long> started = start_all();
    for (const long long id : started) {
      machine::Completion completion;
      completion.workpackage = id;
      completion.outcome = outcome_of(store_->at(id));
      sequencer.conclude(completion);
    }
    if (!started.empty())
      return true;
    // Nothing runs: the file of one comes.
    for (const long long id : queues().waiting())
      if (store_->at(id).step == "a") {
        const auto work = run_.directory.path / store_->at(id).directory / "work";
        std::filesystem::create_directories(work);
        std::ofstream(work / "f") << "";
        sequencer.check_watch_files(id);
        return true;
      }
    return store_->has_events();
  }

  /// Only these of the events reach the workspace, and another bench recovers.
  void kill_after(std::size_t events) {
    workspace::Events reached = store_->take_events();
    reached.erase(reached.begin() + static_cast<std::ptrdiff_t>(std::min(events, reached.size())),
                  reached.end());
    workspace_->replay(reached);
    store_.emplace(run_, *workspace_, evaluator_);
    if (store_->all().empty())
      store_->expand_first();
    for (const Workpackage& workpackage : store_->all())
      if (workpackage.state == State::running)
        interrupt(workpackage.id);
  }

  /// Everything but what counts kills, and ids, which depend on when files come.
  std::vector<std::string> end_of_run() {
    std::vector<std::string> texts;
    for (const Workpackage& workpackage : store_->all()) {
      Workpackage one = workpackage;
      one.id = one.combination = 0;
      one.parents.clear();
      texts.push_back(space::text_of(one) + " " +
                      std::string(workspace::name_of(workpackage.state)) + " " +
                      std::to_string(workpackage.retries) + " " + workpackage.reason);
    }
    std::ranges::sort(texts);
    return texts;
  }

  std::vector<std::string> finish() {
    while (tick())
      write();
    for (const Workpackage& workpackage : store_->all())
      EXPECT_TRUE(workpackage.has_ended()) << workpackage.id;
    return end_of_run();
  }
};

TEST_P(KillTest, ARunThatIsKilledAnywhereContinuesToTheSameEnd) {
  begin(benchmark);
  const std::vector<std::string> expected = finish();
  ASSERT_GT(expected.size(), 20U);
  begin(benchmark);
  std::minstd_rand random(GetParam() + 1);
  for (int kill = 0; kill < 25; ++kill) {
    for (std::size_t ticks = random() % 4; ticks > 0 && tick();)
      --ticks;
    kill_after(random() % 12);
  }
  EXPECT_EQ(finish(), expected);
}

INSTANTIATE_TEST_SUITE_P(Seeds, KillTest, testing::Range(0U, 20U));

}  // namespace
}  // namespace bench::run
