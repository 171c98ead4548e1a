#include "expert/cpp/vector_preamble.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "expert/cpp/vector_text.h"

namespace pragma::expert {
namespace {

struct Piece {
  VectorPiece name;
  std::string_view text;
  std::vector<VectorPiece> needs;
};

// Returns the pieces in an order in which each follows the pieces that it needs.
const std::vector<Piece>& Pieces() {
  using enum VectorPiece;
  static const std::vector<Piece> kPieces{
      {kCore, vector_text::kCore, {}},
      {kParts, vector_text::kParts, {kCore}},
      {kLoops, vector_text::kLoops, {kParts}},
      {kStrided, vector_text::kStrided, {kLoops}},
      {kLimits, vector_text::kLimits, {}},
      {kRows, vector_text::kRows, {}},
      {kTurn, vector_text::kTurn, {kLoops}},
      {kWide, vector_text::kWide, {kLoops}},
      {kStream, vector_text::kStream, {kCore}},
      {kStreamLanes, vector_text::kStreamLanes, {kLoops, kStream}},
      {kAhead, vector_text::kAhead, {}},
      {kMasks, vector_text::kMasks, {kCore}},
      {kScans, vector_text::kScans, {kCore}},
      {kPositions, vector_text::kPositions, {kLoops}},
      {kLanes, vector_text::kLanes, {kCore}},
      {kSqrt, vector_text::kSqrt, {kCore}},
      {kRound, vector_text::kRound, {kCore}},
      {kExpNormal, vector_text::kExpNormal, {kCore}},
      {kExp, vector_text::kExp, {kExpNormal}},
      {kExpNegative, vector_text::kExpNegative, {kExpNormal}},
      {kExpMinus1, vector_text::kExpMinus1, {kExpNormal}},
      {kLog, vector_text::kLog, {kCore}},
      {kLog1p, vector_text::kLog1p, {kLog}},
      {kTanh, vector_text::kTanh, {kExpNormal}},
      {kSigmoid, vector_text::kSigmoid, {kExpNormal}},
      {kErf, vector_text::kErf, {kExpNormal}},
      {kNormalCdf, vector_text::kNormalCdf, {kCore}},
  };
  return kPieces;
}

}  // namespace

std::string VectorPreamble(std::set<VectorPiece> pieces) {
  for (auto piece = Pieces().rbegin(); piece != Pieces().rend(); ++piece) {
    if (pieces.contains(piece->name)) pieces.insert(piece->needs.begin(), piece->needs.end());
  }
  std::string text;
  for (const Piece& piece : Pieces()) {
    if (pieces.contains(piece.name)) text += piece.text;
  }
  return text;
}

}  // namespace pragma::expert
