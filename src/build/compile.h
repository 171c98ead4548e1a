// Compiles and links in the build jail: two commands of pragma, each with an argument vector, and
// their results.
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
  const Toolchain& linker;  // same as `toolchain`, except for CUDA, where it is a C++ compiler
  const Candidate& candidate;
  const std::string& kernel_header;
  const BuildLimits& limits;
  const std::string& capability;  // compute capability of the GPU, for CUDA: "9.0"
};

// This number must be changed with these arguments, and with anything else here that alters the
// object.
inline constexpr int kCompileVersion = 5;

// Returns the compiler's command line. It runs in /build (the sources, read-only) and writes to
// /out.
[[nodiscard]] std::vector<std::string> CompileCommand(const Toolchain& toolchain,
                                                      const Candidate& candidate);
// Returns nvcc's command line. It compiles for one target, without code that a driver would compile
// again.
[[nodiscard]] std::vector<std::string> CudaCompileCommand(const CompileInput& input);
[[nodiscard]] std::vector<std::string> LinkCommand(const Toolchain& toolchain, bool openmp);
[[nodiscard]] bool UsesOpenMp(const Candidate& candidate);

// Returns a jail with the toolchain, the sources in `in` (seen as /build, read-only) and `out`
// (seen as /out), and nothing else. The caller sets the limits.
[[nodiscard]] JailSpec CompilerJail(const Toolchain& toolchain, const std::filesystem::path& in,
                                    const std::filesystem::path& out,
                                    std::vector<std::string> argv);

struct CompiledObject {
  std::string bytes;        // bytes of the shared object
  std::string disassembly;  // AuditRules::disassembly
  std::string ptx;          // for CUDA: the PTX that its device code was made from
};

// CompileOutcome: the shared object, or the reason why there is none.
using CompileOutcome = std::variant<CompiledObject, BuildFailure>;
[[nodiscard]] Result<CompileOutcome> Compile(const Jail& jail,
                                             const std::filesystem::path& scratch_parent,
                                             const CompileInput& input);

}  // namespace pragma
