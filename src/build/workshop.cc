#include "build/workshop.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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
#include "base/text.h"
#include "build/compile.h"
#include "build/toolchain.h"
#include "core/candidate.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr Seconds kCompileLimit{120};
constexpr std::size_t kMemory = std::size_t{16} << 30U;        // includes shadow memory
constexpr std::size_t kOutputBytes = std::size_t{256} << 20U;  // limit of any file that compiler
                                                               // and linker write

constexpr std::string_view kMainHead = R"(// Calls the kernel once on memory of exact sizes.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstddef>
#include <cstdlib>
#include <cstring>

static void* Area(std::size_t bytes) {
  void* area = nullptr;
  if (posix_memalign(&area, 64, bytes > 0 ? bytes : 1) != 0) _exit(90);
  return area;
}

// memcheck looks at what is written: a value that was never computed is reported.
static void Show(const char* heading, const void* output, std::size_t bytes) {
  static const int nowhere = open("/dev/null", O_WRONLY);
  if (write(2, heading, std::strlen(heading)) < 0) _exit(92);
  const char* at = static_cast<const char*>(output);
  while (bytes > 0) {
    const ssize_t n = write(nowhere, at, bytes);
    if (n <= 0) _exit(92);
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
}
)";

std::string Pointers(std::size_t count) {
  return fmt::format("{}", fmt::join(Words(count, "void*"), ", "));
}

// Returns the first error, or the first line if there is none.
std::string FirstMessage(const std::string& text) {
  const Words lines = SplitLines(ToValidUtf8(text));
  if (lines.empty()) return "no message";
  const auto error = std::ranges::find_if(
      lines, [](const std::string& line) { return line.find("error:") != std::string::npos; });
  return Shorten(error == lines.end() ? lines.front() : *error, 200);
}

}  // namespace

std::string InstrumentedMain(const InstrumentedCall& call) {
  const std::size_t kernel =
      call.arguments.size() + call.outputs.size() + (call.has_prepare ? 2 : 1);
  std::string text(kMainHead);
  text += fmt::format("extern \"C\" void pragma_kernel({});\n", Pointers(kernel));
  if (call.has_prepare) {
    text += fmt::format(
        "extern \"C\" void pragma_prepare({});\n",
        Pointers(call.arguments.size() - call.first_parameter + (call.has_dims ? 2 : 1)));
  }
  text += fmt::format(
      "\nint main() {{\n  const char* inputs = static_cast<const char*>(mmap(nullptr, "
      "{}, PROT_READ, MAP_SHARED, {}, 0));\n  if (inputs == MAP_FAILED) _exit(91);\n",
      std::max<std::size_t>(call.inputs == nullptr ? 0 : call.inputs->size(), 1), kInputsFd);
  Words names;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    names.push_back(fmt::format("a{}", i));
    text += fmt::format("  void* a{0} = Area({1});\n  std::memcpy(a{0}, inputs + {2}, {1});\n", i,
                        call.arguments[i], call.argument_offsets[i]);
  }
  Words prepare(names.begin() + static_cast<std::ptrdiff_t>(call.first_parameter), names.end());
  if (call.has_dims) prepare.insert(prepare.begin(), names.front());
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    names.push_back(fmt::format("o{}", i));
    text += fmt::format("  void* o{} = Area({});\n", i, call.outputs[i]);
  }
  if (call.has_prepare) {
    text += fmt::format("  void* packed = Area({});\n", call.packed_bytes);
    prepare.emplace_back("packed");
    names.emplace_back("packed");
    text += fmt::format("  pragma_prepare({});\n", fmt::join(prepare, ", "));
  }
  text += fmt::format("  void* scratch = Area({});\n", call.scratch_bytes);
  names.emplace_back("scratch");
  for (int i = 0; i < call.calls; ++i)
    text += fmt::format("  pragma_kernel({});\n", fmt::join(names, ", "));
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    text += fmt::format("  Show(\"{}{}\\n\", o{}, {});\n", kOutputHeading, call.output_names[i], i,
                        call.outputs[i]);
  }
  text += "  _exit(0);\n}\n";
  return text;
}

Result<Workshop> Workshop::Open(const Jail& jail, const Toolchain& toolchain,
                                const Candidate& candidate, const std::string& header,
                                const InstrumentedCall& call) {
  Workshop shop(jail, toolchain, TRY(TempDir::Create()));
  const fs::path in = shop.folder_.path() / "in";
  TRY(MakeDirectories(in));
  TRY(MakeDirectories(shop.folder_.path() / "out"));
  TRY(WriteFileAtomic(in / "kernel.cpp", candidate.source()));
  TRY(WriteFileAtomic(in / "kernel.h", header));
  TRY(WriteFileAtomic(in / "main.cc", InstrumentedMain(call)));
  return shop;
}

JailSpec Workshop::Spec(Words argv, Stage stage) const {
  JailSpec spec =
      CompilerJail(toolchain_, folder_.path() / "in", folder_.path() / "out", std::move(argv));
  spec.binds.back().writable = stage != Stage::kRunning;  // the bind of /out
  spec.env["HOME"] = "/tmp";
  spec.proc = stage != Stage::kBuilding;
  spec.limits = {.address_space_bytes = 0,
                 .cpu = Seconds{300},
                 .file_bytes = kOutputBytes,
                 .memory_bytes = kMemory,
                 .processes = 128,
                 .open_files = 256};
  return spec;
}

Result<std::string> Workshop::Build(Words argv) const {
  const Jail::RunOutcome run =
      TRY(jail_.Run(Spec(std::move(argv), Stage::kBuilding), {.wall = kCompileLimit}));
  return run.ok() ? std::string() : "does not build for it: " + FirstMessage(run.err);
}

Result<std::string> Workshop::BuildExecutable(const Candidate& candidate,
                                              const Words& libraries) const {
  std::string failure = TRY(Build(CompileCommand(toolchain_, candidate)));
  if (!failure.empty()) return failure;
  failure =
      TRY(Build({toolchain_.path, "-c", "-O1", "-std=c++20", "main.cc", "-o", "/out/main.o"}));
  if (!failure.empty()) return failure;
  Words words{toolchain_.path, "-o", "/out/kernel", "/out/kernel.o", "/out/main.o"};
  words.insert(words.end(), libraries.begin(), libraries.end());
  return Build(std::move(words));
}

Words Workshop::Libraries(const Candidate& candidate) const {
  Words words;
  const bool openmp = UsesOpenMp(candidate);
  if (openmp && toolchain_.clang) {
    words.push_back("-L" + toolchain_.library_folder);
    words.push_back("-Wl,-rpath," + toolchain_.library_folder);
  }
  if (openmp) words.emplace_back(toolchain_.clang ? "-lomp" : "-lgomp");
  words.emplace_back("-lm");
  return words;
}

Result<std::string> Workshop::ReadOutput(const std::string& name) const {
  return ReadForeignFile(out() / name, kOutputBytes);
}

}  // namespace pragma
