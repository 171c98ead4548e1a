#include "build/instrument.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "build/compile.h"
#include "build/toolchain.h"
#include "build/workshop.h"
#include "core/candidate.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Returns what a sanitizer's run needs that is not installed.
std::string Missing(Sanitizer sanitizer, const Toolchain& toolchain) {
  if (!toolchain.missing.empty()) return toolchain.missing;
  std::error_code code;
  if (sanitizer == Sanitizer::kMemory && !fs::exists("/usr/bin/valgrind", code))
    return "valgrind is not installed (package valgrind)";
  const bool archer = fs::exists(fs::path(toolchain.library_folder) / "libarcher.so", code);
  if (sanitizer == Sanitizer::kThread && (toolchain.library_folder.empty() || !archer))
    return "clang's OpenMP runtime with libarcher is not installed (package libomp-19-dev)";
  return {};
}

// Returns the author's flags without those that the tool cannot support: valgrind does not know
// AVX-512, and the checks need code that still does what the source says.
Words Flags(Sanitizer sanitizer, const Candidate& candidate) {
  Words flags;
  for (const std::string& flag : candidate.flags) {
    const bool level = flag.starts_with("-O");
    const bool wide = sanitizer == Sanitizer::kMemory &&
                      (flag.starts_with("-march=") || flag.starts_with("-mtune=") ||
                       flag.starts_with("-mavx512") || flag.starts_with("-mprefer-vector-width"));
    if (!level && !wide) flags.push_back(flag);
  }
  const auto add = [&](std::initializer_list<const char*> more) {
    flags.insert(flags.end(), more.begin(), more.end());
  };
  add({"-O1", "-g1", "-fno-omit-frame-pointer"});
  switch (sanitizer) {
    case Sanitizer::kAddress:
      // Alignment is not checked, because misaligned vector accesses work on the supported
      // machines.
      add({"-fsanitize=address,undefined", "-fno-sanitize=alignment,vptr"});
      break;
    case Sanitizer::kMemory:
#if defined(__x86_64__)
      add({"-march=x86-64-v3"});
#endif
      break;
    case Sanitizer::kThread: add({"-fsanitize=thread"}); break;
  }
  return flags;
}

Result<std::string> BuildExecutable(const Workshop& shop, Sanitizer sanitizer,
                                    const Candidate& candidate) {
  Candidate changed = candidate;
  changed.flags = Flags(sanitizer, candidate);
  Words libraries;
  if (sanitizer == Sanitizer::kAddress) libraries.emplace_back("-fsanitize=address,undefined");
  if (sanitizer == Sanitizer::kThread) libraries.emplace_back("-fsanitize=thread");
  for (std::string& word : shop.Libraries(candidate)) libraries.push_back(std::move(word));
  return shop.BuildExecutable(changed, libraries);
}

JailSpec RunSpec(const Workshop& shop, Sanitizer sanitizer, const InstrumentedCall& call) {
  Words argv{"/out/kernel"};
  if (sanitizer == Sanitizer::kMemory) argv = {"/usr/bin/valgrind", "-q", "/out/kernel"};
  JailSpec spec = shop.Spec(std::move(argv), Workshop::Stage::kRunning);
  const int threads = sanitizer == Sanitizer::kMemory ? 1 : std::max(call.threads, 2);
  spec.env["OMP_NUM_THREADS"] = std::to_string(threads);
  spec.env["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=0";
  spec.env["UBSAN_OPTIONS"] = "print_stacktrace=0:halt_on_error=1";
  if (sanitizer == Sanitizer::kThread) {
    // Without archer, every barrier of the uninstrumented run-time library would look like a race.
    spec.env["OMP_TOOL_LIBRARIES"] = shop.toolchain().library_folder + "/libarcher.so";
    spec.env["TSAN_OPTIONS"] =
        "ignore_noninstrumented_modules=1:halt_on_error=1:allow_addr2line=1:external_symbolizer_"
        "path=/usr/bin/addr2line";
  }
  spec.fds = {{call.inputs->fd(), kInputsFd}};
  return spec;
}

}  // namespace

Result<SanitizerOutcome> RunSanitizer(const Jail& jail, Toolchains& toolchains, Sanitizer sanitizer,
                                      const Candidate& candidate, const std::string& kernel_header,
                                      const InstrumentedCall& call) {
  if (sanitizer == Sanitizer::kThread && !UsesOpenMp(candidate))
    return SanitizerOutcome{.skipped = "no OpenMP, so no threads", .finding = {}};
  const bool clang = sanitizer == Sanitizer::kThread;
  const Toolchain toolchain = TRY(toolchains.Find(clang ? "clang++" : "g++"));
  if (std::string missing = Missing(sanitizer, toolchain); !missing.empty())
    return SanitizerOutcome{.skipped = std::move(missing), .finding = {}};
  const Workshop shop = TRY(Workshop::Open(jail, toolchain, candidate, kernel_header, call));
  if (std::string failure = TRY(BuildExecutable(shop, sanitizer, candidate)); !failure.empty())
    return SanitizerOutcome{.skipped = std::move(failure), .finding = {}};
  const Jail::RunOutcome run = TRY(jail.Run(RunSpec(shop, sanitizer, call), {.wall = call.limit}));
  SanitizerOutcome outcome{.skipped = {}, .finding = ReadReport(sanitizer, run.err)};
  if (!outcome.finding && run.timed_out) {
    outcome.skipped = "not done within " + FormatSeconds(call.limit.count());
  } else if (!outcome.finding && !run.ok()) {
    const Words lines = SplitLines(ToValidUtf8(run.err));
    outcome.skipped = "no report: " + run.outcome.Describe() +
                      (lines.empty() ? "" : " (" + Shorten(lines.front(), 150) + ")");
  }
  return outcome;
}

}  // namespace pragma
