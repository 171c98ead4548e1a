#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "core/candidate.h"
#include "llm/completion.h"
#include "llm/model.h"
#include "llm/reply.h"

namespace pragma {
namespace {

constexpr std::string_view kGiveUp = "UNSUPPORTED:";
constexpr std::size_t kReasonBytes = 1000;

// CodeForm: how the source of a language appears in a reply.
struct CodeForm {
  std::string_view entry;  // what the file must define
  std::string_view name;   // name of the language, for messages
  std::array<std::string_view, 10> fences;
  std::array<std::string_view, 5> starts;  // how a reply begins that is the file itself
};

constexpr CodeForm kCpp{.entry = "pragma_kernel",
                        .name = "C++",
                        .fences = {"cpp", "c++", "cc", "cxx", "c", "hpp", "h", ""},
                        .starts = {"#include", "#pragma", "#define", "// pragma-", "extern \"C\""}};
constexpr CodeForm kCuda{.entry = "pragma_launch",
                         .name = "CUDA",
                         .fences = {"cuda", "cu", "cpp", "c++", "cc", "cxx", "c", "cuh", "hpp", ""},
                         .starts = {"#include", "#pragma", "#define", "// pragma-", "__global__"}};
constexpr CodeForm kTriton{
    .entry = "def run(",
    .name = "Python",
    .fences = {"python", "py", "python3", "triton", ""},
    .starts = {"import triton", "import torch", "from triton", "@triton", "\"\"\""}};

const CodeForm& FormOf(Language language) {
  if (language == Language::kCuda) return kCuda;
  return language == Language::kTriton ? kTriton : kCpp;
}

bool IsIn(const CodeForm& form, std::string_view fence) {
  return std::ranges::find(form.fences, fence) != form.fences.end();
}

bool IsKnown(std::string_view fence) {
  return IsIn(kCpp, fence) || IsIn(kCuda, fence) || IsIn(kTriton, fence);
}

// Returns the length of a sequence of at least three fence characters at the start of `text`, or 0.
std::size_t FenceRun(std::string_view text) {
  if (text.empty() || (text.front() != '`' && text.front() != '~')) return 0;
  const std::size_t run = std::min(text.find_first_not_of(text.front()), text.size());
  return run >= 3 ? run : 0;
}

struct Fence {
  char mark = 0;
  std::size_t run = 0;  // 0: there is no fence
  std::string language;
};

// Parses an opening fence. Models also begin a block at the end of a line of prose ("Here it is:
// ```cpp").
Fence OpeningFence(std::string_view line) {
  std::string_view rest = Trim(line);
  if (FenceRun(rest) == 0) {
    const std::size_t at = rest.rfind("```");
    if (at == std::string_view::npos) return {};
    // A closed piece of `inline` code is not a fence, so only a single known word may follow.
    const std::string_view word = rest.substr(at + 3);
    if (word.empty() || !IsKnown(word) || rest.substr(0, at).ends_with('`')) return {};
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

// Normalises the reply: LF line ends, no byte-order mark, no NUL.
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

bool HasEntry(const CodeForm& form, std::string_view source) {
  return source.find(form.entry) != std::string_view::npos;
}

bool LooksLikeSource(const CodeForm& form, std::string_view text) {
  return std::ranges::any_of(form.starts,
                             [&](std::string_view start) { return text.starts_with(start); });
}

// Returns true, with the reason, if a line says UNSUPPORTED: …. It is used when there is no code.
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

// Returns the name of the entry function for people: "run" for "def run(".
std::string_view Name(const CodeForm& form) {
  std::string_view name = form.entry.substr(form.entry.rfind(' ') + 1);
  if (name.ends_with('(')) name.remove_suffix(1);
  return name;
}

std::string WhatIsMissing(const CodeForm& form, const std::vector<FencedBlock>& blocks,
                          bool truncated) {
  if (truncated) return "the reply was cut off by the length limit before any code";
  const FencedBlock* code =
      LastWhere(blocks, [&form](const FencedBlock& b) { return IsIn(form, b.language); });
  if (code != nullptr) return fmt::format("the code block does not define {}", Name(form));
  if (!blocks.empty())
    return fmt::format("the reply has a fenced block, but none with {} code", form.name);
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

CodeReply ParseCodeReply(std::string_view reply, bool truncated, Language language) {
  const CodeForm& form = FormOf(language);
  const std::string text = Normalised(SeparateReasoning(reply.substr(0, kReplyBytes)).text);
  const std::vector<FencedBlock> blocks = FencedBlocks(text);
  // A block in another language can only mention the kernel, it cannot define it.
  const FencedBlock* kernel = LastWhere(blocks, [&form](const FencedBlock& b) {
    return IsIn(form, b.language) && HasEntry(form, b.text);
  });
  if (kernel != nullptr) return Usable(*kernel, truncated);
  const std::string_view trimmed = Trim(text);
  if (blocks.empty() && LooksLikeSource(form, trimmed) && HasEntry(form, trimmed)) {
    return Usable({.language = "", .text = std::string(trimmed) + "\n", .closed = false},
                  truncated);
  }
  CodeReply none;
  none.unsupported = GivesUp(text, none.problem);
  if (!none.unsupported) none.problem = WhatIsMissing(form, blocks, truncated);
  return none;
}

}  // namespace pragma
