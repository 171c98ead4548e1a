// Builder: one C++ or CUDA candidate to a shared object, in the build jail, cached by content.
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
#include "core/evaluation.h"
#include "sandbox/jail.h"

namespace pragma {

// How the processes of one Python candidate are started. Nothing is built before they load it.
struct PythonKernel {
  JailSpec jail;  // the harness adds descriptors, placement of threads and limits of memory
  TempDir files;  // what the jail binds
  // What the first process compiled, for the later ones; sealed after that process's first run.
  SharedMemory keep;
  bool kept = false;
};

struct BuiltKernel {
  std::filesystem::path shared_object;  // in the cache; read-only
  std::string sha256;                   // of the shared object
  std::size_t scratch_bytes = 0;        // pragma_scratch_bytes, read from the object file
  std::size_t packed_bytes = 0;         // pragma_packed_bytes
  bool has_prepare = false;             // exports pragma_prepare
  bool llvm_openmp = false;             // needs libomp, which must start before the filters
  // Where it could keep something from one call to the next, in words ("4 bytes of static data");
  // empty: nowhere.
  std::vector<std::string> kept;
  // CUDA: variables of device code, by their names in PTX; DeviceWorker::ReadKept reads them.
  std::vector<std::string> device_variables;
  std::vector<double> constants;  // that its code holds (build/code_constants.h)
  bool openmp = false;            // calls an OpenMP runtime
  bool seal_data = false;         // no writable data of the author's: the worker makes it read-only
  std::string compiler;           // "g++ (Debian 12.2.0) 12.2.0"
  std::vector<Check> checks;      // flags, source tripwires, ELF audit, PTX
  bool from_cache = false;
  double milliseconds = 0;  // compile and link
  // A Python candidate; `shared_object` is empty then. Shared by copies: they are one candidate.
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
  Seconds wall{240};  // a busy machine must not turn a kernel away; `cpu` bounds the work
  Seconds cpu{60};
  std::size_t address_space_bytes = std::size_t{4} << 30U;
  // A kernel of a deep network has a layer's text a hundred times; what models write is capped far
  // below where their replies are read.
  std::size_t source_bytes = std::size_t{2} << 20U;
  std::size_t scratch_bytes = std::size_t{1} << 30U;  // cap of pragma_scratch_bytes and packed
};

// The usual ones, but scratch up to an eighth of the machine's memory where that is more: of a
// batch whose statistics are needed before any of it is finished, all must be kept.
[[nodiscard]] BuildLimits LimitsFor(std::size_t memory_bytes);

class Toolchains;

// Thread-safe. What fails is not cached: it is rare to be asked twice, and its messages are large.
class Builder final {
 public:
  // `cache_dir` is created; two processes may share it.
  Builder(const Jail& jail, const std::filesystem::path& cache_dir, BuildLimits limits = {});
  // What CUDA candidates are compiled for: the compute capability of the GPU, "9.0".
  void SetCapability(std::string capability) { capability_ = std::move(capability); }
  // Whether clang++ can build kernels with OpenMP here.
  [[nodiscard]] bool HasClang() const;
  // `kernel_header`: the text of the task's kernel.h. An Error only for our own trouble.
  [[nodiscard]] Result<BuildOutcome> Build(const Candidate& candidate,
                                           const std::string& kernel_header) const;
  // With less wall time for compiler and linker than BuildLimits::wall.
  [[nodiscard]] Result<BuildOutcome> Build(const Candidate& candidate,
                                           const std::string& kernel_header, Seconds wall) const;

 private:
  const Jail& jail_;
  std::filesystem::path cache_dir_;
  BuildLimits limits_;
  std::string capability_ = "9.0";  // where there is no GPU
  std::shared_ptr<Toolchains> toolchains_;
};

// The exact allow-list; one line saying which flag and what is allowed, or empty when all are fine.
[[nodiscard]] std::string FlagComplaint(const std::vector<std::string>& flags,
                                        Language language = Language::kCpp);
// For prompts and messages.
[[nodiscard]] const std::vector<std::string>& AllowedFlagForms(Language language = Language::kCpp);
// Structured messages from gcc's, clang's or nvcc's stderr; `source` supplies the lines. Never
// throws.
[[nodiscard]] std::vector<Diagnostic> ParseDiagnostics(const std::string& text,
                                                       const std::string& source);

}  // namespace pragma
