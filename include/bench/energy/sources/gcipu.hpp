#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bench/energy/core/power_source.hpp>

namespace bench::energy {

/// How to run the vendor's Python module.
struct GcipuSettings {
  std::string python = "python3";
  double patience_s = 8;  ///< Finding the devices over the network takes the library seconds.
};

/// What gcipuinfo says of one IPU.
struct Ipu {
  std::string id;
  std::string board_type;
  std::string board;        ///< Serial number, by which the IPUs of one board find each other.
  std::string power;        ///< `112.34W`, or `N/A`.
  std::string board_power;  ///< `12.6 W`, likewise.
};

/// The IPUs in one line of the helper's output; empty if it is something else.
std::vector<Ipu> parse_ipus(std::string_view line);

/// `112.34W` or `12.6 W`; nothing for `N/A`.
std::optional<double> ipu_watts(std::string_view text);

/// Graphcore IPUs of the active partition: `gcipu:0:ipu` each, without their host and the gateway
/// of an IPU-Machine, and `gcipu:0:board` for a PCIe card that tells the power of its whole board.
/// Power only. An IPU that has no value at the moment (`N/A`, as idle ones have) keeps its place.
///
/// The vendor's library, gcipuinfo, has no C interface, and C++ objects cannot cross to a library
/// of another compiler; so its Python module runs in its own process, in update mode (else
/// every value stays what it was at the start), and prints a line ten times a second.
/// Source: Graphcore, gcipuinfo library (3.1 Querying attributes; 6 API reference) and Command line
/// tools (20 Device attributes).
/// @throws bench::Error if there is no such module or no IPU
std::unique_ptr<PowerSource> open_gcipu(const GcipuSettings& settings = {});

}  // namespace bench::energy
