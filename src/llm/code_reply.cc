#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "llm/completion.h"
#include "llm/model.h"
#include "llm/reply.h"

namespace pragma {
namespace {

constexpr std::string_view kEntry = "pragma_kernel";
constexpr std::string_view kGiveUp = "UNSUPPORTED:";
constexpr std::size_t kReasonBytes = 1000;

bool IsCppName(std::string_view language) {
  constexpr std::array<std::string_view, 8> kNames{"cpp", "c++", "cc", "cxx", "c", "hpp", "h", ""};
  return std::ranges::find(kNames, language) != kNames.end();
}

// A run of at least three fence characters at the start of `text`; its length, or 0.
std::size_t FenceRun(std::string_view text) {
  if (text.empty() || (text.front() != '`' && text.front() != '~')) return 0;
  const std::size_t run = std::min(text.find_first_not_of(text.front()), text.size());
  return run >= 3 ? run : 0;
}

struct Fence {
  char mark = 0;
  std::size_t run = 0;  // 0: no fence
  std::string language;
};

// Models also begin a block at the end of a line of prose ("Here it is: ```cpp").
Fence OpeningFence(std::string_view line) {
  std::string_view rest = Trim(line);
  if (FenceRun(rest) == 0) {
    const std::size_t at = rest.rfind("```");
    if (at == std::string_view::npos) return {};
    // A closed `inline` piece of code is no fence: only a bare known word may follow.
    const std::string_view word = rest.substr(at + 3);
    if (word.empty() || !IsCppName(word) || rest.substr(0, at).ends_with('`')) return {};
    rest = rest.substr(at);
  }
  Fence fence{.mark = rest.front(), .run = FenceRun(rest), .language = {}};
  const std::string_view info = Trim(rest.substr(fence.run));
  if (fence.mark == '`' && info.find('`') != std::string_view::npos) return {};
  fence.language = info.substr(0, info.find_first_of(" \t{,:"));
  std::ranges::transform(fence.language, fence.language.begin(),
                         [](unsigned char c) { return std::tolower(c); });
  return fence;
}

bool Closes(std::string_view line, const Fence& fence) {
  const std::string_view rest = Trim(line);
  const std::size_t run = FenceRun(rest);
  return run >= fence.run && run == rest.size() && rest.front() == fence.mark;
}

// LF line ends, no byte-order mark, no NUL.
std::string Normalised(std::string_view reply) {
  if (reply.starts_with("\xEF\xBB\xBF")) reply.remove_prefix(3);
  std::string text;
  text.reserve(reply.size());
  for (std::size_t i = 0; i < reply.size(); ++i) {
    const bool crlf = reply[i] == '\r' && i + 1 < reply.size() && reply[i + 1] == '\n';
    if (!crlf && reply[i] != '\0') text += reply[i];
  }
  return ToValidUtf8(text);
}

bool HasEntry(std::string_view source) { return source.find(kEntry) != std::string_view::npos; }

bool LooksLikeSource(std::string_view text) {
  constexpr std::array<std::string_view, 5> kStarts{"#include", "#pragma", "#define", "// pragma-",
                                                    "extern \"C\""};
  return std::ranges::any_of(kStarts,
                             [&](std::string_view start) { return text.starts_with(start); });
}

// The reason when a line says UNSUPPORTED: … and there is no code.
bool GivesUp(std::string_view text, std::string& reason) {
  for (const std::string& line : SplitLines(text)) {
    std::string_view rest = Trim(line);
    while (!rest.empty() && (rest.front() == '`' || rest.front() == '*')) rest.remove_prefix(1);
    if (!rest.starts_with(kGiveUp)) continue;
    reason = Shorten(Trim(rest.substr(kGiveUp.size())), kReasonBytes);
    return true;
  }
  return false;
}

const FencedBlock* LastWhere(const std::vector<FencedBlock>& blocks, auto predicate) {
  const auto found = std::find_if(blocks.rbegin(), blocks.rend(), predicate);
  return found == blocks.rend() ? nullptr : &*found;
}

CodeReply Usable(const FencedBlock& block, bool truncated) {
  CodeReply reply;
  if (!block.closed && truncated) {
    reply.problem = "the reply was cut off by the length limit inside the code block";
  } else if (block.text.size() > kMostSourceBytes) {
    reply.problem = "the source is larger than 256 KiB";
  } else {
    reply.source = block.text;
  }
  return reply;
}

std::string WhatIsMissing(const std::vector<FencedBlock>& blocks, bool truncated) {
  if (truncated) return "the reply was cut off by the length limit before any code";
  const FencedBlock* code =
      LastWhere(blocks, [](const FencedBlock& b) { return IsCppName(b.language); });
  if (code != nullptr) return "the code block does not define pragma_kernel";
  if (!blocks.empty()) return "the reply has a fenced block, but none with C++ code";
  return "the reply has no fenced code block";
}

}  // namespace

std::vector<FencedBlock> FencedBlocks(std::string_view reply) {
  std::vector<FencedBlock> blocks;
  Fence open;
  for (const std::string& line : SplitLines(reply)) {
    if (open.run == 0) {
      open = OpeningFence(line);
      if (open.run > 0) blocks.push_back({.language = open.language, .text = {}, .closed = false});
    } else if (Closes(line, open)) {
      blocks.back().closed = true;
      open = {};
    } else {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

CodeReply ParseCodeReply(std::string_view reply, bool truncated) {
  const std::string text = Normalised(SeparateReasoning(reply.substr(0, kReplyBytes)).text);
  const std::vector<FencedBlock> blocks = FencedBlocks(text);
  // A block in another language can only mention the kernel, not define it.
  const FencedBlock* kernel = LastWhere(
      blocks, [](const FencedBlock& b) { return IsCppName(b.language) && HasEntry(b.text); });
  if (kernel != nullptr) return Usable(*kernel, truncated);
  const std::string_view trimmed = Trim(text);
  if (blocks.empty() && LooksLikeSource(trimmed) && HasEntry(trimmed)) {
    return Usable({.language = "", .text = std::string(trimmed) + "\n", .closed = false},
                  truncated);
  }
  CodeReply none;
  none.unsupported = GivesUp(text, none.problem);
  if (!none.unsupported) none.problem = WhatIsMissing(blocks, truncated);
  return none;
}

}  // namespace pragma
