#pragma once

#include <filesystem>
#include <string>

#include <bench/model/benchmark.hpp>
#include <bench/space/render_context.hpp>

namespace bench::space {

/// Whether a command of the step names `$jube_starter`, active or not.
bool uses_launcher(const model::Step& step);

/// How many programs of a workpackage are measured one by one, where they run: how often its active
/// commands name `$jube_starter`. 0: one meter measures all commands together, or none does.
int measured_launches(const RenderContext& context);

/// The text of a command with each `$jube_starter` as `${jube_starter_K}`.
/// @param count of those before, to which these are added
std::string with_numbered_launches(const std::string& text, int& count);

/// The variable of the K-th launch.
std::string launch_variable(int number);

/// Where the meter of the K-th launch writes: the workpackage's own work directory, since other
/// workpackages may have the same `work_dir`, or a directory below it, since several launches or
/// cycles would each replace the files of the one before. Without `$jube_starter` the first is all
/// commands.
std::filesystem::path energy_directory(const RenderContext& context, int launches, int number);

/// Removes what meters of an earlier attempt left there. One on other nodes has written other
/// files, which would be added to those of the next.
void remove_earlier_energy(const RenderContext& context);

/// What a job script does when its measured programs have ended, as bench reads one `energy.txt`:
/// meters on several nodes have written a file each, those of several launches and cycles in a
/// directory each. Any cycle may be the last. Empty: there is one meter.
std::string collect_energy(const RenderContext& context, int launches);

}  // namespace bench::space
