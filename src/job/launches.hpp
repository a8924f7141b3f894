#pragma once

#include <string>

#include <bench/job/render_context.hpp>
#include <bench/model/benchmark.hpp>

namespace bench::job {

/// Programs behind `$jube_starter` are measured where they run, the others with all commands.
bool uses_launcher(const model::Step& step);

/// How many programs of a step are measured one by one: how often its active commands name
/// `$jube_starter`, or 1 where nothing is measured and it does not matter.
int measured_launches(const RenderContext& context);

/// The text of a command with each `$jube_starter` as `${jube_starter_K}`.
/// @param count of those before, to which these are added
std::string with_numbered_launches(const std::string& text, int& count);

/// The variable of the K-th launch, and where its meter writes, below the directory of the
/// commands. One alone writes into that; several would each replace the files of the one before.
std::string launch_variable(int number);
std::string energy_directory(int number);

/// What a job script does when its measured programs have ended, as bench reads one `energy.txt`:
/// meters on several nodes have written a file each, those of several launches in a directory each.
std::string collect_energy(int launches);

}  // namespace bench::job
