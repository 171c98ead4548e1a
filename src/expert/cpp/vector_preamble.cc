#include "expert/cpp/vector_preamble.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "expert/cpp/vector_text.h"

namespace pragma::expert {
namespace {

// Returns the pieces in an order in which each follows the pieces that it needs.
const std::vector<vector_text::Piece>& Pieces() {
  static const std::vector<vector_text::Piece> kPieces = [] {
    using P = VectorPiece;
    std::vector<vector_text::Piece> pieces{
        {P::kCore, vector_text::kCore, {}},
        {P::kParts, vector_text::kParts, {P::kCore}},
        {P::kLoops, vector_text::kLoops, {P::kParts}},
        {P::kStrided, vector_text::kStrided, {P::kLoops}},
        {P::kLimits, vector_text::kLimits, {}},
        {P::kRows, vector_text::kRows, {}},
        {P::kTurn, vector_text::kTurn, {P::kLoops}},
        {P::kWide, vector_text::kWide, {P::kLoops}},
        {P::kStream, vector_text::kStream, {P::kCore}},
        {P::kStreamLanes, vector_text::kStreamLanes, {P::kLoops, P::kStream}},
        {P::kAhead, vector_text::kAhead, {}},
        {P::kMasks, vector_text::kMasks, {P::kCore}},
        {P::kScans, vector_text::kScans, {P::kCore}},
        {P::kPositions, vector_text::kPositions, {P::kLoops}},
        {P::kLanes, vector_text::kLanes, {P::kCore}},
    };
    const std::vector<vector_text::Piece>& math = vector_text::MathPieces();
    pieces.insert(pieces.end(), math.begin(), math.end());
    return pieces;
  }();
  return kPieces;
}

}  // namespace

std::string VectorPreamble(std::set<VectorPiece> pieces) {
  for (auto piece = Pieces().rbegin(); piece != Pieces().rend(); ++piece) {
    if (pieces.contains(piece->name)) pieces.insert(piece->needs.begin(), piece->needs.end());
  }
  std::string text;
  for (const vector_text::Piece& piece : Pieces()) {
    if (pieces.contains(piece.name)) text += piece.text;
  }
  return text;
}

}  // namespace pragma::expert
