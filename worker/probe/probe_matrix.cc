// This file is compiled for the instructions that it uses. They run only where they exist.
#include "probe_matrix.h"

#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace probe {
namespace {

constexpr int kChains = 12;

void RunVectors(long rounds) {
  __m512 sums[kChains] = {};
#pragma GCC unroll 12
  for (int c = 0; c < kChains; ++c) asm volatile("" : "+v"(sums[c]));  // not one chain twelve times
  const __m512bh a = (__m512bh)_mm512_set1_epi16(0x3f80);
  for (long i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) sums[c] = _mm512_dpbf16_ps(sums[c], a, a);
  }
#pragma GCC unroll 12
  for (int c = 0; c < kChains; ++c) asm volatile("" ::"v"(sums[c]));
}

struct alignas(64) TileConfig {
  unsigned char palette = 1;
  unsigned char start_row = 0;
  unsigned char reserved[14] = {};
  unsigned short row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  unsigned char rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Four accumulators, because a product of tiles takes longer than the unit needs to start the next.
// The configuration is static, because g++ 12 believes that the instruction reads only its first
// bytes and would not write the others.
void RunTiles(long rounds) {
  static constexpr TileConfig kConfig;
  _tile_loadconfig(&kConfig);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
  for (long i = 0; i < rounds; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}

bool Has(unsigned subleaf, unsigned number, unsigned bit) {
  unsigned registers[4] = {};
  if (__get_cpuid_count(7, subleaf, &registers[0], &registers[1], &registers[2], &registers[3]) ==
      0)
    return false;
  return ((registers[number] >> bit) & 1U) != 0;
}

// The operating system gives a process the tiles' registers when it asks for them.
bool MayUseTiles() {
  constexpr long kRequestPermission = 0x1023;
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

const Bf16Unit* vector_bf16() {
  static const Bf16Unit unit{2.0 * 32 * kChains, RunVectors};
  return __builtin_cpu_supports("avx512f") && Has(1, 0, 5) ? &unit : nullptr;
}

const Bf16Unit* tile_bf16() {
  static const Bf16Unit unit{4 * 2.0 * 16 * 16 * 32, RunTiles};
  return Has(0, 3, 22) && Has(0, 3, 24) && MayUseTiles() ? &unit : nullptr;
}

}  // namespace probe
