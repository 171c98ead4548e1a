// Workshop: a folder and a jail in which a candidate and a small main program of ours become an
// executable that some tool then watches (sanitizers, valgrind).
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

// How the kernel is called: sizes in bytes, in the order of the kernel's parameters.
struct InstrumentedCall {
  std::vector<std::size_t> arguments;
  std::vector<std::size_t> argument_offsets;  // in `inputs`
  std::size_t first_parameter = 0;            // index of the first argument pragma_prepare takes
  bool has_dims = false;  // the first argument is the sizes that vary; pragma_prepare takes it too
  std::vector<std::size_t> outputs;
  std::vector<std::string> output_names;  // for reports
  std::size_t scratch_bytes = 0;
  std::size_t packed_bytes = 0;  // with has_prepare
  bool has_prepare = false;
  const SharedMemory* inputs = nullptr;
  int threads = 1;
  Seconds limit{60};  // of the run
  int calls = 1;      // of the kernel, on the same memory
};

// What the main program says on stderr before it shows an output's values to memcheck.
inline constexpr std::string_view kOutputHeading = "pragma: output ";
// The main program's text. Exposed for its test.
[[nodiscard]] std::string InstrumentedMain(const InstrumentedCall& call);

// Where the jailed main program finds the inputs.
inline constexpr int kInputsFd = 3;

class Workshop final {
 public:
  enum class Stage : std::uint8_t {
    kBuilding,  // /out can be written
    kRunning,   // /out is read-only; /proc is there, since tools read their own maps
    kWriting,   // kRunning, and the tool leaves a file in /out
  };

  // Holds kernel.cpp, kernel.h and main.cc. `jail` and `toolchain` must outlive it.
  [[nodiscard]] static Result<Workshop> Open(const Jail& jail, const Toolchain& toolchain,
                                             const Candidate& candidate, const std::string& header,
                                             const InstrumentedCall& call);

  // /out/kernel of the candidate with its flags as they are. `libraries` are the linker's words
  // besides the objects. Empty when it worked, else why not.
  [[nodiscard]] Result<std::string> BuildExecutable(
      const Candidate& candidate, const std::vector<std::string>& libraries) const;
  // What links OpenMP, where the candidate uses it, and the mathematical library.
  [[nodiscard]] std::vector<std::string> Libraries(const Candidate& candidate) const;

  // What the build jail sees, /out, and no limit on the address space.
  [[nodiscard]] JailSpec Spec(std::vector<std::string> argv, Stage stage) const;
  [[nodiscard]] const Toolchain& toolchain() const { return toolchain_; }
  // /out as we see it. What lies there is foreign.
  [[nodiscard]] std::filesystem::path out() const { return folder_.path() / "out"; }
  // A file that a program left in /out.
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
