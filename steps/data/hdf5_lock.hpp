#pragma once

namespace bench::steps {

/// The right to call HDF5, or netCDF, which calls HDF5: neither may be called by two threads at
/// once. HDF5 then prints no errors.
///
/// A thread may hold several. Others wait and get their turn in the order in which they came: a
/// mutex would let a thread that reads sample after sample keep it. All threads of a process
/// together read as fast as one does.
class Hdf5Lock {
 public:
  Hdf5Lock();
  Hdf5Lock(const Hdf5Lock&) = delete;
  Hdf5Lock& operator=(const Hdf5Lock&) = delete;
  ~Hdf5Lock();
};

}  // namespace bench::steps
