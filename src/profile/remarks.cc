#include "profile/remarks.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/text.h"
#include "build/compile.h"
#include "build/toolchain.h"
#include "core/candidate.h"
#include "core/profile.h"
#include "profile/tool_runner.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

using Words = std::vector<std::string>;

constexpr int kMaxRounds = 4;  // one complaint may hide the next

// The output of one compiler.
struct Told {
  std::vector<Remark> remarks;
  std::string trouble;  // empty: none
};

Words AdviceCommand(const Toolchain& toolchain, const Candidate& candidate) {
  Words words = CompileCommand(toolchain, candidate);
  std::ranges::replace(words, "/out/kernel.o", "/tmp/kernel.o");
  words.insert(words.end(), {"-w", "-g1"});
  if (toolchain.clang) {
    words.insert(words.end(), {"-foptimization-record-file=-",
                               "-foptimization-record-passes=loop-vectorize|regalloc|licm|inline|"
                               "loop-unroll|transform-warning"});
  } else {
    words.emplace_back("-fopt-info-vec-missed-optimized");
  }
  return words;
}

// Returns the text between the first pair of quotes.
std::string Quoted(std::string_view text) {
  const std::size_t open = text.find('\'');
  if (open == std::string_view::npos) return {};
  const std::size_t close = text.find('\'', open + 1);
  return std::string(
      text.substr(open + 1, close == std::string_view::npos ? close : close - open - 1));
}

// Returns the flags that clang's driver rejected by name.
Words RefusedFlags(const std::string& complaints) {
  Words refused;
  for (const std::string& line : SplitLines(complaints)) {
    for (const std::string_view sign : {"unknown argument", "unsupported option"}) {
      const std::size_t at = line.find(sign);
      if (at != std::string::npos) refused.push_back(Quoted(std::string_view(line).substr(at)));
    }
  }
  return refused;
}

// Removes the rejected flags. "-mcpu=" matches every value of that flag.
Candidate Without(Candidate candidate, const Words& refused) {
  std::erase_if(candidate.flags, [&](const std::string& flag) {
    return std::ranges::any_of(refused, [&](const std::string& word) {
      return !word.empty() && (flag == word || (word.ends_with('=') && flag.starts_with(word)));
    });
  });
  return candidate;
}

Result<Told> AskClang(const ToolRunner& run, const Toolchain& toolchain, Candidate candidate,
                      const ToolFiles& files) {
  if (!toolchain.missing.empty()) return Told{.remarks = {}, .trouble = toolchain.missing};
  Jail::RunOutcome said = TRY(run(AdviceCommand(toolchain, candidate), files));
  for (int again = 0; again < kMaxRounds && !said.ok(); ++again) {
    const std::size_t before = candidate.flags.size();
    candidate = Without(std::move(candidate), RefusedFlags(said.err));
    if (candidate.flags.size() == before) break;
    said = TRY(run(AdviceCommand(toolchain, candidate), files));
  }
  if (!said.ok()) return Told{.remarks = {}, .trouble = "clang++: " + ToolComplaint(said)};
  return Told{.remarks = ReadClangRemarks(said.out), .trouble = {}};
}

Result<Told> AskGcc(const ToolRunner& run, const Toolchain& toolchain, const Candidate& candidate,
                    const ToolFiles& files) {
  if (!toolchain.missing.empty()) return Told{.remarks = {}, .trouble = toolchain.missing};
  const Jail::RunOutcome said = TRY(run(AdviceCommand(toolchain, candidate), files));
  if (!said.ok()) return Told{.remarks = {}, .trouble = "g++: " + ToolComplaint(said)};
  return Told{.remarks = ReadGccRemarks(said.err), .trouble = {}};
}

ProviderNote NoteOf(const Told& clang, const Told& gcc, bool asked_gcc, bool any_compiler) {
  Words troubles{clang.trouble, gcc.trouble};
  std::erase(troubles, "");
  const bool all = troubles.size() == (asked_gcc ? 2U : 1U);
  const std::string verdict = !all ? "ran" : any_compiler ? "failed" : "absent";
  return {.name = "remarks", .verdict = verdict, .detail = Join(troubles, "; "), .seconds = 0};
}

}  // namespace

Result<RemarkOutcome> RunRemarks(const ToolRunner& run, const RemarkCompilers& compilers,
                                 const Candidate& candidate, const std::string& kernel_header) {
  const TimePoint begin = std::chrono::steady_clock::now();
  const ToolFiles files{{"kernel.cpp", candidate.source()}, {"kernel.h", kernel_header}};
  const bool ask_gcc = candidate.compiler != "clang++";
  std::future<Result<Told>> asked = std::async(
      std::launch::async, [&] { return AskClang(run, compilers.clang, candidate, files); });
  Result<Told> from_gcc = ask_gcc ? AskGcc(run, compilers.gcc, candidate, files) : Told{};
  Told clang = TRY(asked.get());
  Told gcc = TRY(std::move(from_gcc));
  const bool any_compiler =
      compilers.clang.missing.empty() || (ask_gcc && compilers.gcc.missing.empty());
  RemarkOutcome outcome{.note = NoteOf(clang, gcc, ask_gcc, any_compiler),
                        .remarks = std::move(clang.remarks)};
  std::ranges::move(gcc.remarks, std::back_inserter(outcome.remarks));
  std::ranges::stable_sort(outcome.remarks, {}, &Remark::line);
  outcome.note.seconds = Since(begin).count();
  return outcome;
}

}  // namespace pragma
