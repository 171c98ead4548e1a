// Compile and link in the build jail: two commands of ours, with an argument vector each, and what
// came of them.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "build/builder.h"
#include "build/toolchain.h"
#include "core/candidate.h"
#include "sandbox/jail.h"

namespace pragma {

struct CompileInput {
  const Toolchain& toolchain;
  const Toolchain& linker;  // the same, but for CUDA: a C++ compiler
  const Candidate& candidate;
  const std::string& kernel_header;
  const BuildLimits& limits;
  const std::string& capability;  // of the GPU, for CUDA: "9.0"
};

// A change of these arguments, or of anything else here that alters the object, changes the number.
inline constexpr int kCompileVersion = 5;

// Run in /build (the sources, read-only); output goes to /out.
[[nodiscard]] std::vector<std::string> CompileCommand(const Toolchain& toolchain,
                                                      const Candidate& candidate);
// For nvcc; one target, with no code that a driver would compile anew.
[[nodiscard]] std::vector<std::string> CudaCompileCommand(const CompileInput& input);
[[nodiscard]] std::vector<std::string> LinkCommand(const Toolchain& toolchain, bool openmp);
[[nodiscard]] bool UsesOpenMp(const Candidate& candidate);

// A jail with the toolchain, the sources in `in` (seen as /build, read-only) and `out` (/out), and
// nothing else. The caller sets the limits.
[[nodiscard]] JailSpec CompilerJail(const Toolchain& toolchain, const std::filesystem::path& in,
                                    const std::filesystem::path& out,
                                    std::vector<std::string> argv);

struct CompiledObject {
  std::string bytes;        // of the shared object
  std::string disassembly;  // AuditRules::disassembly
  std::string ptx;          // CUDA: what its device code was made from
};

// The shared object, or why there is none.
using CompileOutcome = std::variant<CompiledObject, BuildFailure>;
[[nodiscard]] Result<CompileOutcome> Compile(const Jail& jail,
                                             const std::filesystem::path& scratch_parent,
                                             const CompileInput& input);

}  // namespace pragma
