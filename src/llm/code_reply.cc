#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/candidate.h"
#include "llm/code_text.h"
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
  if (rest == "<code>") return {.mark = '<', .run = 1, .language = {}};
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

// Some models close a block with a tag, alone or behind the fence.
bool IsCloseTag(std::string_view text) { return text == "</code>" || text == "<end_code>"; }

bool Closes(std::string_view line, const Fence& fence) {
  const std::string_view rest = Trim(line);
  if (fence.mark == '<') return rest.starts_with("</code>");
  const std::size_t run = FenceRun(rest);
  const bool ends = run == rest.size() || IsCloseTag(Trim(rest.substr(run)));
  return run >= fence.run && ends && rest.front() == fence.mark;
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

bool Defines(const CodeForm& form, std::string_view source) {
  return &form == &kTriton ? HasEntry(form, source) : DefinesFunction(source, form.entry);
}

bool IsWholeIn(const CodeForm& form, std::string_view source) {
  return &form == &kTriton || IsWhole(source);
}

// Returns whether a line includes or imports something, as files do and their parts do not.
bool BeginsFile(const CodeForm& form, std::string_view source) {
  for (const std::string& line : SplitLines(source)) {
    if (&form == &kTriton ? line.starts_with("import ") || line.starts_with("from ")
                          : line.starts_with("#include"))
      return true;
  }
  return false;
}

// Mended: a block, and what had to be done to make it whole.
struct Mended {
  FencedBlock block;
  std::string note;
};

// Joins the block at `at` with the following ones of its language until the code is whole.
std::optional<Mended> JoinedForward(const CodeForm& form, const std::vector<FencedBlock>& blocks,
                                    std::size_t at) {
  FencedBlock joined = blocks[at];
  for (std::size_t i = at + 1; i < blocks.size(); ++i) {
    if (!IsIn(form, blocks[i].language)) continue;
    joined.text += blocks[i].text;
    joined.closed = blocks[i].closed;
    if (joined.text.size() > kMostSourceBytes) return std::nullopt;
    if (IsWhole(joined.text))
      return Mended{joined, "the kernel is split over several blocks; they are joined"};
  }
  return std::nullopt;
}

// Extends the block to a later fence at which the code is whole: the earlier ones belong to it.
std::optional<Mended> Extended(std::string_view text, const FencedBlock& block) {
  for (std::size_t at = text.find("\n```", block.begin); at != std::string_view::npos;
       at = text.find("\n```", at + 1)) {
    const std::string_view code = text.substr(block.begin, at + 1 - block.begin);
    if (code.size() > kMostSourceBytes) return std::nullopt;
    if (code.size() <= block.text.size() || !IsWhole(code)) continue;
    return Mended{{.language = block.language, .text = std::string(code)},
                  "a fence inside the code is taken as code"};
  }
  return std::nullopt;
}

// Returns the last block that holds the entry function once it is extended in that way.
std::optional<Mended> ExtendedToEntry(const CodeForm& form, std::string_view text,
                                      const std::vector<FencedBlock>& blocks) {
  for (std::size_t i = blocks.size(); i-- > 0;) {
    if (!IsIn(form, blocks[i].language) || IsWholeIn(form, blocks[i].text)) continue;
    std::optional<Mended> whole = Extended(text, blocks[i]);
    if (whole && Defines(form, whole->block.text)) return whole;
  }
  return std::nullopt;
}

// Puts the blocks in front of the one at `at` that begin its file, if it does not do so itself.
std::optional<Mended> JoinedBackward(const CodeForm& form, const std::vector<FencedBlock>& blocks,
                                     std::size_t at) {
  FencedBlock joined = blocks[at];
  if (BeginsFile(form, joined.text)) return std::nullopt;
  for (std::size_t i = at; i-- > 0;) {
    if (!IsIn(form, blocks[i].language) || Defines(form, blocks[i].text)) return std::nullopt;
    joined.text.insert(0, blocks[i].text);
    if (BeginsFile(form, blocks[i].text))
      return Mended{joined, "the kernel is split over several blocks; they are joined"};
  }
  return std::nullopt;
}

// Returns the block at `at`, with what belongs to it.
Mended Mend(const CodeForm& form, std::string_view text, std::vector<FencedBlock> blocks,
            std::size_t at) {
  Mended mended{blocks[at], {}};
  if (!IsWholeIn(form, mended.block.text)) {
    std::optional<Mended> whole = JoinedForward(form, blocks, at);
    if (!whole) whole = Extended(text, mended.block);
    if (whole) mended = std::move(*whole);
  }
  blocks[at] = mended.block;
  if (std::optional<Mended> whole = JoinedBackward(form, blocks, at)) mended = std::move(*whole);
  return mended;
}

// Returns the last block that defines the entry function, else the last one that mentions it, else
// the number of blocks. A block in another language can only mention it.
std::size_t KernelBlock(const CodeForm& form, const std::vector<FencedBlock>& blocks) {
  std::size_t mentions = blocks.size();
  for (std::size_t i = blocks.size(); i-- > 0;) {
    if (!IsIn(form, blocks[i].language) || !HasEntry(form, blocks[i].text)) continue;
    if (Defines(form, blocks[i].text)) return i;
    if (mentions == blocks.size()) mentions = i;
  }
  // The definition may begin in one block and end in another.
  return mentions;
}

// Returns the source in a reply without an opening fence: from the first line that begins a file to
// a fence, or to the last line that can end a file.
std::optional<FencedBlock> Unfenced(const CodeForm& form, std::string_view text) {
  FencedBlock block{.language = "", .text = {}, .closed = false};
  std::size_t last_brace = 0;
  for (const std::string& line : SplitLines(text)) {
    if (block.text.empty() && !LooksLikeSource(form, line)) continue;
    block.closed = !block.text.empty() && (FenceRun(Trim(line)) > 0 || IsCloseTag(Trim(line)));
    if (block.closed) break;
    block.text += line + "\n";
    if (line.starts_with('}')) last_brace = block.text.size();
  }
  if (!block.closed && last_brace > 0) block.text.resize(last_brace);
  while (block.text.ends_with("\n\n")) block.text.pop_back();
  if (!HasEntry(form, block.text)) return std::nullopt;
  return block;
}

}  // namespace

std::vector<FencedBlock> FencedBlocks(std::string_view reply) {
  std::vector<FencedBlock> blocks;
  Fence open;
  std::size_t at = 0;  // where the line begins
  for (const std::string& line : SplitLines(reply)) {
    const std::size_t next = at + line.size() + 1;
    if (open.run == 0) {
      open = OpeningFence(line);
      if (open.run > 0) {
        blocks.push_back({.language = open.language, .text = {}, .closed = false, .begin = next});
      }
    } else if (Closes(line, open)) {
      blocks.back().closed = true;
      open = {};
    } else {
      blocks.back().text += line + "\n";
    }
    at = next;
  }
  return blocks;
}

CodeReply ParseCodeReply(std::string_view reply, bool truncated, Language language) {
  const CodeForm& form = FormOf(language);
  const std::string text = Normalised(SeparateReasoning(reply.substr(0, kReplyBytes)).text);
  const std::vector<FencedBlock> blocks = FencedBlocks(text);
  const std::size_t kernel = KernelBlock(form, blocks);
  CodeReply found;
  if (kernel < blocks.size()) {
    const Mended mended = Mend(form, text, blocks, kernel);
    found = Usable(mended.block, truncated);
    found.note = mended.note;
    return found;
  }
  if (const std::optional<Mended> mended = ExtendedToEntry(form, text, blocks)) {
    found = Usable(mended->block, truncated);
    found.note = mended->note;
    return found;
  }
  if (const std::optional<FencedBlock> block = Unfenced(form, text)) {
    found = Usable(*block, truncated);
    found.note = "the code has no opening fence; it is taken from its first line on";
    return found;
  }
  CodeReply none;
  none.unsupported = GivesUp(text, none.problem);
  if (!none.unsupported) none.problem = WhatIsMissing(form, blocks, truncated);
  return none;
}

}  // namespace pragma
