#pragma once

#include <bench/space/render_context.hpp>

namespace bench::space {

/// Whether the output of a workpackage that failed says that it had too little memory, in the words
/// of step programs, PyTorch, TensorFlow, JAX, CUDA, HIP, C++, Python and the kernel. Only the end
/// of each file is read.
bool says_out_of_memory(const RenderContext& context);

}  // namespace bench::space
