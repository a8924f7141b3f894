#include "data/hdf5_lock.hpp"

#include <mutex>

#ifdef BENCH_STEPS_HDF5
#include <hdf5.h>
#endif

namespace bench::steps {
namespace {

std::recursive_mutex hdf5_mutex;

}  // namespace

Hdf5Lock::Hdf5Lock() : lock_(hdf5_mutex) {
#ifdef BENCH_STEPS_HDF5
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // of this thread, if HDF5 knows threads
#endif
}

}  // namespace bench::steps
