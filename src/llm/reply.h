// Replies: extracts code and advice from what a model wrote. Untrusted text ends here. Nothing in
// it is believed, and any bytes are accepted as input.
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

// FencedBlock: a block fenced by ``` or ~~~, with the word after the fence.
struct FencedBlock {
  std::string language;  // lower case: "cpp", "c++", "json", ""
  std::string text;      // lines end with \n
  bool closed = true;
  std::size_t begin = 0;  // where its text begins in the reply
};
[[nodiscard]] std::vector<FencedBlock> FencedBlocks(std::string_view reply);

// Escapes line breaks and tabs inside JSON strings as
//  and \t. Models write them there, but JSON does not allow it.
[[nodiscard]] std::string WithEscapedBreaks(std::string_view text);

// CodeReply: the Coder's answer. It is a whole source file, a refusal, or neither and a description
// of the problem.
struct CodeReply {
  std::string source;        // empty: there is none
  bool unsupported = false;  // the reply says "UNSUPPORTED: reason"
  std::string problem;       // what is missing, or the author's reason for giving up
  std::string note;          // what had to be mended in the reply; empty: nothing
};
// Extracts the last block in that language that defines its entry function (pragma_kernel,
// pragma_launch, run), or an unfenced source file. A kernel that is split over several blocks is
// joined. `truncated` means that the service reported a reply that was cut off.
[[nodiscard]] CodeReply ParseCodeReply(std::string_view reply, bool truncated,
                                       Language language = Language::kCpp);

// AdviceReply: the Conductor's answer, a JSON object that is fenced or embedded in prose.
struct AdviceReply {
  std::optional<Advice> advice;
  std::string problem;  // what is wrong with the answer
};
[[nodiscard]] AdviceReply ParseAdviceReply(std::string_view reply);

}  // namespace pragma
