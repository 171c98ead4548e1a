// Helpers for tests of generators: they build generated code with a real compiler and run it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "expert/cpp/anchor_kernel.h"

namespace pragma::expert {

struct TestCompiler {
  const char* name;
  std::vector<std::string> flags;
};

// Each compiler builds one program of all kernels of a generator, because headers and the vector
// preamble cost as much as several kernels. The kernels are written in vectors, so -O1 is enough.
[[nodiscard]] inline const std::vector<TestCompiler>& CompilersOfAll() {
  static const std::vector<TestCompiler> kCompilers{
      {"g++", {"-O1", "-march=native"}},
      {"g++", {"-O1", "-march=x86-64-v3", "-g0", "-fsanitize=address,undefined"}}};
  return kCompilers;
}

// Builds a sample of the kernels, which shows that this compiler takes the text.
[[nodiscard]] inline TestCompiler CompilerOfSome() {
  return {"clang++-19", {"-O1", "-march=native"}};
}

[[nodiscard]] inline bool Installed(const TestCompiler& compiler) {
  ProcessSpec spec;
  spec.argv = {compiler.name, "--version"};
  spec.inherit_env = true;
  const Result<RunResult> run = RunProcess(spec, {});
  return run && run->status.ok();
}

[[nodiscard]] inline std::string RunIn(const std::string& folder, std::vector<std::string> argv) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.cwd = folder;
  spec.inherit_env = true;
  const Result<RunResult> run = RunProcess(spec, {.wall = Seconds{900}});
  if (!run) return run.error().message;
  return run->status.ok() ? run->out : "fails: " + run->err;
}

// Returns a g++ configuration that gives each tunable the least, or the greatest, of its values
// instead of its default.
[[nodiscard]] inline TestCompiler WithExtremes(const char* least_or_greatest) {
  return {"g++",
          {"-O1", "-march=native",
           std::string("-DCHOICE(otherwise,...)=std::") + least_or_greatest + "({__VA_ARGS__})"}};
}

// Builds and runs the program and returns what it prints. An empty string means that nothing was
// wrong.
[[nodiscard]] inline std::string BuildAndRun(const TestCompiler& compiler,
                                             const std::string& kernels, const std::string& main) {
  const TempDir folder = std::move(*TempDir::Create());
  using P = VectorPiece;
  const std::string source =
      "#include <omp.h>\n#include <algorithm>\n#include <array>\n#include <cstddef>\n"
      "#include <cstdint>\n"
      "#ifndef CHOICE\n"
      "#define CHOICE(otherwise, ...) otherwise\n"
      "#endif\n"
      "#define PRAGMA_TUNE(name, otherwise, ...) "
      "[[maybe_unused]] static constexpr int name = CHOICE(otherwise, __VA_ARGS__)\n" +
      VectorPreamble({P::kCore, P::kParts, P::kStream, P::kLoops, P::kLanes, P("ExpNegative")}) +
      std::string(PackingText()) + kernels + main;
  if (!WriteFileAtomic(folder.path() / "check.cpp", source)) return "cannot write the source";
  std::vector<std::string> build{
      compiler.name, "-std=c++20",         "-Wall",   "-Wextra", "-Werror",
      "-Wno-psabi",  "-Wno-uninitialized", "-fopenmp"};
  build.insert(build.end(), compiler.flags.begin(), compiler.flags.end());
  build.insert(build.end(), {"check.cpp", "-o", "check"});
  const std::string complaints = RunIn(folder.path(), build);
  return complaints.empty() ? RunIn(folder.path(), {"./check"}) : complaints;
}

}  // namespace pragma::expert
