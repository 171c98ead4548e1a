// pragma-probe: measures what this machine can do and prints one JSON object: fp32 FMA peak, the
// peak of bf16 products, and read, copy and write bandwidth by working set, all with THREADS
// threads (argument 1). With "memory" as argument 2 it measures only the bandwidths beyond the
// caches. Each figure is the best of several short repetitions, and the time is the CPU time of the
// busiest thread, because other programs on the machine must not lower a bound.
#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string_view>
#include <vector>

#include "probe_kernels.h"
#if defined(PRAGMA_PROBE_X86)
#include "probe_matrix.h"
#endif

namespace {

const probe::Kernels& Widest() {
#if defined(PRAGMA_PROBE_X86)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
    return probe::avx512();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return probe::avx2();
#endif
  return probe::base();
}

double ThreadSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Runs `body` on all threads at once, several times. Returns the shortest time of the busiest
// thread.
double BestSeconds(int repetitions, int threads, const std::function<void()>& body) {
  double best = 1e9;
  for (int i = 0; i < repetitions; ++i) {
    double busiest = 0;
#pragma omp parallel num_threads(threads) reduction(max : busiest)
    {
      const double start = ThreadSeconds();
      body();
      busiest = ThreadSeconds() - start;
    }
    best = std::min(best, busiest);
  }
  return best;
}

volatile float sink;

double PeakGflops(const probe::Kernels& kernels, int threads) {
  constexpr long kRounds = 2'000'000;
  const double seconds = BestSeconds(9, threads, [&] { sink = kernels.fma(kRounds); });
  return 2.0 * kRounds * probe::kFmaChains * kernels.lanes * threads / seconds * 1e-9;
}

// Returns 0 where no unit multiplies bf16 numbers.
double Bf16Gflops([[maybe_unused]] int threads) {
  double best = 0;
#if defined(PRAGMA_PROBE_X86)
  for (const probe::Bf16Unit* unit : {probe::vector_bf16(), probe::tile_bf16()}) {
    if (unit == nullptr) continue;
    constexpr double kFlops = 2e9;  // of one thread in one repetition
    const long rounds = static_cast<long>(kFlops / unit->flops);
    const double seconds = BestSeconds(5, threads, [&] { unit->run(rounds); });
    best = std::max(best, unit->flops * static_cast<double>(rounds) * threads / seconds * 1e-9);
  }
#endif
  return best;
}

// WorkingSet: `bytes` of memory in total, of which each thread works on its own share.
struct WorkingSet {
  std::vector<float*> shares;
  std::size_t count;  // floats per thread
  WorkingSet(std::size_t bytes, int threads) : count(bytes / sizeof(float) / threads / 128 * 128) {
    shares.resize(threads);
#pragma omp parallel num_threads(threads)
    {
      auto* data = static_cast<float*>(
          std::aligned_alloc(4096, (count * sizeof(float) + 4095) / 4096 * 4096));
      std::fill_n(data, count, 1.0F);
      shares[omp_get_thread_num()] = data;
    }
  }
  ~WorkingSet() {
    for (float* share : shares) std::free(share);
  }
};

// Returns the bandwidth in 1e9 bytes per second when every thread calls `body`(share, floats) at
// once.
double Gbs(const WorkingSet& set, int threads,
           const std::function<void(float*, std::size_t)>& body) {
  const std::size_t bytes = set.count * sizeof(float) * threads;
  const int sweeps =
      static_cast<int>(std::clamp<std::size_t>((std::size_t{48} << 20U) / bytes, 1, 4000));
  const double seconds = BestSeconds(9, threads, [&] {
    for (int i = 0; i < sweeps; ++i) body(set.shares[omp_get_thread_num()], set.count);
  });
  return static_cast<double>(bytes) * sweeps / seconds * 1e-9;
}

void PrintBandwidth(const probe::Kernels& kernels, std::size_t bytes, int threads, bool last) {
  const WorkingSet set(bytes, threads);
  const double read =
      Gbs(set, threads, [&](float* p, std::size_t n) { sink = kernels.read(p, n); });
  // The bound uses the faster of the two kinds of stores, because a kernel may choose either.
  const double write =
      std::max(Gbs(set, threads, kernels.write), Gbs(set, threads, kernels.write_past));
  // Half of the set is read and half is written, so `n` floats are moved in all.
  const auto halves = [](void (*copy)(float*, const float*, std::size_t)) {
    return [copy](float* p, std::size_t n) { copy(p + n / 2, p, n / 2); };
  };
  const double copy = std::max(Gbs(set, threads, halves(kernels.copy)),
                               Gbs(set, threads, halves(kernels.copy_past)));
  std::printf(
      "{\"working_set_bytes\":%zu,\"read_gbs\":%.2f,\"copy_gbs\":%.2f,\"write_gbs\":%.2f}%s", bytes,
      read, copy, write, last ? "" : ",");
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : omp_get_max_threads();
  const bool memory_only = argc > 2 && std::string_view(argv[2]) == "memory";
  if (threads < 1 || threads > 4096 || argc > (memory_only ? 3 : 2)) return 2;
  const probe::Kernels& kernels = Widest();
  std::printf(
      "{\"threads\":%d,\"lanes\":%d,\"peak_gflops\":%.2f,\"bf16_gflops\":%.2f,\"bandwidth\":[",
      threads, kernels.lanes, memory_only ? 0 : PeakGflops(kernels, threads),
      memory_only ? 0 : Bf16Gflops(threads));
  std::vector<std::size_t> sizes{std::size_t{32} << 10U,  std::size_t{128} << 10U,
                                 std::size_t{512} << 10U, std::size_t{2} << 20U,
                                 std::size_t{8} << 20U,   std::size_t{24} << 20U,
                                 std::size_t{64} << 20U,  std::size_t{256} << 20U};
  // The first three sizes are per core.
  for (std::size_t i = 0; i < 3; ++i) sizes[i] *= threads;
  if (memory_only) sizes.erase(sizes.begin(), sizes.end() - 1);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    PrintBandwidth(kernels, sizes[i], threads, i + 1 == sizes.size());
  }
  std::printf("]}\n");
  return 0;
}
