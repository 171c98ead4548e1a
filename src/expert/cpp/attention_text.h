// The code templates behind GenerateAttention, with @names@ to fill in.
#pragma once

#include <string_view>

namespace pragma::expert::attention_text {

extern const std::string_view kFinish;  // stores one vector of results
extern const std::string_view kTiles;   // computes scores and weighted sums in registers
extern const std::string_view kWeigh;   // turns a row of scores into weights
extern const std::string_view kDriver;  // loops over blocks of keys for a block of queries; threads

}  // namespace pragma::expert::attention_text
