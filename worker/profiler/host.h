// The profiler's host: loads one candidate as the worker does and observes its kernel in one way.
// Runs jailed, without the worker's filters: what it reports is advice, never a verdict.
//
//   pragma-profiler MODE KERNEL.so RESULT [NAME=VALUE...]
//
// Memory comes on the worker's descriptors (worker/load/kernel_memory.h). The result is lines of words.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "worker/load/kernel_memory.h"
#include "worker/profiler/perf_events.h"

namespace profiler {

class Host {
 public:
  // Exits with a line on stderr when something is amiss.
  Host(const char* kernel, const char* result, char** options);

  // The kernel on the next of the sets, in an order that no hardware prefetcher knows.
  void Call();
  // `name` of the candidate's object; ends the program when it has none.
  template <class T>
  T* Symbol(const char* name) {
    return static_cast<T*>(Find(name));
  }
  [[nodiscard]] double Option(const char* name, double otherwise) const;
  // EVENTS=... of the command line, open; empty without it.
  [[nodiscard]] const pe_set& events() const { return events_; }
  [[nodiscard]] FILE* result() const { return result_; }
  [[nodiscard]] std::uint32_t next_set() const { return order_[next_]; }
  [[nodiscard]] const kernel_memory& memory() const { return memory_; }
  [[noreturn]] void Finish();

 private:
  void* Find(const char* name);
  pe_set events_{};
  kernel_memory memory_{};
  void* handle_ = nullptr;
  void (*kernel_)() = nullptr;
  FILE* result_ = nullptr;
  std::vector<std::string> options_;
  std::vector<std::uint32_t> order_;
  std::size_t next_ = 0;
};

double Now();  // seconds, monotonic

// Calls until `seconds` have passed, at least `least` times; returns how many.
std::uint64_t CallFor(Host& host, double seconds, std::uint64_t least);

// The modes.
void Clocks(Host& host);
void Samples(Host& host);
void Counts(Host& host);
void Trace(Host& host);
void Counters(Host& host);

}  // namespace profiler
