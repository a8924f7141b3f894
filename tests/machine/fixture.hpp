#pragma once

#include "support/eventually.hpp"
#include "support/temp_directory.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/files.hpp>
#include <bench/base/uuid.hpp>
#include <bench/machine/local.hpp>

namespace bench::machine {

/// Attempts in a directory of their own, and a backend that runs them.
class LocalFixture : public testing::Test {
 protected:
  LocalFixture() { std::filesystem::create_directory(work_); }

  Job bare_job() const {
    Job job;
    job.workpackage = 7;
    job.uuid = uuid_;
    job.directory = directory_.path();
    job.work_directory = work_;
    job.environment = current_environment();
    set_variable(job.environment, "BENCH_ATTEMPT", uuid_);
    job.sentinel = directory_.path() / "sentinel";
    return job;
  }

  Job job(const std::vector<std::string>& texts) const {
    Job job = bare_job();
    for (const std::string& text : texts)
      job.snippets.push_back({.text = text,
                              .stdout_file = work_ / "stdout",
                              .stderr_file = work_ / "stderr",
                              .name = "`" + text + "`"});
    return job;
  }

  Job script_job(const std::string& script) const {
    Job job = bare_job();
    job.script = directory_.write("job.sh", script);
    return job;
  }

  /// What ends next.
  Completion next() {
    std::vector<Completion> completions;
    support::eventually([&] {
      completions = backend_.wait(1);
      return !completions.empty();
    });
    return completions.empty() ? Completion{{.reason = "(nothing ended)"}} : completions.front();
  }

  Completion run(Job job) {
    backend_.start(std::move(job));
    return next();
  }

  std::string output(const std::string& name = "stdout") const { return read_file(work_ / name); }

  support::TempDirectory directory_;
  std::filesystem::path work_ = directory_.path() / "work";
  std::string uuid_ = make_uuid();
  evaluate::Evaluator evaluator_;
  LocalBackend backend_{evaluator_};
};

}  // namespace bench::machine
