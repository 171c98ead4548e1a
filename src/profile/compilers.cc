// Providers "assembly" and "remarks": the code that the compilers generate for the kernel, and
// their reasons.
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "build/toolchain.h"
#include "core/profile.h"
#include "profile/builds.h"
#include "profile/providers.h"
#include "profile/remarks.h"
#include "profile/tool_runner.h"
#include "profile/workpiece.h"

namespace pragma {

Result<ProviderNote> AddBuilds(Workpiece& piece) {
  piece.builds = TRY(BuildForProfile(piece.subject));
  const std::string& failure = piece.builds->failure;
  return ProviderNote{
      .name = "assembly", .verdict = failure.empty() ? "ran" : "failed", .detail = failure};
}

Result<ProviderNote> AddRemarks(Workpiece& piece) {
  Toolchains& toolchains = piece.subject.toolchains;
  const RemarkCompilers compilers{.gcc = TRY(toolchains.Find("g++")),
                                  .clang = TRY(toolchains.Find("clang++"))};
  RemarkOutcome outcome = TRY(RunRemarks(JailedTools(piece.subject.jail), compilers,
                                         piece.subject.candidate, piece.subject.kernel_header));
  const std::string& source = piece.subject.candidate.source();
  for (const Remark& remark : outcome.remarks) {
    if (piece.remarks.contains(remark.line)) continue;
    std::string reason = ReasonFor(outcome.remarks, remark.line, LoopLine(source, remark.line));
    if (!reason.empty()) piece.remarks[remark.line] = std::move(reason);
  }
  return std::move(outcome.note);
}

}  // namespace pragma
