// The units of pragma-probe that multiply bf16 numbers and add in fp32.
#pragma once

namespace probe {

struct Bf16Unit {
  double flops;  // of one round
  void (*run)(long rounds);
};

// Each returns nullptr where the processor or the operating system does not offer the unit.
const Bf16Unit* vector_bf16();  // AVX512_BF16
const Bf16Unit* tile_bf16();    // AMX

}  // namespace probe
