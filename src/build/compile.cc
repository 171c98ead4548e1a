#include "build/compile.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/text.h"
#include "build/builder.h"
#include "build/diagnostics.h"
#include "build/dialect.h"
#include "build/elf_file.h"
#include "build/lexer.h"
#include "build/odd_instructions.h"
#include "build/toolchain.h"
#include "core/candidate.h"
#include "core/diagnostic.h"
#include "core/status.h"
#include "sandbox/jail.h"

namespace pragma {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::size_t kObjectBytes = std::size_t{64} << 20U;    // limit of any file that a compiler
                                                                // writes
constexpr std::size_t kListingBytes = std::size_t{256} << 20U;  // limit of the disassembly
constexpr std::size_t kLogBytes = std::size_t{16} << 10U;
constexpr std::size_t kReasonErrors = 3;

// Returns the linker's version script. The object exports only the names of the contract.
std::string VersionScript(const Dialect& dialect) {
  std::string script = "{ global: ";
  for (const std::string_view name : dialect.exports) {
    if (!name.empty()) script += std::string(name) + "; ";
  }
  return script + "local: *; };\n";
}

// A header that is found before CUDA's own header of that name, and replaces its clock. The waits
// of cuda::barrier and the like ask the clock how long to sleep, but device code may not read
// clocks (ptx_audit.h). With a time that never changes they poll.
constexpr const char* kTimelessHeader = "cuda/std/__cuda/chrono.h";
constexpr const char* kTimeless =
    "#pragma once\n"
    "#include <nv/target>\n"
    "#pragma push_macro(\"NV_DISPATCH_TARGET\")\n"
    "#pragma push_macro(\"NV_IF_ELSE_TARGET\")\n"
    "#undef NV_DISPATCH_TARGET\n"
    "#undef NV_IF_ELSE_TARGET\n"
    "#define NV_DISPATCH_TARGET(...) return time_point(duration::zero());\n"
    "#define NV_IF_ELSE_TARGET(...) return time_point(duration::zero());\n"
    "#include_next <cuda/std/__cuda/chrono.h>\n"
    "#pragma pop_macro(\"NV_IF_ELSE_TARGET\")\n"
    "#pragma pop_macro(\"NV_DISPATCH_TARGET\")\n";

// Scratch: the folder whose parts the jail sees as /build and /out.
struct Scratch {
  TempDir folder;
  fs::path in;
  fs::path out;
};

Result<Scratch> PrepareScratch(const fs::path& parent, const CompileInput& input) {
  Scratch scratch{.folder = TRY(TempDir::Create(parent)), .in = {}, .out = {}};
  scratch.in = scratch.folder.path() / "in";
  scratch.out = scratch.folder.path() / "out";
  TRY(MakeDirectories(scratch.in));
  TRY(MakeDirectories(scratch.out));
  const Dialect dialect = DialectOf(input.candidate.language);
  TRY(WriteFileAtomic(scratch.in / dialect.source, input.candidate.source()));
  TRY(WriteFileAtomic(scratch.in / "kernel.h", input.kernel_header));
  TRY(WriteFileAtomic(scratch.in / "exports.map", VersionScript(dialect)));
  if (input.candidate.language == Language::kCuda) {
    const fs::path timeless = scratch.in / kTimelessHeader;
    TRY(MakeDirectories(timeless.parent_path()));
    TRY(WriteFileAtomic(timeless, kTimeless));
  }
  return scratch;
}

JailSpec BuildSpec(const CompileInput& input, const Scratch& scratch, Words argv) {
  JailSpec spec = CompilerJail(input.toolchain, scratch.in, scratch.out, std::move(argv));
  spec.limits = {.address_space_bytes = input.limits.address_space_bytes,
                 .cpu = input.limits.cpu,
                 .file_bytes = kObjectBytes,
                 .memory_bytes = input.limits.address_space_bytes,
                 .processes = 32,
                 .open_files = 256};
  return spec;
}

bool IncludesKernelHeader(const std::string& source) {
  return std::ranges::any_of(LexSource(source).directives, [](const SourceDirective& directive) {
    return directive.name == "include" &&
           (directive.rest.starts_with("\"kernel.h\"") || directive.rest.starts_with("<kernel.h>"));
  });
}

// Returns what the failure of one command means. A driver (g++) survives its children and says how
// they died. clang does the work itself.
Status ClassifyFailure(const Jail::RunOutcome& run) {
  const std::string& text = run.err;
  const bool signalled = run.outcome.kind == Outcome::Kind::kSignalled;
  if (run.timed_out || (signalled && run.outcome.code == SIGXCPU) ||
      text.contains("CPU time limit exceeded")) {
    return Status::kTimeout;
  }
  if ((signalled && run.outcome.code == SIGXFSZ) || text.contains("File size limit exceeded") ||
      text.contains("File too large")) {
    return Status::kRejectedSource;
  }
  for (const std::string_view sign :
       {"out of memory", "virtual memory exhausted", "Cannot allocate memory", "std::bad_alloc",
        "Killed signal", "memory exhausted"}) {
    if (text.contains(sign)) return Status::kOutOfMemory;
  }
  if (signalled && (run.outcome.code == SIGKILL || run.outcome.code == SIGABRT))
    return Status::kOutOfMemory;
  return Status::kCompileError;
}

std::string DiagnosticText(const Diagnostic& diagnostic) {
  std::string text;
  if (diagnostic.line > 0) text = diagnostic.file + ":" + std::to_string(diagnostic.line) + ": ";
  text += diagnostic.message;
  if (!diagnostic.source_line.empty()) text += "\n  " + diagnostic.source_line;
  return text;
}

// Returns the place in the kernel that caused error number `index`, which is located in a library's
// header.
std::string CauseText(const std::vector<Diagnostic>& diagnostics, std::size_t index) {
  for (std::size_t i = index + 1; i < diagnostics.size(); ++i) {
    const Diagnostic& next = diagnostics[i];
    if (next.severity != "note") break;
    if (IsKernelSource(next.file)) return "\n  caused by " + DiagnosticText(next);
  }
  return {};
}

std::string CompileErrorReason(const BuildFailure& failure, const Jail::RunOutcome& run) {
  Words reasons;
  for (std::size_t i = 0; i < failure.diagnostics.size(); ++i) {
    const Diagnostic& diagnostic = failure.diagnostics[i];
    if (diagnostic.severity != "error" || reasons.size() == kReasonErrors) continue;
    const bool own = IsKernelSource(diagnostic.file);
    reasons.push_back(DiagnosticText(diagnostic) +
                      (own ? std::string() : CauseText(failure.diagnostics, i)));
  }
  if (!reasons.empty()) return Join(reasons, "\n");
  return "the compiler " + run.outcome.Describe() + ": " + Shorten(Trim(ToValidUtf8(run.err)), 500);
}

BuildFailure Failure(const CompileInput& input, const Jail::RunOutcome& run,
                     std::string_view step) {
  BuildFailure failure;
  failure.status = ClassifyFailure(run);
  failure.log = ToValidUtf8(Shorten(run.err, kLogBytes));
  failure.diagnostics = ParseDiagnostics(run.err, input.candidate.source());
  const std::string seconds = FormatSeconds(std::min(input.limits.wall, input.limits.cpu).count());
  const std::string memory = FormatBytes(static_cast<double>(input.limits.address_space_bytes));
  switch (failure.status) {
    case Status::kTimeout:
      failure.reason = std::string(step) + " did not end within " + seconds +
                       ": use less template and constexpr computation, smaller unrolled loops and "
                       "smaller tables, or allow more with --build-limit";
      break;
    case Status::kOutOfMemory:
      failure.reason = std::string(step) + " needed more than " + memory +
                       " of memory: use less template and constexpr computation and smaller tables";
      break;
    case Status::kRejectedSource:
      failure.reason = "the object would be larger than " +
                       FormatBytes(static_cast<double>(kObjectBytes)) +
                       ": initialised tables must be smaller; use scratch memory for large areas";
      break;
    default: failure.reason = CompileErrorReason(failure, run);
  }
  return failure;
}

// Runs one command. Its failure is a value.
Result<std::optional<BuildFailure>> Step(const Jail& jail, const CompileInput& input,
                                         const Scratch& scratch, Words argv,
                                         std::string_view name) {
  const JailSpec spec = BuildSpec(input, scratch, std::move(argv));
  const Jail::RunOutcome run = TRY(jail.Run(spec, {.wall = input.limits.wall}));
  if (run.ok()) return std::optional<BuildFailure>();
  if (run.err.contains("No space left on device") && DiskIsFull(scratch.folder.path())) {
    return Fail(ErrorKind::kUnavailable,
                "the disk of " + scratch.folder.path().parent_path().string() +
                    " is full: " + std::string(name) +
                    " cannot write the kernel; free some space, or move the folder with --home");
  }
  return std::optional<BuildFailure>(Failure(input, run, name));
}

}  // namespace

JailSpec CompilerJail(const Toolchain& toolchain, const fs::path& in, const fs::path& out,
                      Words argv) {
  JailSpec spec;
  spec.argv = std::move(argv);
  spec.env = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}, {"TMPDIR", "/tmp"}};
  spec.cwd = "/build";
  BindToolchain(toolchain, spec);
  spec.binds.push_back({in, "/build", false});
  spec.binds.push_back({out, "/out", true});
  spec.tmpfs = {"/tmp"};
  return spec;
}

bool UsesOpenMp(const Candidate& candidate) {
  return std::ranges::find(candidate.flags, "-fopenmp") != candidate.flags.end();
}

void AddAuthors(const Candidate& candidate, Words& words) {
  words.insert(words.end(), candidate.flags.begin(), candidate.flags.end());
  for (const auto& [name, value] : candidate.tunables) {
    words.push_back("-DPRAGMA_TUNE_" + name + "=" + std::to_string(value));
  }
  // kernel.h is not included ahead of a source that includes it itself. What that source defines
  // before it (PRAGMA_PREPACKED) chooses the prototype.
  if (!IncludesKernelHeader(candidate.source())) {
    words.emplace_back("-include");
    words.emplace_back("kernel.h");
  }
  words.emplace_back(DialectOf(candidate.language).source);
  for (const char* word : {"-o", "/out/kernel.o"}) words.emplace_back(word);
}

// The author's flags come after pragma's, so that the author can choose -std and the like.
std::vector<std::string> CompileCommand(const Toolchain& toolchain, const Candidate& candidate) {
  Words words{toolchain.path,
              "-c",
              "-x",
              "c++",
              "-std=c++20",
              "-fPIC",
              "-fno-semantic-interposition",
              "-fdiagnostics-color=never",
              "-U_FORTIFY_SOURCE",
              "-pipe",
              "-ftemplate-backtrace-limit=4",
              "-I."};
  const Words own =
      toolchain.clang
          ? Words{"-fno-caret-diagnostics", "-ferror-limit=10", "-fno-crash-diagnostics"}
          : Words{"-fno-diagnostics-show-caret", "-fmax-errors=10", "-fno-gnu-unique"};
  words.insert(words.end(), own.begin(), own.end());
  AddAuthors(candidate, words);
  return words;
}

std::vector<std::string> CudaCompileCommand(const CompileInput& input) {
  // "9.0" becomes sm_90a, with the features that only that architecture has, since the code runs on
  // no other.
  std::string architecture = input.capability;
  std::erase(architecture, '.');
  if (architecture.size() > 2 || architecture >= "90") architecture += "a";
  Words words{input.toolchain.path, "-c", "-x", "cu", "-std=c++20", "-O3",
              "-gencode=arch=compute_" + architecture + ",code=sm_" + architecture, "-cudart=none",
              // Keeps the PTX, which is audited.
              "-keep", "-keep-dir=/out", "-default-stream=legacy", "-expt-relaxed-constexpr",
              "-ccbin=" + input.linker.path,
              "-Xcompiler=-O2,-fPIC,-fno-gnu-unique,-fno-semantic-interposition,-U_FORTIFY_SOURCE",
              "-I."};
  AddAuthors(input.candidate, words);
  return words;
}

// The link command omits the author's flags. -ffast-math here would add a constructor that sets
// flush-to-zero for the whole process.
std::vector<std::string> LinkCommand(const Toolchain& toolchain, bool openmp) {
  Words words{toolchain.path,
              "-shared",
              "-nodefaultlibs",
              "-o",
              "/out/kernel.so",
              "/out/kernel.o",
              "-Wl,-z,now,-z,relro,-z,noexecstack",
              "-Wl,--version-script=exports.map",
              "-Wl,--as-needed"};
  if (openmp && toolchain.clang) words.push_back("-L" + toolchain.library_folder);
  if (openmp) words.emplace_back(toolchain.clang ? "-lomp" : "-lgomp");
  for (const char* library : {"-lstdc++", "-lm", "-lgcc_s", "-lgcc", "-lc", "-lgcc"})
    words.emplace_back(library);
  return words;
}

namespace {

// Disassembles with objdump, which comes with the assembler of every toolchain. If objdump fails,
// the result is an Error, so that no object passes unexamined.
Result<std::string> Disassemble(const Jail& jail, const CompileInput& input,
                                const Scratch& scratch) {
  const Words argv{"/usr/bin/objdump", "-d", "--no-show-raw-insn", "--no-addresses",
                   "/out/kernel.so"};
  const Jail::RunOutcome run =
      TRY(jail.Run(BuildSpec(input, scratch, argv),
                   {.wall = input.limits.wall, .max_output_bytes = kListingBytes}));
  if (run.ok() && !run.truncated) return run.out;
  return Fail("objdump cannot show the kernel's code: " + run.outcome.Describe() +
              "; is the package binutils installed?");
}

}  // namespace

Result<CompileOutcome> Compile(const Jail& jail, const fs::path& scratch_parent,
                               const CompileInput& input) {
  const Scratch scratch = TRY(PrepareScratch(scratch_parent, input));
  const bool cuda = input.candidate.language == Language::kCuda;
  auto failed =
      TRY(Step(jail, input, scratch,
               cuda ? CudaCompileCommand(input) : CompileCommand(input.toolchain, input.candidate),
               "the compiler"));
  if (!failed) {
    failed = TRY(Step(jail, input, scratch, LinkCommand(input.linker, UsesOpenMp(input.candidate)),
                      "the linker"));
  }
  if (failed) return CompileOutcome(std::move(*failed));
  CompiledObject object{.bytes = TRY(ReadForeignFile(scratch.out / "kernel.so", kObjectBytes)),
                        .disassembly = {},
                        .ptx = {}};
  if (cuda) object.ptx = TRY(ReadForeignFile(scratch.out / "kernel.ptx", kObjectBytes));
  const Result<ElfFile> elf = ReadElf(object.bytes);
  if (elf && CallForDisassembly(elf->odd_instructions)) {
    object.disassembly = TRY(Disassemble(jail, input, scratch));
  }
  return CompileOutcome(std::move(object));
}

}  // namespace pragma
