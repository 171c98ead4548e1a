// The code templates behind GenerateMatmul, with @names@ to fill in.
#pragma once

#include <string_view>

namespace pragma::expert::matmul_text {

extern const std::string_view kFinish;        // stores one vector of results
extern const std::string_view kTile;          // the innermost loop over packed panels
extern const std::string_view kWholeEnding;   // end of kTile: whole tiles are stored straight from
                                              // the registers
extern const std::string_view kEnding;        // end of kTile: other tiles go through memory
extern const std::string_view kTriangle;      // sets the zeros outside the triangle
extern const std::string_view kMultiply;      // multiplies packed blocks of a and b
extern const std::string_view kPackRows;      // packs rows of a; not for kPanelDriver
extern const std::string_view kSharedDriver;  // threads over rows; packed b is shared
extern const std::string_view kPanelDriver;   // threads over columns; packed a is shared
extern const std::string_view kFetch;         // prefetches for kPanelDriver
extern const std::string_view kTaskDriver;    // independent blocks; each thread packs its own
extern const std::string_view kKeptDriver;    // b is packed separately, for many calls

}  // namespace pragma::expert::matmul_text
