// The vector preamble: small pieces of C++ text that a generated kernel starts with, so that it
// reads as loops over `Vec` on every processor. A kernel has only the pieces that it uses.
//
// What the text offers (kLanes floats in a Vec: 16 with AVX-512, 8 with AVX2, else 4):
//   core    Vec, Ints (32-bit lanes, and what comparisons of Vecs yield), kLanes,
//           Load(p), LoadHeld(p) (for several multiplications: kept in a register), Store(p, v),
//           Broadcast(x), Fma(a, b, c) = a * b + c, Select(mask, a, b),
//           Min(a, b), Max(a, b) (b where either is NaN), Abs(v), Bits(v), FromBits(i),
//           KeepMin(a, b), KeepMax(a, b) (a NaN in either stays)
//   parts   LoadPart(p, n, rest), StorePart(p, v, n): the first n lanes only, 0 <= n <= kLanes
//   strided LoadStrided(p, stride, n), StoreStrided(p, stride, v, n): lane i at p + i * stride, by
//           loads and shuffles where the stride is small; LoadInside(p, stride, at, step, limit,
//           outside, n): `outside` in the lanes whose at + i * step is not in [0, limit);
//           EachLane(v, f), EachLane(v, w, f): f a lane
//   loops   AllLanes: a count that is known to be kLanes; LoadLanes(p, n), StoreLanes(p, v, n),
//           KeepLanes(v, n, rest) for either; ForLanes<U>(from, to, body(x, u, n)) and
//           ForColumns<V>(x, size, body(x, vectors, n)): loops that hand over their remainders;
//           INLINE: for the lambdas that are those bodies
//   limits  FirstInside(start, step, limit), EndInside(start, step, limit, count): for which r in
//           [0, count) start + r * step lies in [0, limit)
//   rows    FillOutside(row, from, to, span, value): all of [0, span) but [from, to)
//   stream  Stream(p, v): past the caches, p aligned to a Vec; StreamEnd() after the last of them;
//           stream_lanes: StreamLanes(p, v, n), the first n lanes
//   wide    ForWideColumns<V>: ForColumns with more sizes for what is left over
//   turn    LoadTurned(p, stride, v): rows of a square of a line's floats as its columns
//   ahead   Ahead(p): what lies there will be read soon
//   lanes   SumLanes(v), ProductLanes(v), MinLanes(v), MaxLanes(v): one float
//   masks   LoadMask(p, n): of bools, as comparisons have them
//   positions  where the best of many stands: KeepLargest, KeepSmallest, FirstBest;
//           StoreIntegers(p, stride, i, n): as 64-bit integers
//   scans   ScanLanes(v, identity, combine): each lane together with all before it
//   sqrt    Sqrt(v)
//   round   Floor(v), Ceil(v), Trunc(v), RoundEven(v)
//   exp, exp_minus_1, log, log1p, tanh, sigmoid, erf, normal_cdf: Exp(v), ExpMinus1(v), Log(v),
//           Log1p(v), Tanh(v), Sigmoid(v), Erf(v), NormalCdf(v); exp_normal, exp_negative:
//           ExpNormal(v), where the result is a normal number, ExpNegative(v), v at most 0;
//           the accuracy of each stands in its text and is what the tests hold it to
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

// The text of these pieces and of what they stand on, in an order that compiles.
[[nodiscard]] std::string VectorPreamble(std::set<VectorPiece> pieces);

}  // namespace pragma::expert
