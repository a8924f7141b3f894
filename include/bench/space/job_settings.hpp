#pragma once

#include <map>
#include <string>

#include <bench/base/diagnostics.hpp>
#include <bench/machine/job_template.hpp>
#include <bench/machine/platform.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>

namespace bench::space {

/// What a job asks for beside its size, by the names of `document::job_settings`; empty: nothing.
/// `exclusive` is `yes` or empty.
using JobSettings = std::map<std::string, std::string, std::less<>>;

/// The settings of a workpackage's job: those of its step, parameters inserted, and the platform's
/// where the step says nothing.
/// @throws Error with the place of a value that a directive cannot hold
JobSettings job_settings_of(const RenderContext& context);

/// Partition, account, QOS and reservation among them.
machine::SubmissionDefaults asking_of(const JobSettings& settings);

/// The further options of the step as directives of the platform's batch system, a line each.
/// @throws Error with the place of an option that is none, that a directive cannot hold, or that
/// bench sets itself
std::string option_lines(const RenderContext& context);

/// @throws Error with the place of a setting of the step that this job template has no variable for
void check_settings(const Run& run, const model::Step& step, const std::string& text,
                    const std::string& name);

/// Checks the job templates of all batch steps before a run: settings without a variable are
/// errors, and names of parameters that stay as written give a warning.
void check_templates(const Run& run, Diagnostics& diagnostics);

/// A job template: beside the benchmark, beside the platform's file, or among the shipped ones.
/// @throws Error if there is none
const machine::JobTemplates::Template& job_template(const Run& run, const std::string& name);

}  // namespace bench::space
