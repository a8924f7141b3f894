#pragma once

#include <string>
#include <vector>

#include <bench/base/diagnostics.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::run {

/// The members of a JSON object as parameters: `{"batch_size": 64, "precision": "bf16"}`. A number
/// keeps its JSON text.
/// @throws Error if the text is not such an object, or a value is neither text, number nor boolean
workspace::Parameters point_from_json(const std::string& text);

/// The workpackages at a point.
struct AddedPoint {
  std::vector<long long> workpackages;  ///< Ascending.
  bool is_new = false;                  ///< They did not exist before.
};

/// Adds a point to a step of a run, once for each combination of the step's other parameters, with
/// all of its iterations. Nothing starts. The caller holds the writer lock.
/// @param step empty: the first one that has all these parameters
/// @throws Error if no step has them, if the step has no workpackage yet, if `where` or `active`
/// drops the point, and as the expansion of a run does
AddedPoint add_point(const space::Run& run, workspace::Workspace& workspace,
                     const workspace::Parameters& point, const std::string& step,
                     Diagnostics& diagnostics);

}  // namespace bench::run
