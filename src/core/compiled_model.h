// What torch.compile made of a model.
#pragma once

#include <map>
#include <string>

namespace pragma {

struct CompiledModel {
  std::string mode;                          // the fastest: "default", "reduce-overhead"
  std::map<std::string, std::string> tried;  // mode -> the time of a call, or why it failed
  std::string failure;                       // why there is none; empty: there is one
};

}  // namespace pragma
