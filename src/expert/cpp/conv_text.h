// The texts behind GenerateConv, with @names@ to fill in.
#pragma once

#include <string_view>

namespace pragma::expert::conv_text {

extern const std::string_view kTile;       // the innermost loops, up to the sums
extern const std::string_view kToOutput;   // how Tile ends: sums to the output
extern const std::string_view kToBuffer;   // or to a buffer
extern const std::string_view kTiles;      // picks the Tile that fits
extern const std::string_view kEvenTiles;  // the same where all runs have one length
extern const std::string_view kTileOf;     // and where channels end
extern const std::string_view kInterleave;
extern const std::string_view kInterleaveTwo;
extern const std::string_view kCompact;
extern const std::string_view kWriteRow;
extern const std::string_view kPlainHead;
extern const std::string_view kAlignedHead;

}  // namespace pragma::expert::conv_text
