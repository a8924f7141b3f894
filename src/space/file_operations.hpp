#pragma once

#include <vector>

#include <bench/machine/file_operation.hpp>
#include <bench/machine/job.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/render_context.hpp>

namespace bench::job {

/// Makes the directory of a workpackage, with the links to its parents' and its step's shared
/// directories, and the directory that its step works in, if it has one of its own.
execute::FileOperation make_directory(const RenderContext& context, const workflow::Graph& graph);

/// Everything that fills a workpackage's directory: snippets for the `prepare` commands of its file
/// sets, with what comes before each of them.
/// @param operations so far; afterwards those that follow the last snippet
std::vector<execute::Snippet> render_files(const RenderContext& context,
                                           std::vector<execute::FileOperation>& operations);

}  // namespace bench::job
