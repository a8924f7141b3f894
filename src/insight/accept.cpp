#include <algorithm>
#include <cstddef>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/time.hpp>
#include <bench/insight/accept.hpp>
#include <bench/insight/baseline.hpp>
#include <bench/run/run_status.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workspace.hpp>
#include <bench/workspace/writer_lock.hpp>

namespace bench::insight {

using workspace::Workspace;

Acceptance accept(const workspace::RunDirectory& directory) {
  const workspace::WriterLock lock(directory.path);
  auto workspace = Workspace::open(directory.path, Workspace::Access::write);
  const space::Run run = space::load_run(directory, workspace);
  const auto status = run::status_if_finished(run, workspace);
  if (!status)
    throw Error(Id::wrong_state,
                fmt::format("cannot accept run {}: it has not finished", directory.id),
                "collect its workpackages with `bench continue`");
  if (std::ranges::none_of(status->counts, [](const auto& step) { return step.done > 0; }))
    throw Error(Id::wrong_state,
                fmt::format("cannot accept run {}: no workpackage is done", directory.id),
                "`bench info` shows why");
  workspace.set_fact("accepted", local_time_at(unix_time_now()));
  return {.fingerprint = short_name_of(fingerprint_of(run.metadata)),
          .failed = static_cast<std::size_t>(status->failed())};
}

void revoke(const workspace::RunDirectory& directory) {
  const workspace::WriterLock lock(directory.path);
  Workspace::open(directory.path, Workspace::Access::write).set_fact("accepted", "");
}

}  // namespace bench::insight
