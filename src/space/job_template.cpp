#include "job_template.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <bench/machine/job_template.hpp>
#include <bench/space/run.hpp>

namespace bench::job {
namespace {

namespace fs = std::filesystem;

/// Beside the benchmark first, then beside the platform's file.
std::vector<fs::path> template_directories(const setup::Run& run) {
  const fs::path beside = run.platform.file.parent_path();
  return {run.metadata.home, fs::path(run.metadata.home) / "templates", beside,
          beside.parent_path() / "templates"};
}

}  // namespace

const platform::JobTemplates::Template& job_template(const setup::Run& run,
                                                     const std::string& name) {
  return run.job_templates.read(name, template_directories(run));
}

}  // namespace bench::job
