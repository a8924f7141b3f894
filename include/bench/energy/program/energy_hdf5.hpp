#pragma once

#include "provenance.hpp"

#include <filesystem>
#include <span>

#include <bench/energy/core/measurement.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/hdf5_library.hpp>
#include <bench/energy/program/jpwr.hpp>

namespace bench::energy {

// All throw bench::Error if the file cannot be written.

/// Our own HDF5 file: a table `power` with the columns of the power log, a table `energy` with
/// those of `energy_table` (numbers are doubles, absent ones NaN), and as attributes of the file
/// what `provenance_values` holds. h5py reads a table as a structured array, pandas by `read_hdf`.
void write_energy_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                       const EnergyTable& table, const Measurement& measurement,
                       const Provenance& provenance, const std::filesystem::path& power_log);

// jpwr's files: one object of pandas each, under the key `jpwr`, in what pandas calls the fixed
// format. Layout: as pandas 1.5 writes it, looked at with h5py.

/// Its power: a frame of the columns of the power log but for the row's number.
void write_jpwr_power_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                           const std::filesystem::path& power_log);
/// Its energy: a series.
void write_jpwr_energy_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                            std::span<const JpwrEnergy> energies);
/// Its energy from counters: a frame of one row.
void write_jpwr_counter_hdf5(const Hdf5Library& library, const std::filesystem::path& file,
                             std::span<const JpwrEnergy> energies);

}  // namespace bench::energy
