// The texts behind GenerateAttention, with @names@ to fill in.
#pragma once

#include <string_view>

namespace pragma::expert::attention_text {

extern const std::string_view kFinish;  // one vector of results to memory
extern const std::string_view kTiles;   // scores and weighted sums in registers
extern const std::string_view kWeigh;   // a row of scores becomes weights
extern const std::string_view kDriver;  // blocks of keys for a block of queries, threads

}  // namespace pragma::expert::attention_text
