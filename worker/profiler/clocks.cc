// The mode that measures wall and processor time, faults and context switches of warm calls, and
// each thread's share of them.
#include <dirent.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "worker/profiler/host.h"

namespace profiler {
namespace {

constexpr std::size_t kMostCalls = 200000;

// Returns the nanoseconds that each thread has run, from /proc.
std::map<int, std::uint64_t> ThreadTimes() {
  std::map<int, std::uint64_t> times;
  DIR* folder = opendir("/proc/self/task");
  if (folder == nullptr) return times;
  while (const dirent* entry = readdir(folder)) {
    const int thread = std::atoi(entry->d_name);
    if (thread <= 0) continue;
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/schedstat";
    FILE* file = std::fopen(path.c_str(), "r");
    if (file == nullptr) continue;
    unsigned long long ran = 0;
    if (std::fscanf(file, "%llu", &ran) == 1) times[thread] = ran;
    std::fclose(file);
  }
  closedir(folder);
  return times;
}

// Returns the current cycles per second of this core. It times a chain of operations whose latency
// is known (32-bit imul: 3 cycles on x86 since 2008).
double CoreHertz() {
  constexpr long kRounds = 100000;
  double best = 1e9;
  for (int repetition = 0; repetition < 7; ++repetition) {
    unsigned value = 3;
    const double start = Now();
    for (long i = 0; i < kRounds; ++i) {
#if defined(__x86_64__)
      asm volatile("imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0" : "+r"(value));
#endif
    }
    best = std::min(best, Now() - start);
  }
#if defined(__x86_64__)
  return 12.0 * kRounds / best;
#else
  return 0;  // no operation has the same known latency on every such core
#endif
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

void PrintUsage(FILE* out, const rusage& a, const rusage& b) {
  std::fprintf(out, "user_seconds %.9g\n", Seconds(b.ru_utime) - Seconds(a.ru_utime));
  std::fprintf(out, "system_seconds %.9g\n", Seconds(b.ru_stime) - Seconds(a.ru_stime));
  std::fprintf(out, "minor_faults %ld\n", b.ru_minflt - a.ru_minflt);
  std::fprintf(out, "involuntary_switches %ld\n", b.ru_nivcsw - a.ru_nivcsw);
  std::fprintf(out, "voluntary_switches %ld\n", b.ru_nvcsw - a.ru_nvcsw);
}

}  // namespace

void Clocks(Host& host) {
  const double seconds = host.Option("seconds", 0.2);
  CallFor(host, seconds * 0.25, host.memory().control->set_count);
  std::vector<double> times;
  times.reserve(kMostCalls);
  rusage before{};
  rusage after{};
  const std::map<int, std::uint64_t> ran = ThreadTimes();
  getrusage(RUSAGE_SELF, &before);
  const double start = Now();
  double last = start;
  while (times.size() < 3 || (last - start < seconds && times.size() < kMostCalls)) {
    host.Call();
    const double now = Now();
    times.push_back(now - last);
    last = now;
  }
  getrusage(RUSAGE_SELF, &after);
  FILE* out = host.result();
  std::fprintf(out, "calls %zu\nwall_seconds %.9g\n", times.size(), last - start);
  PrintUsage(out, before, after);
  for (const auto& [thread, now] : ThreadTimes()) {
    const auto then = ran.find(thread);
    const std::uint64_t earlier = then == ran.end() ? 0 : then->second;
    std::fprintf(out, "thread %.9g\n", static_cast<double>(now - earlier) * 1e-9);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  std::fprintf(out, "median_seconds %.9g\n", times[times.size() / 2]);
  if (const double hertz = CoreHertz(); hertz > 0) std::fprintf(out, "core_hertz %.9g\n", hertz);
  host.Finish();
}

}  // namespace profiler
