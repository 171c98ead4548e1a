#include "build/instrument.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

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
constexpr std::size_t kMemory = std::size_t{16} << 30U;  // shadow memory included
constexpr int kInputsFd = 3;
constexpr std::size_t kOutputBytes = std::size_t{256} << 20U;  // of any file of compiler and linker

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

// What a sanitizer's run needs that may not be there.
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

// The author's flags without what the tool cannot take: valgrind knows no AVX-512, and checks ask
// for code that still does what the source says.
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
      // Misaligned vector accesses work on the machines this is for.
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

Words LinkWords(Sanitizer sanitizer, const Toolchain& toolchain, bool openmp) {
  Words words{toolchain.path, "-o", "/out/kernel", "/out/kernel.o", "/out/main.o"};
  if (sanitizer == Sanitizer::kAddress) words.emplace_back("-fsanitize=address,undefined");
  if (sanitizer == Sanitizer::kThread) words.emplace_back("-fsanitize=thread");
  if (openmp && toolchain.clang) {
    words.push_back("-L" + toolchain.library_folder);
    words.push_back("-Wl,-rpath," + toolchain.library_folder);
  }
  if (openmp) words.emplace_back(toolchain.clang ? "-lomp" : "-lgomp");
  words.emplace_back("-lm");
  return words;
}

// The jail of compiler, linker and run: what the build jail sees, and /out.
struct Workshop {
  const Jail& jail;
  const Toolchain& toolchain;
  TempDir folder;

  [[nodiscard]] JailSpec Spec(Words argv, bool building) const {
    JailSpec spec =
        CompilerJail(toolchain, folder.path() / "in", folder.path() / "out", std::move(argv));
    spec.binds.back().writable = building;  // /out
    spec.env["HOME"] = "/tmp";
    spec.proc = !building;  // the sanitizers' run-time libraries read their own maps
    spec.limits = {.address_space_bytes = 0,
                   .cpu = Seconds{300},
                   .file_bytes = kOutputBytes,
                   .memory_bytes = kMemory,
                   .processes = 128,
                   .open_files = 256};
    return spec;
  }

  // Empty when it worked, else what the command said.
  [[nodiscard]] Result<std::string> Build(Words argv) const {
    const Jail::RunOutcome run =
        TRY(jail.Run(Spec(std::move(argv), true), {.wall = kCompileLimit}));
    if (run.ok()) return std::string();
    const Words lines = SplitLines(ToValidUtf8(run.err));
    return "does not build for it: " + Shorten(lines.empty() ? "no message" : lines.front(), 200);
  }
};

Result<Workshop> OpenWorkshop(const Jail& jail, const Toolchain& toolchain,
                              const Candidate& candidate, const std::string& header,
                              const InstrumentedCall& call) {
  Workshop shop{.jail = jail, .toolchain = toolchain, .folder = TRY(TempDir::Create())};
  const fs::path in = shop.folder.path() / "in";
  TRY(MakeDirectories(in));
  TRY(MakeDirectories(shop.folder.path() / "out"));
  TRY(WriteFileAtomic(in / "kernel.cpp", candidate.source()));
  TRY(WriteFileAtomic(in / "kernel.h", header));
  TRY(WriteFileAtomic(in / "main.cc", InstrumentedMain(call)));
  return shop;
}

Result<std::string> BuildExecutable(const Workshop& shop, Sanitizer sanitizer,
                                    const Candidate& candidate) {
  Candidate changed = candidate;
  changed.flags = Flags(sanitizer, candidate);
  std::string failure = TRY(shop.Build(CompileCommand(shop.toolchain, changed)));
  if (!failure.empty()) return failure;
  failure = TRY(
      shop.Build({shop.toolchain.path, "-c", "-O1", "-std=c++20", "main.cc", "-o", "/out/main.o"}));
  if (!failure.empty()) return failure;
  return shop.Build(LinkWords(sanitizer, shop.toolchain, UsesOpenMp(candidate)));
}

JailSpec RunSpec(const Workshop& shop, Sanitizer sanitizer, const InstrumentedCall& call) {
  Words argv{"/out/kernel"};
  if (sanitizer == Sanitizer::kMemory) argv = {"/usr/bin/valgrind", "-q", "/out/kernel"};
  JailSpec spec = shop.Spec(std::move(argv), false);
  const int threads = sanitizer == Sanitizer::kMemory ? 1 : std::max(call.threads, 2);
  spec.env["OMP_NUM_THREADS"] = std::to_string(threads);
  spec.env["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=0";
  spec.env["UBSAN_OPTIONS"] = "print_stacktrace=0:halt_on_error=1";
  if (sanitizer == Sanitizer::kThread) {
    // Without archer every barrier of the uninstrumented run-time library would look like a race.
    spec.env["OMP_TOOL_LIBRARIES"] = shop.toolchain.library_folder + "/libarcher.so";
    spec.env["TSAN_OPTIONS"] =
        "ignore_noninstrumented_modules=1:halt_on_error=1:allow_addr2line=1:external_symbolizer_"
        "path=/usr/bin/addr2line";
  }
  spec.fds = {{call.inputs->fd(), kInputsFd}};
  return spec;
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
  text += fmt::format("  pragma_kernel({});\n", fmt::join(names, ", "));
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    text += fmt::format("  Show(\"{}{}\\n\", o{}, {});\n", kOutputHeading, call.output_names[i], i,
                        call.outputs[i]);
  }
  text += "  _exit(0);\n}\n";
  return text;
}

Result<SanitizerOutcome> RunSanitizer(const Jail& jail, Toolchains& toolchains, Sanitizer sanitizer,
                                      const Candidate& candidate, const std::string& kernel_header,
                                      const InstrumentedCall& call) {
  if (sanitizer == Sanitizer::kThread && !UsesOpenMp(candidate))
    return SanitizerOutcome{.skipped = "no OpenMP, so no threads", .finding = {}};
  const bool clang = sanitizer == Sanitizer::kThread;
  const Toolchain toolchain = TRY(toolchains.Find(clang ? "clang++" : "g++"));
  if (std::string missing = Missing(sanitizer, toolchain); !missing.empty())
    return SanitizerOutcome{.skipped = std::move(missing), .finding = {}};
  const Workshop shop = TRY(OpenWorkshop(jail, toolchain, candidate, kernel_header, call));
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
