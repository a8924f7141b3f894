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

  static Claim claim(long long id, const std::string& uuid = "") {
    return {.workpackage = id, .uuid = uuid.empty() ? std::to_string(id) : uuid, .host = "here"};
  }

  /// Makes a workpackage and takes it into this state.
  void add(long long id, State state, const std::string& step = "run") {
    workspace_.apply({.created = {workpackage(id, step)}});
    if (state == State::ready)
      return;
    workspace_.apply({.claims = {claim(id)}});
    if (state == State::submitted)
      workspace_.apply({.submissions = {{id, "job"}}});
    if (state == State::done || state == State::failed)
      workspace_.apply(
          {.endings = {{.workpackage = id,
                        .outcome = state == State::done ? Outcome::done : Outcome::failed}}});
  }

  support::TempDirectory directory_;
  Workspace workspace_ = Workspace::create(directory_.path(), {{"benchmark", "demo"}});
};

}  // namespace bench::workspace
