// The code templates behind VectorPreamble, one constant per piece.
#pragma once

#include <string_view>
#include <vector>

#include "expert/cpp/vector_preamble.h"

namespace pragma::expert::vector_text {

extern const std::string_view kCore;
extern const std::string_view kParts;
extern const std::string_view kStrided;
extern const std::string_view kLoops;
extern const std::string_view kLimits;
extern const std::string_view kStream;
extern const std::string_view kMasks;
extern const std::string_view kScans;
extern const std::string_view kPositions;
extern const std::string_view kStreamLanes;
extern const std::string_view kAhead;
extern const std::string_view kRows;
extern const std::string_view kWide;
extern const std::string_view kTurn;
extern const std::string_view kLanes;

struct Piece {
  VectorPiece name;
  std::string_view text;
  std::vector<VectorPiece> needs;
};
// Returns the pieces with elementary functions, each behind those that it needs.
[[nodiscard]] const std::vector<Piece>& MathPieces();

}  // namespace pragma::expert::vector_text
