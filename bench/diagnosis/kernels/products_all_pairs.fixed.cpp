// Twin of products_all_pairs.cpp: three loops over the block, none of which has more than 18 sums.
// pragma-flags: -O3 -march=native -fopenmp
#include "kernel.h"

constexpr int kSignals = task::x_dims[0], kCount = task::x_dims[1], kBlock = 1024;
static_assert(kSignals == 9 && kCount % kBlock == 0);

// Adds the products of one block of samples.
static void Add(const float* x, float (*sum)[kSignals]) {
  float s00 = 0, s01 = 0, s02 = 0, s03 = 0, s04 = 0, s05 = 0, s06 = 0, s07 = 0, s08 = 0, s11 = 0,
        s12 = 0, s13 = 0, s14 = 0, s15 = 0, s16 = 0, s17 = 0, s18 = 0;
#pragma omp simd reduction(+ : s00, s01, s02, s03, s04, s05, s06, s07, s08, s11, s12, s13, s14, \
                 s15, s16, s17, s18)
  for (int t = 0; t < kBlock; ++t) {
    const float x0 = x[0 * kCount + t], x1 = x[1 * kCount + t], x2 = x[2 * kCount + t], x3 = x[3 *
        kCount + t], x4 = x[4 * kCount + t], x5 = x[5 * kCount + t], x6 = x[6 * kCount + t], x7 =
        x[7 * kCount + t], x8 = x[8 * kCount + t];
    s00 += x0 * x0;
    s01 += x0 * x1;
    s02 += x0 * x2;
    s03 += x0 * x3;
    s04 += x0 * x4;
    s05 += x0 * x5;
    s06 += x0 * x6;
    s07 += x0 * x7;
    s08 += x0 * x8;
    s11 += x1 * x1;
    s12 += x1 * x2;
    s13 += x1 * x3;
    s14 += x1 * x4;
    s15 += x1 * x5;
    s16 += x1 * x6;
    s17 += x1 * x7;
    s18 += x1 * x8;
  }
  sum[0][0] += s00;
  sum[0][1] += s01;
  sum[0][2] += s02;
  sum[0][3] += s03;
  sum[0][4] += s04;
  sum[0][5] += s05;
  sum[0][6] += s06;
  sum[0][7] += s07;
  sum[0][8] += s08;
  sum[1][1] += s11;
  sum[1][2] += s12;
  sum[1][3] += s13;
  sum[1][4] += s14;
  sum[1][5] += s15;
  sum[1][6] += s16;
  sum[1][7] += s17;
  sum[1][8] += s18;
  float s22 = 0, s23 = 0, s24 = 0, s25 = 0, s26 = 0, s27 = 0, s28 = 0, s33 = 0, s34 = 0, s35 = 0,
        s36 = 0, s37 = 0, s38 = 0, s44 = 0, s45 = 0, s46 = 0, s47 = 0, s48 = 0;
#pragma omp simd reduction(+ : s22, s23, s24, s25, s26, s27, s28, s33, s34, s35, s36, s37, s38, \
                 s44, s45, s46, s47, s48)
  for (int t = 0; t < kBlock; ++t) {
    const float x2 = x[2 * kCount + t], x3 = x[3 * kCount + t], x4 = x[4 * kCount + t], x5 = x[5 *
        kCount + t], x6 = x[6 * kCount + t], x7 = x[7 * kCount + t], x8 = x[8 * kCount + t];
    s22 += x2 * x2;
    s23 += x2 * x3;
    s24 += x2 * x4;
    s25 += x2 * x5;
    s26 += x2 * x6;
    s27 += x2 * x7;
    s28 += x2 * x8;
    s33 += x3 * x3;
    s34 += x3 * x4;
    s35 += x3 * x5;
    s36 += x3 * x6;
    s37 += x3 * x7;
    s38 += x3 * x8;
    s44 += x4 * x4;
    s45 += x4 * x5;
    s46 += x4 * x6;
    s47 += x4 * x7;
    s48 += x4 * x8;
  }
  sum[2][2] += s22;
  sum[2][3] += s23;
  sum[2][4] += s24;
  sum[2][5] += s25;
  sum[2][6] += s26;
  sum[2][7] += s27;
  sum[2][8] += s28;
  sum[3][3] += s33;
  sum[3][4] += s34;
  sum[3][5] += s35;
  sum[3][6] += s36;
  sum[3][7] += s37;
  sum[3][8] += s38;
  sum[4][4] += s44;
  sum[4][5] += s45;
  sum[4][6] += s46;
  sum[4][7] += s47;
  sum[4][8] += s48;
  float s55 = 0, s56 = 0, s57 = 0, s58 = 0, s66 = 0, s67 = 0, s68 = 0, s77 = 0, s78 = 0, s88 = 0;
#pragma omp simd reduction(+ : s55, s56, s57, s58, s66, s67, s68, s77, s78, s88)
  for (int t = 0; t < kBlock; ++t) {
    const float x5 = x[5 * kCount + t], x6 = x[6 * kCount + t], x7 = x[7 * kCount + t], x8 = x[8 *
        kCount + t];
    s55 += x5 * x5;
    s56 += x5 * x6;
    s57 += x5 * x7;
    s58 += x5 * x8;
    s66 += x6 * x6;
    s67 += x6 * x7;
    s68 += x6 * x8;
    s77 += x7 * x7;
    s78 += x7 * x8;
    s88 += x8 * x8;
  }
  sum[5][5] += s55;
  sum[5][6] += s56;
  sum[5][7] += s57;
  sum[5][8] += s58;
  sum[6][6] += s66;
  sum[6][7] += s67;
  sum[6][8] += s68;
  sum[7][7] += s77;
  sum[7][8] += s78;
  sum[8][8] += s88;
}

extern "C" void pragma_kernel(const float* x, float* out, void* /*scratch*/) {
  float total[kSignals][kSignals] = {};
#pragma omp parallel
  {
    float mine[kSignals][kSignals] = {};
#pragma omp for
    for (int b = 0; b < kCount; b += kBlock) Add(x + b, mine);
#pragma omp critical
    for (int i = 0; i < kSignals; ++i)
      for (int j = i; j < kSignals; ++j) total[i][j] += mine[i][j];
  }
  for (int i = 0; i < kSignals; ++i)
    for (int j = 0; j < kSignals; ++j) out[i * kSignals + j] = i < j ? total[i][j] : total[j][i];
}
