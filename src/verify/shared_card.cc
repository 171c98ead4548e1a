#include "verify/shared_card.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "core/evaluation.h"

namespace pragma {
namespace {

// How drivers, Torch and its libraries say it.
bool SpeaksOfMemory(std::string_view text) {
  constexpr std::array<std::string_view, 5> kSigns{"out of memory", "OutOfMemoryError",
                                                   "the device has no room", "ALLOC_FAILED",
                                                   "ERROR_OUT_OF_MEMORY"};
  return std::ranges::any_of(kSigns, [&](std::string_view sign) { return text.contains(sign); });
}

}  // namespace

bool RanOutOfMemory(const Result<Evaluation>& outcome) {
  if (!outcome) return SpeaksOfMemory(outcome.error().message);
  if (outcome->passed()) return false;
  return outcome->status == Status::kOutOfMemory || SpeaksOfMemory(outcome->reason) ||
         SpeaksOfMemory(outcome->log);
}

Result<Evaluation> JudgeOnSharedCard(const SharedCard& card) {
  Result<Evaluation> first = card.judge();
  if (!RanOutOfMemory(first) || !card.has_neighbour()) return first;
  Log(LogLevel::kInfo,
      "the GPU's memory ran out while another program used it; judging once more when there is "
      "room");
  TRY(card.make_room());
  Result<Evaluation> second = card.judge();
  if (!RanOutOfMemory(second) || !card.has_neighbour()) return second;
  return Fail(ErrorKind::kUnavailable,
              "the GPU's memory ran out twice while another program used it, so the kernel was not "
              "judged; run it again when the GPU is free, or name another one with --devices");
}

}  // namespace pragma
