// Provider "samples": where the program counter is, sampled on one thread.
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "build/block_counters.h"
#include "core/profile.h"
#include "machine/machine.h"
#include "profile/builds.h"
#include "profile/providers.h"
#include "profile/serial_share.h"
#include "profile/workpiece.h"

namespace pragma {
namespace {

constexpr double kFewSamples = 50;

struct Outside {
  double all = 0;
  double libm = 0;
  double libc = 0;
};

bool IsMathLibrary(std::string_view library) {
  return library.starts_with("libm.") || library.starts_with("libm-") ||
         library.starts_with("libmvec");
}

void AddPlace(const std::vector<std::string>& line, Workpiece& piece) {
  const std::size_t index = std::strtoull(line[1].c_str(), nullptr, 10);
  const double count = std::strtod(line[2].c_str(), nullptr);
  if (index >= piece.builds->places.size()) return;
  const CodePlace& place = piece.builds->places[index];
  if (place.block < piece.block_samples.size()) piece.block_samples[place.block] += count;
  piece.lines[place.source_line].samples += count;
  piece.samples += count;
}

Outside ReadSamples(const HostReport& report, Workpiece& piece) {
  Outside outside;
  piece.block_samples.assign(piece.builds->assembly.blocks.size(), 0);
  for (const std::vector<std::string>& line : report.lines) {
    if (line.size() < 3) continue;
    if (line[0] == "place") AddPlace(line, piece);
    if (line[0] != "outside" || line[2] == "pragma-profiler") continue;
    const double count = std::strtod(line[1].c_str(), nullptr);
    outside.all += count;
    if (IsMathLibrary(line[2])) outside.libm += count;
    if (line[2].starts_with("libc.") || line[2].starts_with("libc-")) outside.libc += count;
  }
  piece.samples += outside.all;
  return outside;
}

}  // namespace

Result<ProviderNote> AddSamples(Workpiece& piece) {
  ProviderNote note{.name = "samples", .verdict = "ran", .detail = {}};
  const MachineLock lock = TRY(MachineLock::Take(MachineLock::Kind::kExclusive));
  const HostReport report =
      TRY(RunHost(piece, {.mode = "samples", .object = kPlainObject, .options = {"seconds=0.5"}}));
  if (!report.failure.empty()) {
    note.verdict = "failed";
    note.detail = report.failure;
    return note;
  }
  const Outside outside = ReadSamples(report, piece);
  if (piece.samples < kFewSamples) note.detail = "few samples: shares of lines are rough";
  if (piece.samples <= 0) return note;
  piece.metrics.Add("outside_share", outside.all / piece.samples, "1", "sampled");
  piece.metrics.Add("libm_share", outside.libm / piece.samples, "1", "sampled");
  if (const auto serial = SerialShare(piece.builds->assembly, piece.block_samples, outside.libc))
    piece.metrics.Add("serial_share", *serial, "1", "sampled");
  return note;
}

}  // namespace pragma
