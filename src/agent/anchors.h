// Anchors: the block that a planner marks in a whole source, by two lines of comment (STARK's
// grounded instruction, arXiv 2510.16996, 4.3).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trial.h"

namespace pragma {

// A source in three parts, by lines; the marker lines belong to none.
struct Anchored {
  std::vector<std::string> before;
  std::vector<std::string> block;
  std::vector<std::string> after;
};

// "<<<IMPROVE BEGIN>>>" and "<<<IMPROVE END>>>" on a line each (BEGINS and ENDS as well), in this
// order and once; else `problem` says what is wrong.
struct AnchorReading {
  std::optional<Anchored> anchored;
  std::string problem;
};
[[nodiscard]] AnchorReading ReadAnchors(std::string_view source);

// The comments of the block: the advice as the planner wrote it. One line each, without the marks
// of comments.
[[nodiscard]] std::string AdviceInBlock(const Anchored& anchored);

// How many lines outside the block got lost on the way from `base` over `anchored_source` to
// `result`; space at the ends of lines and empty lines do not count. None: nothing is marked.
[[nodiscard]] std::optional<EditCheck> CompareEdit(std::string_view base,
                                                   std::string_view anchored_source,
                                                   std::string_view result);

}  // namespace pragma
