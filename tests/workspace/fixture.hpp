#pragma once

#include "support/temp_directory.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/workspace/workspace.hpp>

namespace bench::workspace {

inline void replace_findings(Workspace& workspace, const std::string& analyser,
                             const std::vector<Finding>& findings) {
  workspace.begin_findings(analyser);
  workspace.add_findings(analyser, findings);
}

/// A workspace in a directory of its own.
class WorkspaceFixture : public testing::Test {
 protected:
  static Workpackage workpackage(long long id, const std::string& step = "run") {
    Workpackage made;
    made.id = id;
    made.step = step;
    made.combination = id;
    made.directory = "d" + std::to_string(id);
    return made;
  }

  static Claimed claim(long long id, const std::string& uuid = "") {
    return {.workpackage = id, .uuid = uuid.empty() ? std::to_string(id) : uuid, .host = "here"};
  }

  /// Makes a workpackage and takes it into this state.
  void add(long long id, State state, const std::string& step = "run") {
    workspace_.replay({Expanded{{}, {workpackage(id, step)}}});
    if (state == State::ready)
      return;
    if (state == State::skipped)
      return workspace_.replay({Skipped{id, "implied"}});
    workspace_.replay({claim(id)});
    if (state == State::submitted)
      workspace_.replay({Submitted{id, "job"}});
    if (state == State::waiting)
      workspace_.replay({Advanced{.workpackage = id, .to = State::waiting, .progress = {}}});
    if (state == State::done || state == State::failed)
      workspace_.replay({ended(id, state == State::done ? Outcome::done : Outcome::failed)});
  }

  static Ended ended(long long id, Outcome outcome) {
    return {.workpackage = id, .attempt = {.outcome = outcome}, .environment = {}};
  }

  support::TempDirectory directory_;
  Workspace workspace_ = Workspace::create(directory_.path(), {{"benchmark", "demo"}});
};

}  // namespace bench::workspace
