// Anchors: the block of a complete source file that a planner marks with two comment lines (STARK's
// grounded instruction, arXiv 2510.16996, 4.3).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pragma {

struct EditCheck;

// A source split by lines into three parts. The two marker lines belong to none of them.
struct Anchored {
  std::vector<std::string> before;
  std::vector<std::string> block;
  std::vector<std::string> after;
};

// The result of looking for the markers "<<<IMPROVE BEGIN>>>" and "<<<IMPROVE END>>>" (BEGINS and
// ENDS are accepted too). Each must be on a line of its own, in this order, exactly once. Otherwise
// `anchored` is empty and `problem` says what is wrong.
struct AnchorReading {
  std::optional<Anchored> anchored;
  std::string problem;
};
[[nodiscard]] AnchorReading ReadAnchors(std::string_view source);

// Returns the comments inside the block, which are the planner's advice in its own words: one line
// each, without the comment markers.
[[nodiscard]] std::string AdviceInBlock(const Anchored& anchored);

// Counts the lines outside the block that were lost on the way from `base` over `anchored_source`
// to `result`. Empty lines and white space at the ends of lines do not count. Returns nullopt if
// `anchored_source` has no marked block.
[[nodiscard]] std::optional<EditCheck> CompareEdit(std::string_view base,
                                                   std::string_view anchored_source,
                                                   std::string_view result);

}  // namespace pragma
