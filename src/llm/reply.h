// Replies: code and advice out of what a model wrote. Foreign text ends here; nothing in it is
// believed, and any bytes at all are accepted as input.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/advice.h"
#include "core/candidate.h"

namespace pragma {

inline constexpr std::size_t kMostSourceBytes = std::size_t{256} << 10U;

// A fenced block: ``` or ~~~, with the word after the fence.
struct FencedBlock {
  std::string language;  // lower case: "cpp", "c++", "json", ""
  std::string text;      // lines end with \n
  bool closed = true;
};
[[nodiscard]] std::vector<FencedBlock> FencedBlocks(std::string_view reply);

// Models break lines inside JSON strings, which JSON does not allow: the text with \n and \t there.
[[nodiscard]] std::string WithEscapedBreaks(std::string_view text);

// The Coder's answer: a whole source file, or giving up, or neither and what was wrong.
struct CodeReply {
  std::string source;        // empty: none
  bool unsupported = false;  // "UNSUPPORTED: reason"
  std::string problem;       // what is missing, or the author's reason for giving up
};
// Takes the last block in that language that mentions its entry (pragma_kernel, pragma_launch,
// run), or an unfenced reply that is a source file. `truncated`: the service said that the reply
// was cut off.
[[nodiscard]] CodeReply ParseCodeReply(std::string_view reply, bool truncated,
                                       Language language = Language::kCpp);

// The Conductor's answer: a JSON object, fenced or in prose.
struct AdviceReply {
  std::optional<Advice> advice;
  std::string problem;  // what is wrong with the answer
};
[[nodiscard]] AdviceReply ParseAdviceReply(std::string_view reply);

}  // namespace pragma
