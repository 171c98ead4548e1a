// The vector preamble: small pieces of C++ code at the start of a generated kernel, with which the
// kernel is written as loops over `Vec` on every processor. A kernel contains only the pieces that
// it uses.
//
// The pieces and what they define (a Vec has kLanes floats: 16 with AVX-512, 8 with AVX2, else 4):
//   core    Vec, Ints (32-bit lanes, also the result of comparing Vecs), kLanes,
//           Load(p), LoadHeld(p) (kept in a register for several multiplications), Store(p, v),
//           Broadcast(x), Fma(a, b, c) = a * b + c, Select(mask, a, b),
//           Min(a, b), Max(a, b) (b where either is NaN), Abs(v), Bits(v), FromBits(i),
//           KeepMin(a, b), KeepMax(a, b) (NaN where either is NaN)
//   parts   LoadPart(p, n, rest), StorePart(p, v, n): the first n lanes only, 0 <= n <= kLanes
//   strided LoadStrided(p, stride, n), StoreStrided(p, stride, v, n): lane i at p + i * stride,
//           with loads and shuffles where the stride is small;
//           LoadInside(p, stride, at, step, limit, outside, n): `outside` in the lanes whose
//           at + i * step is not in [0, limit);
//           EachLane(v, f), EachLane(v, w, f): calls f for each lane
//   loops   AllLanes: a count that is known to be kLanes;
//           LoadLanes(p, n), StoreLanes(p, v, n), KeepLanes(v, n, rest): n is AllLanes or a count;
//           ForLanes<U>(from, to, body(x, u, n)) and ForColumns<V>(x, size, body(x, vectors, n)):
//           loops that pass their remainders to the body;
//           INLINE: attribute for the lambdas that are these bodies
//   limits  FirstInside(start, step, limit), EndInside(start, step, limit, count): the range of r
//           in [0, count) for which start + r * step is in [0, limit)
//   rows    FillOutside(row, from, to, span, value): fills [0, span) except [from, to)
//   stream  Stream(p, v): non-temporal store, p aligned to a Vec; StreamEnd() after the last one
//   stream_lanes  StreamLanes(p, v, n): non-temporal store of the first n lanes
//   wide    ForWideColumns<V>: ForColumns with more sizes for the remainder
//   turn    LoadTurned(p, stride, v): loads the rows of a square block, one cache line of floats
//           each way, as its columns (a transpose in registers)
//   ahead   Ahead(p): prefetches the memory at p, which will be read soon
//   lanes   SumLanes(v), ProductLanes(v), MinLanes(v), MaxLanes(v): reduce the lanes to one float
//   masks   LoadMask(p, n): loads bools as a mask, in the form that comparisons return
//   positions  KeepLargest, KeepSmallest, FirstBest: track the index of the extreme element;
//           StoreIntegers(p, stride, i, n): stores as 64-bit integers
//   scans   ScanLanes(v, identity, combine): combines each lane with all lanes before it
//   sqrt    Sqrt(v)
//   round   Floor(v), Ceil(v), Trunc(v), RoundEven(v)
//   exp, exp_minus_1, log, log1p, tanh, sigmoid, erf, normal_cdf: Exp(v), ExpMinus1(v), Log(v),
//           Log1p(v), Tanh(v), Sigmoid(v), Erf(v), NormalCdf(v)
//   exp_normal    ExpNormal(v), for results that are normal numbers
//   exp_negative  ExpNegative(v), for v at most 0
// The accuracy of each function is stated in its code, and the tests check it.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace pragma::expert {

enum class VectorPiece : std::uint8_t {
  kCore,
  kParts,
  kStrided,
  kLoops,
  kLimits,
  kRows,
  kWide,
  kTurn,
  kStream,
  kStreamLanes,
  kAhead,
  kMasks,
  kScans,
  kPositions,
  kLanes,
  kSqrt,
  kRound,
  kExpNormal,
  kExp,
  kExpNegative,
  kExpMinus1,
  kLog,
  kLog1p,
  kTanh,
  kSigmoid,
  kErf,
  kNormalCdf,
};

// Returns the code of these pieces and of the pieces that they need, in an order that compiles.
[[nodiscard]] std::string VectorPreamble(std::set<VectorPiece> pieces);

}  // namespace pragma::expert
