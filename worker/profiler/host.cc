#include "worker/profiler/host.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace profiler {
namespace {

[[noreturn]] void Die(const char* what, const char* why) {
  std::fprintf(stderr, "pragma-profiler: %s: %s\n", what, why);
  _exit(9);
}

}  // namespace

Host::Host(const char* kernel, const char* result, char** options) {
  for (; *options != nullptr; ++options) options_.emplace_back(*options);
  result_ = std::fopen(result, "w");
  if (result_ == nullptr) Die(result, std::strerror(errno));
  if (kernel_memory_open(&memory_) != 0 || kernel_memory_map(&memory_) != 0)
    Die("shared memory", "cannot be mapped");
  for (const std::string& option : options_) {
    if (option.starts_with("events=") && pe_open(&events_, option.c_str() + 7) < 0)
      Die("events", option.c_str());
  }
  handle_ = dlopen(kernel, RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) Die("loading", dlerror());
  kernel_ = reinterpret_cast<void (*)()>(Find("pragma_kernel"));
  for (std::uint32_t set = 0; set < memory_.control->set_count; ++set) order_.push_back(set);
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  for (std::size_t i = order_.size(); i > 1; --i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    std::swap(order_[i - 1], order_[(state >> 33U) % i]);
  }
  if (memory_.control->packed_bytes == 0) return;
  auto* prepare = reinterpret_cast<void (*)()>(Find("pragma_prepare"));
  for (const std::uint32_t set : order_) kernel_memory_prepare(&memory_, prepare, set);
}

void* Host::Find(const char* name) {
  void* found = dlsym(handle_, name);
  if (found == nullptr) Die("the kernel lacks", name);
  return found;
}

void Host::Call() {
  kernel_memory_call(&memory_, kernel_, order_[next_]);
  next_ = (next_ + 1) % order_.size();
}

double Host::Option(const char* name, double otherwise) const {
  const std::string key = std::string(name) + "=";
  for (const std::string& option : options_) {
    if (option.starts_with(key)) return std::strtod(option.c_str() + key.size(), nullptr);
  }
  return otherwise;
}

void Host::Finish() {
  std::fprintf(result_, "end\n");
  std::fclose(result_);
  _exit(0);  // no code of the candidate runs during the exit
}

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t CallFor(Host& host, double seconds, std::uint64_t least) {
  constexpr double kPatience = 0.2;  // extra seconds for `least`: long calls need not run that
                                     // often
  const double end = Now() + seconds;
  std::uint64_t calls = 0;
  while (calls == 0 || Now() < (calls < least ? end + kPatience : end)) {
    host.Call();
    ++calls;
  }
  return calls;
}

}  // namespace profiler

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  profiler::Host host(argv[2], argv[3], argv + 4);
  const std::string mode = argv[1];
  if (mode == "clocks") profiler::Clocks(host);
  if (mode == "samples") profiler::Samples(host);
  if (mode == "counts") profiler::Counts(host);
  if (mode == "trace") profiler::Trace(host);
  if (mode == "counters") profiler::Counters(host);
  return 2;
}
