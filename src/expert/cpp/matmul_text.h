// The texts behind GenerateMatmul, with @names@ to fill in.
#pragma once

#include <string_view>

namespace pragma::expert::matmul_text {

extern const std::string_view kFinish;        // one vector of results to memory
extern const std::string_view kTile;          // the innermost loop over packed panels
extern const std::string_view kWholeEnding;   // of kTile: whole tiles straight from the registers
extern const std::string_view kEnding;        // other tiles through memory
extern const std::string_view kTriangle;      // zeros beside the diagonal
extern const std::string_view kMultiply;      // packed blocks of a and b
extern const std::string_view kSharedDriver;  // threads over rows, packed b is shared
extern const std::string_view kTaskDriver;    // independent blocks, each thread packs its own
extern const std::string_view kKeptDriver;    // b is packed apart, for many calls

}  // namespace pragma::expert::matmul_text
