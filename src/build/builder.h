// Builder: turns one C++ or CUDA candidate into a shared object, in the build jail. Results are
// cached by content.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "core/candidate.h"
#include "core/check.h"
#include "core/diagnostic.h"
#include "core/status.h"
#include "sandbox/jail.h"

namespace pragma {

// PythonKernel: how the processes of one Python candidate are started. Nothing is built before they
// load it.
struct PythonKernel {
  JailSpec jail;  // the harness adds descriptors, the placement of threads and memory limits
  TempDir files;  // files that the jail binds
  // Code that the first process compiled, for use by later processes. It is sealed after the first
  // process's first run.
  SharedMemory keep;
  bool kept = false;
};

struct BuiltKernel {
  std::filesystem::path shared_object;  // path in the cache; read-only
  std::string sha256;                   // hash of the shared object
  std::size_t scratch_bytes = 0;        // pragma_scratch_bytes, read from the object file
  std::size_t packed_bytes = 0;         // pragma_packed_bytes
  bool has_prepare = false;             // true: it exports pragma_prepare
  bool llvm_openmp = false;             // true: it needs libomp, which must start before the
                                        // filters
  // Places where the kernel could keep data from one call to the next, in words ("4 bytes of static
  // data"). Empty: there are none.
  std::vector<std::string> kept;
  // For CUDA: variables of device code, by their names in PTX. DeviceWorker::ReadKept reads them.
  std::vector<std::string> device_variables;
  std::vector<double> constants;  // numbers in its code (build/code_constants.h)
  bool openmp = false;            // true: it calls an OpenMP runtime
  bool seal_data = false;         // true: none of the writable data is the author's, so the worker
                                  // makes it read-only
  std::string compiler;           // "g++ (Debian 12.2.0) 12.2.0"
  std::vector<Check> checks;      // checks of flags, source tripwires, ELF and PTX
  bool from_cache = false;
  double milliseconds = 0;  // time to compile and link
  // Present for a Python candidate, whose `shared_object` is empty. Copies share it, because they
  // are one candidate.
  std::shared_ptr<PythonKernel> python;
};

struct BuildFailure {
  Status status = Status::kCompileError;  // or kRejectedSource, kTimeout, kOutOfMemory
  std::string reason;
  std::vector<Diagnostic> diagnostics;
  std::string log;
  std::vector<Check> checks;
};

using BuildOutcome = std::variant<BuiltKernel, BuildFailure>;

struct BuildLimits {
  Seconds wall{240};  // generous, so that a busy machine does not reject a kernel; `cpu` bounds the
                      // work
  Seconds cpu{60};    // JudgingOptions::build_limit
  std::size_t address_space_bytes = std::size_t{4} << 30U;
  // Limit of a source. The kernel of a deep network may contain the text of a layer a hundred
  // times. What models write is limited to far less where their replies are read.
  std::size_t source_bytes = std::size_t{2} << 20U;
  std::size_t scratch_bytes = std::size_t{1} << 30U;  // limit of pragma_scratch_bytes and of
                                                      // pragma_packed_bytes
};

// Returns the limits for a compiler that may take `cpu`, and four times that of wall time. Scratch
// memory may take an eighth of the machine's memory, if that is more than usual: where statistics
// of a whole batch are needed before any part of it is finished, all of it must be kept.
[[nodiscard]] BuildLimits LimitsFor(std::size_t memory_bytes, Seconds cpu);

class Toolchains;

// Builder is thread-safe. Failures are not cached: they are rarely requested twice, and their
// messages are large.
class Builder final {
 public:
  // Creates `cache_dir`. Two processes may share it.
  Builder(const Jail& jail, const std::filesystem::path& cache_dir, BuildLimits limits = {});
  // Sets what CUDA candidates are compiled for: the compute capability of the GPU, "9.0".
  void SetCapability(std::string capability) { capability_ = std::move(capability); }
  // Returns whether clang++ can build kernels with OpenMP here.
  [[nodiscard]] bool HasClang() const;
  // Returns a text that is another one whenever the compiler generates other code. `compiler` is a
  // candidate's: "g++", "clang++" or "nvcc".
  [[nodiscard]] Result<std::string> CompilerIdentity(const std::string& compiler) const;
  // Builds a candidate. `kernel_header` is the text of the task's kernel.h. Only a failure of
  // pragma itself is an Error.
  [[nodiscard]] Result<BuildOutcome> Build(const Candidate& candidate,
                                           const std::string& kernel_header) const;
  // Builds with less wall time for compiler and linker than BuildLimits::wall.
  [[nodiscard]] Result<BuildOutcome> Build(const Candidate& candidate,
                                           const std::string& kernel_header, Seconds wall) const;

 private:
  const Jail& jail_;
  std::filesystem::path cache_dir_;
  BuildLimits limits_;
  std::string capability_ = "9.0";  // default for machines without a GPU
  std::shared_ptr<Toolchains> toolchains_;
};

// Checks the flags against the exact allow-list. Returns one line that says which flag is wrong and
// what is allowed, or an empty text when all are allowed.
[[nodiscard]] std::string FlagComplaint(const std::vector<std::string>& flags,
                                        Language language = Language::kCpp);
// Returns the forms of allowed flags, for prompts and messages.
[[nodiscard]] const std::vector<std::string>& AllowedFlagForms(Language language = Language::kCpp);
// Parses stderr of gcc, clang or nvcc into diagnostics. `source` supplies the source lines. Never
// throws.
[[nodiscard]] std::vector<Diagnostic> ParseDiagnostics(const std::string& text,
                                                       const std::string& source);

}  // namespace pragma
