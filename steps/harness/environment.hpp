#pragma once

#include "harness/arguments.hpp"

namespace bench::steps {

/// Sets threads and seed, and warns on stderr about a BLAS that spoils measurements. Prints as
/// `name=value` what of the surroundings decides the result: versions, device, threads, BLAS, and
/// the environment variables that the libraries read.
/// @throws OutOfMemory if products on the CPU have no memory to work in
void set_up_environment(const CommonArguments& arguments, const torch::Device& device);

}  // namespace bench::steps
