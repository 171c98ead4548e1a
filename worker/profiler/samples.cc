// The mode that samples the program counter, about a thousand times per second, on the thread that
// calls the kernel.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <vector>

#include "worker/profiler/host.h"

namespace profiler {
namespace {

constexpr std::size_t kMostSamples = 1U << 16U;
std::uintptr_t samples[kMostSamples];
std::atomic<std::size_t> taken{0};

void OnTick(int /*signal*/, siginfo_t* /*info*/, void* context) {
  const std::size_t index = taken.load(std::memory_order_relaxed);
  if (index >= kMostSamples) return;
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  samples[index] = static_cast<std::uintptr_t>(machine->gregs[REG_RIP]);
#else
  samples[index] = machine->pc;
#endif
  taken.store(index + 1, std::memory_order_relaxed);
}

// Starts a monotonic timer for this thread. Processor-time timers would only tick at the kernel's
// own slow rate.
timer_t StartTimer(long hertz) {
  struct sigaction action{};
  action.sa_sigaction = OnTick;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  timer_t timer{};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return timer;
  itimerspec interval{};
  interval.it_interval.tv_nsec = 1'000'000'000L / hertz;
  interval.it_value = interval.it_interval;
  timer_settime(timer, 0, &interval, nullptr);
  return timer;
}

void StopTimer(timer_t timer) { timer_delete(timer); }

// Returns "library symbol" for a program counter outside the kernel.
std::string NameOf(std::uintptr_t counter) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(counter), &info) == 0 || info.dli_fname == nullptr)
    return "unknown unknown";
  const char* slash = std::strrchr(info.dli_fname, '/');
  std::string name = slash == nullptr ? info.dli_fname : slash + 1;
  return name + " " + (info.dli_sname == nullptr ? "unknown" : info.dli_sname);
}

// Places: finds the last place that begins at or before a program counter.
class Places {
 public:
  explicit Places(Host& host) {
    void* const* addresses = host.Symbol<void*>("pragma_place_addresses");
    const std::uint64_t count = *host.Symbol<std::uint64_t>("pragma_place_count");
    for (std::uint64_t i = 0; i < count; ++i)
      sorted_.emplace_back(reinterpret_cast<std::uintptr_t>(addresses[i]), i);
    std::sort(sorted_.begin(), sorted_.end());
  }
  [[nodiscard]] long Find(std::uintptr_t counter) const {
    auto after = std::upper_bound(sorted_.begin(), sorted_.end(),
                                  std::pair<std::uintptr_t, std::uint64_t>(counter, UINT64_MAX));
    return after == sorted_.begin() ? -1 : static_cast<long>(std::prev(after)->second);
  }

 private:
  std::vector<std::pair<std::uintptr_t, std::uint64_t>> sorted_;
};

}  // namespace

void Samples(Host& host) {
  CallFor(host, 0.02, host.memory().control->set_count);
  const timer_t timer = StartTimer(static_cast<long>(host.Option("hertz", 997)));
  const std::uint64_t calls = CallFor(host, host.Option("seconds", 0.5), 1);
  StopTimer(timer);
  const Places places(host);
  std::map<long, int> inside;
  std::map<std::string, int> outside;
  Dl_info kernel{};
  dladdr(host.Symbol<void>("pragma_kernel"), &kernel);
  for (std::size_t i = 0; i < taken.load(); ++i) {
    Dl_info info{};
    const bool known = dladdr(reinterpret_cast<void*>(samples[i]), &info) != 0;
    const long place = known && info.dli_fbase == kernel.dli_fbase ? places.Find(samples[i]) : -1;
    if (place >= 0) {
      ++inside[place];
    } else {
      ++outside[NameOf(samples[i])];
    }
  }
  std::fprintf(host.result(), "calls %llu\n", static_cast<unsigned long long>(calls));
  for (const auto& [place, count] : inside)
    std::fprintf(host.result(), "place %ld %d\n", place, count);
  for (const auto& [name, count] : outside)
    std::fprintf(host.result(), "outside %d %s\n", count, name.c_str());
  host.Finish();
}

}  // namespace profiler
