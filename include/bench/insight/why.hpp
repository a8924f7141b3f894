#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <bench/insight/run_view.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::insight {

/// One thing to say: what it is about, and the text, which may have several lines.
struct Remark {
  std::string about;
  std::string text;
};

/// What a user can do for a workpackage.
enum class Remedy {
  none,
  go_on,       ///< `bench continue`.
  make_again,  ///< `bench remove` of the workpackage, then `bench continue`.
  make_parent_again
};

/// Why a workpackage is where it is.
struct Explanation {
  std::vector<Remark> remarks;
  std::vector<std::filesystem::path> output;  ///< What tells of it: standard error first.
  /// Where patterns found nothing: the beginnings and ends of these files tell why.
  std::vector<std::filesystem::path> searched;
  Remedy remedy = Remedy::none;
};

/// Reads the workspace and the files of the run, and asks the batch system that has the
/// workpackage. Executes nothing of the benchmark and changes nothing.
/// @throws Error if there is none with this id
Explanation explain(const space::Run& run, const RunView& view, long long id);

/// What has become of a point of the parameter space in one step.
struct PointInStep {
  std::string step;
  std::vector<long long> workpackages;  ///< That stand on it, ascending.
  std::vector<Remark> absence;          ///< Why there is none, as far as it can be told.
};

/// Looks for the workpackages whose parameters have these values; numbers are compared as numbers.
/// @param only the step to look in; empty: every step that has all these parameters
/// @throws Error with a did-you-mean for a parameter that no step has
std::vector<PointInStep> find_point(const space::Run& run, const RunView& view,
                                    const workspace::Parameters& point, const std::string& only);

/// The tag expressions of the input file under which a parameter has a value, each once; those on
/// the way to it are joined by `+`. Nothing where the file has changed since the run was made, or
/// takes in others, which may have: it would tell of another benchmark.
/// @param value none: any
std::vector<std::string> tags_giving(const space::Run& run, const std::string& parameter,
                                     const std::optional<std::string>& value);

}  // namespace bench::insight
