#pragma once

#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/machine/job.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::run {

/// Is told of the progress of a run. Called from the loop, often: be quick.
class Observer {
 public:
  virtual ~Observer() = default;
  /// @param counts one entry per step of the benchmark, in order
  virtual void progress(const std::vector<workspace::StepCounts>& counts) = 0;
  virtual void failed(const workspace::Workpackage& workpackage) = 0;
  /// An attempt has failed, and the workpackage is made again.
  virtual void repeated(const workspace::Workpackage& workpackage, const std::string& reason) = 0;
  /// Commands of a workpackage are about to start here, or to go on.
  virtual void started(const machine::Job& /*job*/) {}
  /// They have ended, well or not.
  virtual void stopped(long long /*workpackage*/) {}
  /// Something that the user should know and that is not an error.
  virtual void notice(const std::string& message) = 0;
  /// A likely mistake in the input.
  virtual void warn(const Warning& warning) = 0;
};

}  // namespace bench::run
