#include "agent/plan_reply.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/anchors.h"
#include "base/text.h"
#include "core/advice.h"
#include "llm/completion.h"
#include "llm/reply.h"

namespace pragma {
namespace {

constexpr std::size_t kPlanBytes = std::size_t{1} << 20U;  // longer replies are not examined
constexpr std::string_view kMark = "<<<IMPROVE";

// Returns the last block that contains a marker.
const FencedBlock* MarkedBlock(const std::vector<FencedBlock>& blocks) {
  const FencedBlock* marked = nullptr;
  for (const FencedBlock& block : blocks) {
    if (block.text.find(kMark) != std::string::npos) marked = &block;
  }
  return marked;
}

// Returns the text outside the code, up to the first fence.
std::string Prose(std::string_view text) {
  return Shorten(Trim(text.substr(0, text.find("```"))), kProseBytes);
}

}  // namespace

PlanReply ParsePlanReply(std::string_view reply, bool truncated) {
  const std::string text = ToValidUtf8(SeparateReasoning(reply.substr(0, kPlanBytes)).text);
  const std::vector<FencedBlock> blocks = FencedBlocks(text);
  const FencedBlock* marked = MarkedBlock(blocks);
  PlanReply plan;
  if (marked == nullptr) {
    plan.problem = "no fenced block holds the source with the markers";
  } else if (!marked->closed && truncated) {
    plan.problem = "the reply was cut off by the length limit inside the source";
  } else if (marked->text.size() > kMostSourceBytes) {
    plan.problem = "the source is larger than 256 KiB";
  }
  if (!plan.problem.empty()) return plan;
  AnchorReading reading = ReadAnchors(marked->text);
  if (!reading.anchored) {
    plan.problem = std::move(reading.problem);
    return plan;
  }
  Advice advice;
  advice.base = Base::kCurrent;
  advice.change = Prose(text);
  if (advice.change.empty()) advice.change = Trim(AdviceInBlock(*reading.anchored));
  advice.anchored = marked->text;
  plan.advice = std::move(advice);
  return plan;
}

}  // namespace pragma
