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
//   Round   Floor(v), Ceil(v), Trunc(v), RoundEven(v)
//   Sqrt, Exp, ExpMinus1, Log, Log1p, Tanh, Sigmoid, Erf, NormalCdf: the function of that name
//   ExpNormal     ExpNormal(v), for results that are normal numbers
//   ExpNegative   ExpNegative(v), for v at most 0
// The accuracy of each function is stated in its code, and the tests check it.
#pragma once

#include <compare>
#include <set>
#include <string>
#include <string_view>

namespace pragma::expert {

// VectorPiece: a piece by its name. Pieces that hold an elementary function have the function's
// name, such as VectorPiece("Exp"), and are listed with their code (MathPieces).
class VectorPiece final {
 public:
  constexpr explicit VectorPiece(std::string_view name) : name_(name) {}

  static const VectorPiece kCore;
  static const VectorPiece kParts;
  static const VectorPiece kStrided;
  static const VectorPiece kLoops;
  static const VectorPiece kLimits;
  static const VectorPiece kRows;
  static const VectorPiece kWide;
  static const VectorPiece kTurn;
  static const VectorPiece kStream;
  static const VectorPiece kStreamLanes;
  static const VectorPiece kAhead;
  static const VectorPiece kMasks;
  static const VectorPiece kScans;
  static const VectorPiece kPositions;
  static const VectorPiece kLanes;

  friend auto operator<=>(const VectorPiece&, const VectorPiece&) = default;

 private:
  std::string_view name_;
};

inline constexpr VectorPiece VectorPiece::kCore{"core"};
inline constexpr VectorPiece VectorPiece::kParts{"parts"};
inline constexpr VectorPiece VectorPiece::kStrided{"strided"};
inline constexpr VectorPiece VectorPiece::kLoops{"loops"};
inline constexpr VectorPiece VectorPiece::kLimits{"limits"};
inline constexpr VectorPiece VectorPiece::kRows{"rows"};
inline constexpr VectorPiece VectorPiece::kWide{"wide"};
inline constexpr VectorPiece VectorPiece::kTurn{"turn"};
inline constexpr VectorPiece VectorPiece::kStream{"stream"};
inline constexpr VectorPiece VectorPiece::kStreamLanes{"stream_lanes"};
inline constexpr VectorPiece VectorPiece::kAhead{"ahead"};
inline constexpr VectorPiece VectorPiece::kMasks{"masks"};
inline constexpr VectorPiece VectorPiece::kScans{"scans"};
inline constexpr VectorPiece VectorPiece::kPositions{"positions"};
inline constexpr VectorPiece VectorPiece::kLanes{"lanes"};

// Returns the code of these pieces and of the pieces that they need, in an order that compiles.
[[nodiscard]] std::string VectorPreamble(std::set<VectorPiece> pieces);

}  // namespace pragma::expert
