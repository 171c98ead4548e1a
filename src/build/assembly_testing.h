// For tests: takes real compilers' assembly, rewrites it, assembles it and runs it in a child
// process.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"

namespace pragma {

inline constexpr std::size_t kTestFloats = 8192;
inline constexpr std::size_t kTestNumbers = 8192;

// ChildRecord: the results that the child leaves in shared memory.
struct ChildRecord {
  std::vector<std::vector<float>> out;  // by kernel
  std::vector<std::uint64_t> numbers;
};

class AssemblyBench final {
 public:
  AssemblyBench(std::string compiler, std::vector<std::string> flags)
      : compiler_(std::move(compiler)), flags_(std::move(flags)) {}

  // Returns the compiler's assembly of kernel.cpp, or an empty text if it failed.
  std::string Compile(const std::string& source) {
    std::ofstream(folder_.path() / "kernel.cpp") << source;
    std::vector<std::string> argv{compiler_, "-S", "-g1", "-fPIC", "-std=c++20"};
    argv.insert(argv.end(), flags_.begin(), flags_.end());
    argv.insert(argv.end(), {"kernel.cpp", "-o", "kernel.s"});
    if (!Run(argv)) return {};
    return ReadFile(folder_.path() / "kernel.s").value();
  }

  // Returns the path of the shared object made from an assembly text, or an empty path if the
  // compiler driver refused it.
  std::filesystem::path Link(const std::string& text, const std::string& name) {
    std::ofstream(folder_.path() / (name + ".s")) << text;
    std::vector<std::string> argv{compiler_, "-shared", "-fPIC", name + ".s", "-o", name + ".so"};
    for (const std::string& flag : flags_) {
      if (flag == "-fopenmp") argv.push_back(flag);
    }
    argv.insert(argv.end(), {"-lmvec", "-lm"});
    return Run(argv) ? folder_.path() / (name + ".so") : std::filesystem::path();
  }

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  bool Run(const std::vector<std::string>& argv) {
    const auto run = RunProcess({.argv = argv, .inherit_env = true, .cwd = folder_.path().string()},
                                {.wall = Seconds(300)});
    const bool ok = run && run->status.ok();
    EXPECT_TRUE(ok) << (run ? run->err : run.error().message);
    return ok;
  }
  TempDir folder_ = TempDir::Create().value();
  std::string compiler_;
  std::vector<std::string> flags_;
};

// ChildBody: called in the child with the library's handle, a function that runs the kernels, and
// room for numbers.
using ChildBody = std::function<void(void*, const std::function<void()>&, std::uint64_t*)>;

inline void RunKernels(void* handle, std::span<const char* const> kernels, float* out) {
  auto* x = static_cast<float*>(std::aligned_alloc(4096, kTestFloats * sizeof(float)));
  auto* scratch = std::aligned_alloc(4096, 1U << 20U);
  for (std::size_t i = 0; i < kTestFloats; ++i) {
    x[i] = static_cast<float>((i * 37) % 101) * 0.125F - 3.0F;
  }
  for (const char* name : kernels) {
    using Kernel = void (*)(const float*, float*, void*);
    const auto kernel = reinterpret_cast<Kernel>(dlsym(handle, name));
    if (kernel == nullptr) _exit(8);
    kernel(x, out, scratch);
    out += kTestFloats;
  }
}

// Loads a library in a child process and runs `body` there.
inline ChildRecord RunInChild(const std::filesystem::path& shared_object,
                              std::span<const char* const> kernels, const ChildBody& body) {
  const std::size_t bytes =
      kTestNumbers * sizeof(std::uint64_t) + kernels.size() * kTestFloats * sizeof(float);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* numbers = static_cast<std::uint64_t*>(memory);
  auto* out = reinterpret_cast<float*>(numbers + kTestNumbers);
  const pid_t child = fork();
  if (child == 0) {
    setenv("OMP_NUM_THREADS", "1", 1);
    alarm(240);
    void* handle = dlopen(shared_object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) _exit(9);
    // The library may have been loaded, and its threads started, before the fork. Those threads do
    // not exist in the child.
    const auto set_threads = reinterpret_cast<void (*)(int)>(dlsym(handle, "omp_set_num_threads"));
    if (set_threads != nullptr) set_threads(1);
    body(handle, [&] { RunKernels(handle, kernels, out); }, numbers);
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "wait status " << status;
  ChildRecord record;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    record.out.emplace_back(out + i * kTestFloats, out + (i + 1) * kTestFloats);
  }
  record.numbers.assign(numbers, numbers + kTestNumbers);
  munmap(memory, bytes);
  return record;
}

inline ChildRecord RunPlain(const std::filesystem::path& shared_object,
                            std::span<const char* const> kernels) {
  return RunInChild(shared_object, kernels,
                    [](void*, const std::function<void()>& run, std::uint64_t*) { run(); });
}

inline bool HasAvx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#else
  return false;
#endif
}

inline bool HasAvx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
  return false;
#endif
}

}  // namespace pragma
