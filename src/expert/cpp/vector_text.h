// The code templates behind VectorPreamble, one constant per piece.
#pragma once

#include <string_view>

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
extern const std::string_view kSqrt;
extern const std::string_view kRound;
extern const std::string_view kExpNormal;
extern const std::string_view kExp;
extern const std::string_view kExpNegative;
extern const std::string_view kExpMinus1;
extern const std::string_view kLog;
extern const std::string_view kLog1p;
extern const std::string_view kTanh;
extern const std::string_view kSigmoid;
extern const std::string_view kErf;
extern const std::string_view kNormalCdf;

}  // namespace pragma::expert::vector_text
