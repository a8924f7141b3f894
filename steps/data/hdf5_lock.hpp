#pragma once

#include <mutex>

namespace bench::steps {

/// The right to call HDF5, or netCDF, which calls HDF5: neither may be called by two threads at
/// once. HDF5 then prints no errors.
///
/// A thread may hold several. Others wait, so all threads of a process together read as fast as one
/// does.
class Hdf5Lock {
 public:
  Hdf5Lock();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

}  // namespace bench::steps
