// The vector preamble: small pieces of C++ text that a generated kernel starts with, so that it
// reads as loops over `Vec` on every processor. A kernel has only the pieces that it uses.
//
// What the text offers (kLanes floats in a Vec: 16 with AVX-512, 8 with AVX2, else 4):
//   core    Vec, Ints (32-bit lanes, and what comparisons of Vecs yield), kLanes,
//           Load(p), Store(p, v), Broadcast(x), Fma(a, b, c) = a * b + c, Select(mask, a, b),
//           Min(a, b), Max(a, b) (b where either is NaN), Abs(v), Bits(v), FromBits(i),
//           KeepMin(a, b), KeepMax(a, b) (a NaN in either stays)
//   parts   LoadPart(p, n, rest), StorePart(p, v, n): the first n lanes only, 0 <= n <= kLanes
//   stream  Stream(p, v): past the caches, p aligned to a Vec; StreamEnd() after the last of them
//   lanes   SumLanes(v), ProductLanes(v), MinLanes(v), MaxLanes(v): one float
//   sqrt    Sqrt(v)
//   round   Floor(v), Ceil(v), Trunc(v), RoundEven(v)
//   exp, log, log1p, tanh, sigmoid, erf: Exp(v), Log(v), Log1p(v), Tanh(v), Sigmoid(v), Erf(v);
//           the accuracy of each stands in its text and is what the tests hold it to
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace pragma {

enum class VectorPiece : std::uint8_t {
  kCore,
  kParts,
  kStream,
  kLanes,
  kSqrt,
  kRound,
  kExp,
  kLog,
  kLog1p,
  kTanh,
  kSigmoid,
  kErf,
};

// The text of these pieces and of what they stand on, in an order that compiles.
[[nodiscard]] std::string VectorPreamble(std::set<VectorPiece> pieces);

}  // namespace pragma
