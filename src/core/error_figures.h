// ErrorFigures: how far an output is from the fp64 reference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pragma {

struct ErrorFigures {
  double max_abs = 0;
  double max_rel = 0;            // over elements larger than the output's rms / 1000
  double rel_l2 = 0;             // ||y - r|| / ||r||
  double honest_rel_l2 = 0;      // rel_l2 of PyTorch's own fp32 result
  std::vector<std::int64_t> at;  // index of the worst element
  std::string output;            // name of the output that holds that element
};

}  // namespace pragma
