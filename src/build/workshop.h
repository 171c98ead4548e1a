// Workshop: a folder and a jail in which a candidate and a small main program of pragma become an
// executable. A tool then watches its run (sanitizers, valgrind).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/result.h"
#include "base/shared_memory.h"
#include "build/toolchain.h"
#include "core/candidate.h"
#include "sandbox/jail.h"

namespace pragma {

// InstrumentedCall: how the kernel is called. Sizes are in bytes, in the order of the kernel's
// parameters.
struct InstrumentedCall {
  std::vector<std::size_t> arguments;
  std::vector<std::size_t> argument_offsets;  // byte offsets in `inputs`
  std::size_t first_parameter = 0;            // index of the first argument that pragma_prepare
                                              // takes
  bool has_dims = false;  // true: the first argument holds the sizes that vary; pragma_prepare
                          // takes it too
  std::vector<std::size_t> outputs;
  std::vector<std::string> output_names;  // names used in reports
  std::size_t scratch_bytes = 0;
  std::size_t packed_bytes = 0;  // only with has_prepare
  bool has_prepare = false;
  const SharedMemory* inputs = nullptr;
  int threads = 1;
  Seconds limit{60};  // limit of the run
  int calls = 1;      // number of calls of the kernel, on the same memory
};

// The text that the main program writes to stderr before it shows an output's values to memcheck.
inline constexpr std::string_view kOutputHeading = "pragma: output ";
// Returns the text of the main program. Exposed for its test.
[[nodiscard]] std::string InstrumentedMain(const InstrumentedCall& call);

// Descriptor of the inputs in the jailed main program.
inline constexpr int kInputsFd = 3;

class Workshop final {
 public:
  enum class Stage : std::uint8_t {
    kBuilding,  // /out is writable
    kRunning,   // /out is read-only; /proc is mounted, because tools read their own maps
    kWriting,   // like kRunning, and the tool writes a file into /out
  };

  // Creates the folder with kernel.cpp, kernel.h and main.cc. `jail` and `toolchain` must outlive
  // the workshop.
  [[nodiscard]] static Result<Workshop> Open(const Jail& jail, const Toolchain& toolchain,
                                             const Candidate& candidate, const std::string& header,
                                             const InstrumentedCall& call);

  // Builds /out/kernel from the candidate, with its flags unchanged. `libraries` are the linker's
  // arguments in addition to the objects. Returns an empty text on success, or the reason for the
  // failure.
  [[nodiscard]] Result<std::string> BuildExecutable(
      const Candidate& candidate, const std::vector<std::string>& libraries) const;
  // Returns the linker's arguments for OpenMP, if the candidate uses it, and for the mathematical
  // library.
  [[nodiscard]] std::vector<std::string> Libraries(const Candidate& candidate) const;

  // Returns a jail with everything that the build jail sees, with /out, and without a limit on the
  // address space.
  [[nodiscard]] JailSpec Spec(std::vector<std::string> argv, Stage stage) const;
  [[nodiscard]] const Toolchain& toolchain() const { return toolchain_; }
  // Returns the path of /out outside the jail. Its contents are untrusted.
  [[nodiscard]] std::filesystem::path out() const { return folder_.path() / "out"; }
  // Reads a file that a program left in /out.
  [[nodiscard]] Result<std::string> ReadOutput(const std::string& name) const;

 private:
  Workshop(const Jail& jail, const Toolchain& toolchain, TempDir folder)
      : jail_(jail), toolchain_(toolchain), folder_(std::move(folder)) {}
  [[nodiscard]] Result<std::string> Build(std::vector<std::string> argv) const;
  const Jail& jail_;
  const Toolchain& toolchain_;
  TempDir folder_;
};

}  // namespace pragma
