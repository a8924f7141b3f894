#pragma once

#include <string>

#include <bench/model/benchmark.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// A stretch of a workpackage that runs without returning to the scheduler: its files, and the
/// commands of one cycle from `begin` up to one that watches a file, to one before a shared one, or
/// to the last. A batch step's commands are one segment, its job script; its files are one of their
/// own before it, since they are prepared here.
struct ExecutionSegment {
  bool files = false;   ///< Makes the directory, the files and the substitutions.
  bool script = false;  ///< The job script of a batch step.
  bool shared = false;  ///< One shared command, for all workpackages of the step.
  int begin = 0;        ///< Indices into the step's commands.
  int end = 0;
};

/// The segment that a workpackage executes next.
ExecutionSegment next_segment(const model::Benchmark& benchmark, const model::Step& step,
                              const workspace::Progress& progress);

/// Twelve digits that identify the next part of a workpackage among all parts of all workpackages.
/// The UUIDs of its attempts end in them.
std::string segment_digits(const workspace::Workpackage& workpackage);

/// Whether anybody needs to know the environment that the part leaves.
bool keeps_environment(const model::Step& step, const ExecutionSegment& segment,
                       const workspace::Progress& progress);

/// Whether a batch system runs what the batch settings of the step are for.
bool is_scheduled(const Run& run, const model::Step& step);
/// Whether a batch system runs the next segment of the workpackage.
bool is_scheduled(const Run& run, const workspace::Workpackage& workpackage);

/// Whether a command watches files after its execution: `done_file`, `error_file`, `break_file`.
bool watches(const model::Command& command);

/// Whether a workpackage that is before this command of the step waits there for the others.
bool is_barrier(const model::Step& step, int command);
/// Whether the workpackage is waiting until the others of its step reach the shared command, too.
/// A waiting one otherwise waits for a file.
bool waits_at_barrier(const model::Step& step, const workspace::Workpackage& workpackage);

/// What the files that a command watches say after it was executed.
struct Watched {
  enum class State {
    finished,  ///< Go on with the next command.
    waiting,   ///< Its `done_file` is not there yet.
    broken,    ///< Its `break_file` is there: the workpackage is done.
    failed     ///< Its `error_file` is there.
  };
  State state = State::finished;
  std::string file;  ///< Which file says so.
};

/// For the files of a command that `watches`, which are relative to where it ran.
Watched check_files(const model::Command& command, const RenderContext& context);

/// Whether the output of a workpackage that failed says that it had too little memory, in the words
/// of step programs, PyTorch, TensorFlow, JAX, CUDA, HIP, C++, Python and the kernel. Only the end
/// of each file is read.
bool says_out_of_memory(const RenderContext& context);

}  // namespace bench::space
