#include "build/builder.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <ratio>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "base/text.h"
#include "build/audit.h"
#include "build/cache.h"
#include "build/code_constants.h"
#include "build/compile.h"
#include "build/defer_initializers.h"
#include "build/dialect.h"
#include "build/elf_file.h"
#include "build/ptx_audit.h"
#include "build/source_check.h"
#include "build/toolchain.h"
#include "core/candidate.h"
#include "core/check.h"
#include "core/status.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

BuildFailure Rejected(std::string reason, std::vector<Check> checks = {}) {
  return {.status = Status::kRejectedSource,
          .reason = std::move(reason),
          .diagnostics = {},
          .log = {},
          .checks = std::move(checks)};
}

bool IsTunableName(std::string_view name) {
  const auto part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !name.empty() && name.size() <= 64 &&
         std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name, part);
}

std::string ShapeComplaint(const Candidate& candidate) {
  const bool cuda = candidate.language == Language::kCuda;
  if (candidate.language != Language::kCpp && !cuda) {
    return "a candidate in " + std::string(LanguageName(candidate.language)) +
           " is not built as C++";
  }
  const std::string source(DialectOf(candidate.language).source);
  if (candidate.files.size() != 1 || candidate.files.begin()->first != source) {
    return std::string("a ") + (cuda ? "CUDA" : "C++") + " candidate is exactly one file, " +
           source;
  }
  const bool known = cuda ? candidate.compiler == "nvcc"
                          : candidate.compiler == "g++" || candidate.compiler == "clang++";
  if (!known) {
    return "the compiler \"" + ToValidUtf8(Shorten(candidate.compiler, 60)) +
           "\" is not allowed: " + (cuda ? "nvcc" : "g++ or clang++");
  }
  for (const auto& [name, value] : candidate.tunables) {
    if (!IsTunableName(name))
      return "the tunable name \"" + ToValidUtf8(Shorten(name, 60)) + "\" is not an identifier";
  }
  return {};
}

// Checks a candidate before any compiler sees it. Returns the failure, or the checks that passed.
std::variant<std::vector<Check>, BuildFailure> CheckCandidate(const Candidate& candidate,
                                                              std::size_t max_bytes) {
  if (std::string complaint = ShapeComplaint(candidate); !complaint.empty())
    return Rejected(std::move(complaint));
  if (const std::string complaint = FlagComplaint(candidate.flags, candidate.language);
      !complaint.empty()) {
    return Rejected(complaint,
                    {{.name = "flags", .verdict = CheckVerdict::kFail, .detail = complaint}});
  }
  SourceVerdict source = CheckSource(candidate.source(), max_bytes, candidate.language);
  std::vector<Check> checks{
      {.name = "flags", .verdict = CheckVerdict::kPass, .detail = Join(candidate.flags, " ")}};
  checks.insert(checks.end(), source.checks.begin(), source.checks.end());
  if (!source.complaint.empty()) return Rejected(source.complaint, std::move(checks));
  return checks;
}

void AddToKey(std::string& key, std::string_view part) {
  key += std::to_string(part.size()) + ":";
  key += part;
}

std::string CacheKey(const CompileInput& input) {
  std::string key = "pragma build " + std::to_string(kCompileVersion) + "\n";
  AddToKey(key, input.toolchain.identity);
  AddToKey(key, ProcessorIdentity());
  AddToKey(key, input.candidate.source());
  AddToKey(key, input.kernel_header);
  for (const auto& [name, value] : input.candidate.tunables) {
    AddToKey(key, name + "=" + std::to_string(value));
  }
  AddToKey(key, "flags");
  AddToKey(key, std::to_string(input.limits.scratch_bytes));  // the audit depends on this limit
  for (const std::string& flag : input.candidate.flags) AddToKey(key, flag);
  if (input.candidate.language == Language::kCuda) {
    AddToKey(key, "cuda " + input.capability);
    AddToKey(key, input.linker.identity);
  }
  return Sha256Hex(key);
}

// Audits a linked object. Returns what Build returns, for an object that is not in the cache yet.
std::variant<BuiltKernel, BuildFailure> Audited(const CompileInput& input,
                                                const CompiledObject& object,
                                                std::vector<Check> checks) {
  AuditVerdict audit = AuditObject(object.bytes, {.language = input.candidate.language,
                                                  .openmp = UsesOpenMp(input.candidate),
                                                  .max_scratch_bytes = input.limits.scratch_bytes,
                                                  .disassembly = object.disassembly});
  checks.insert(checks.end(), audit.checks.begin(), audit.checks.end());
  if (!audit.complaint.empty()) return Rejected(audit.complaint, std::move(checks));
  BuiltKernel kernel;
  kernel.scratch_bytes = audit.scratch_bytes;
  kernel.packed_bytes = audit.packed_bytes;
  kernel.has_prepare = audit.has_prepare;
  kernel.llvm_openmp = audit.llvm_openmp;
  kernel.openmp = UsesOpenMp(input.candidate);
  kernel.seal_data = audit.seal_data;
  kernel.kept = std::move(audit.kept);
  kernel.constants = std::move(audit.constants);
  kernel.compiler = input.toolchain.version;
  kernel.checks = std::move(checks);
  return kernel;
}

// Audits a CUDA candidate's device code, after its linked object was audited, and adds the results
// to `kernel`.
std::variant<BuiltKernel, BuildFailure> DeviceAudited(const CompiledObject& made,
                                                      BuiltKernel kernel) {
  const PtxFacts device = ReadPtx(made.ptx);
  const bool fine = device.complaint.empty();
  kernel.checks.push_back({.name = "ptx",
                           .verdict = fine ? CheckVerdict::kPass : CheckVerdict::kFail,
                           .detail = ToValidUtf8(device.complaint)});
  if (!fine) return Rejected(ToValidUtf8(device.complaint), std::move(kernel.checks));
  const Result<ElfFile> host = ReadElf(made.bytes);
  if (!host) return Rejected(host.error().message, std::move(kernel.checks));
  kernel.kept = CudaKept(device, *host, kernel.scratch_bytes);
  kernel.device_variables = KeptVariables(device);
  kernel.constants = ConstantsOfPtx(made.ptx);
  return kernel;
}

double MillisSince(TimePoint start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

Result<BuildOutcome> BuildFresh(const Jail& jail, const BuildCache& cache,
                                const std::filesystem::path& folder, const CompileInput& input,
                                std::vector<Check> checks) {
  const TimePoint start = std::chrono::steady_clock::now();
  CompileOutcome compiled = TRY(Compile(jail, folder, input));
  if (auto* failure = std::get_if<BuildFailure>(&compiled)) {
    failure->checks = std::move(checks);
    failure->checks.push_back(
        {.name = "build", .verdict = CheckVerdict::kFail, .detail = failure->reason});
    return BuildOutcome(std::move(*failure));
  }
  checks.push_back(
      {.name = "build", .verdict = CheckVerdict::kPass, .detail = input.toolchain.version});
  auto& made = std::get<CompiledObject>(compiled);
  auto audited = Audited(input, made, std::move(checks));
  if (auto* kernel = std::get_if<BuiltKernel>(&audited);
      kernel != nullptr && input.candidate.language == Language::kCuda) {
    BuiltKernel looked = std::move(*kernel);
    audited = DeviceAudited(made, std::move(looked));
  }
  if (auto* failure = std::get_if<BuildFailure>(&audited)) return BuildOutcome(std::move(*failure));
  const std::string bytes = TRY(DeferInitializers(std::move(made.bytes)));
  BuiltKernel kernel =
      TRY(cache.Keep(CacheKey(input), std::move(std::get<BuiltKernel>(audited)), bytes));
  kernel.milliseconds = MillisSince(start);
  return BuildOutcome(std::move(kernel));
}

}  // namespace

BuildLimits LimitsFor(std::size_t memory_bytes, Seconds cpu) {
  BuildLimits limits;
  limits.wall *= cpu / limits.cpu;
  limits.cpu = cpu;
  limits.scratch_bytes = std::max(limits.scratch_bytes, memory_bytes / 8);
  return limits;
}

Builder::Builder(const Jail& jail, const std::filesystem::path& cache_dir, BuildLimits limits)
    : jail_(jail),
      cache_dir_(std::filesystem::absolute(cache_dir)),
      limits_(limits),
      toolchains_(std::make_shared<Toolchains>()) {}

bool Builder::HasClang() const {
  const Result<Toolchain> found = toolchains_->Find("clang++");
  return found && found->has_openmp();
}

Result<std::string> Builder::CompilerIdentity(const std::string& compiler) const {
  const Toolchain toolchain = TRY(toolchains_->Find(compiler));
  return toolchain.identity;
}

Result<BuildOutcome> Builder::Build(const Candidate& candidate,
                                    const std::string& kernel_header) const {
  return Build(candidate, kernel_header, limits_.wall);
}

Result<BuildOutcome> Builder::Build(const Candidate& candidate, const std::string& kernel_header,
                                    Seconds wall) const {
  auto checked = CheckCandidate(candidate, limits_.source_bytes);
  if (auto* failure = std::get_if<BuildFailure>(&checked)) return BuildOutcome(std::move(*failure));
  const Toolchain toolchain = TRY(toolchains_->Find(candidate.compiler));
  if (!toolchain.missing.empty()) return BuildOutcome(Rejected(toolchain.missing));
  if (!toolchain.has_openmp() && UsesOpenMp(candidate)) {
    return BuildOutcome(Rejected(
        "OpenMP for clang++ is not installed on this machine (package libomp-19-dev, with the "
        "number of the installed clang); use g++, or leave -fopenmp out"));
  }
  const bool cuda = candidate.language == Language::kCuda;
  const Toolchain linker = cuda ? TRY(toolchains_->Find("g++")) : toolchain;
  if (!linker.missing.empty()) return BuildOutcome(Rejected(linker.missing));
  const BuildCache cache(cache_dir_);
  TRY(cache.Open());
  BuildLimits limits = limits_;
  limits.wall = std::min(limits.wall, wall);
  const CompileInput input{toolchain, linker, candidate, kernel_header, limits, capability_};
  if (std::optional<BuiltKernel> known = cache.Find(CacheKey(input)))
    return BuildOutcome(std::move(*known));
  return BuildFresh(jail_, cache, cache_dir_, input,
                    std::move(std::get<std::vector<Check>>(checked)));
}

}  // namespace pragma
