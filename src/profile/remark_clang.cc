// Reads clang's optimization record: YAML documents of one form ("--- !Missed", Pass, Name,
// DebugLoc, Args). It is parsed by hand and tolerantly, because no other YAML constructs occur in
// it.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
#include "profile/remark_list.h"
#include "profile/remarks.h"

namespace pragma {
namespace {

constexpr std::size_t kMaxArguments = 64;

struct Argument {
  std::string key;
  std::string value;
};

struct Document {
  std::string kind;  // "Missed", "Passed", "Analysis...", "Failure"
  std::string pass;
  std::string name;
  std::string file;
  std::string function;
  int line = 0;
  std::vector<Argument> arguments;
  [[nodiscard]] bool own() const { return IsKernelFile(file); }
};

// Returns a scalar without its quotes. It may be written as 'it''s' or "text" or text.
std::string Scalar(std::string_view text) {
  text = Trim(text);
  if (text.size() < 2 || (text.front() != '\'' && text.front() != '"') ||
      text.back() != text.front())
    return std::string(text);
  const char quote = text.front();
  std::string value;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if ((quote == '\'' && text[i] == quote) || (quote == '"' && text[i] == '\\')) ++i;
    if (i + 1 < text.size()) value += text[i];
  }
  return value;
}

int PositiveNumber(std::string_view text) {
  text = Trim(text);
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && value > 0 ? value : 0;
}

// Parses "{ File: kernel.cpp, Line: 7, Column: 3 }", which may span two lines. Other places are
// inside Args.
void ReadPlace(std::string_view text, Document& document) {
  if (const std::size_t at = text.find("File:"); at != std::string_view::npos)
    document.file = Scalar(text.substr(at + 5, text.find_first_of(",}", at) - at - 5));
  if (const std::size_t at = text.find("Line:"); at != std::string_view::npos)
    document.line = PositiveNumber(text.substr(at + 5));
}

class DocumentReader final {
 public:
  void Begin(std::string_view kind) {
    document_ = Document{};
    document_.kind = std::string(Trim(kind));
    place_ = false;
    arguments_ = false;
  }

  void Add(std::string_view line) {
    if (line.empty()) return;
    if (line.front() != ' ') {
      AddTop(line);
    } else if (place_) {
      ReadPlace(line, document_);
    } else if (arguments_) {
      AddArgument(Trim(line));
    }
  }
  [[nodiscard]] const Document& document() const { return document_; }

 private:
  void AddTop(std::string_view line) {
    const std::size_t colon = std::min(line.find(':'), line.size() - 1);
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 1);
    place_ = key == "DebugLoc";
    arguments_ = key == "Args";
    if (place_) ReadPlace(value, document_);
    if (key == "Pass") document_.pass = Scalar(value);
    if (key == "Name") document_.name = Scalar(value);
    if (key == "Function") document_.function = Scalar(value);
  }

  // Parses "- String: ' spills '". Long values continue on the next lines.
  void AddArgument(std::string_view line) {
    if (line.starts_with("DebugLoc:") || line.starts_with("Line:")) return;
    const std::size_t colon = line.find(':');
    if (line.starts_with("- ") && colon != std::string_view::npos) {
      if (document_.arguments.size() >= kMaxArguments) return;
      document_.arguments.push_back(
          {std::string(line.substr(2, colon - 2)), Scalar(line.substr(colon + 1))});
    } else if (!document_.arguments.empty() && !line.starts_with("-")) {
      document_.arguments.back().value += " " + std::string(line);
    }
  }

  Document document_;
  bool place_ = false;
  bool arguments_ = false;
};

std::string Text(const Document& document) {
  std::string text;
  for (const Argument& argument : document.arguments) text += argument.value;
  return std::string(Trim(text));
}

std::string Find(const Document& document, std::string_view key) {
  const auto found = std::ranges::find(document.arguments, key, &Argument::key);
  return found == document.arguments.end() ? std::string() : found->value;
}

// Returns "29 spills and 31 reloads in this loop", or an empty string if there are none.
std::string Spills(const Document& document) {
  const int spills = PositiveNumber(Find(document, "NumSpills")) +
                     PositiveNumber(Find(document, "NumFoldedSpills"));
  const int reloads = PositiveNumber(Find(document, "NumReloads")) +
                      PositiveNumber(Find(document, "NumFoldedReloads"));
  if (spills + reloads == 0) return {};
  const bool loop = document.name.starts_with("Loop");
  return std::to_string(spills) + " spills and " + std::to_string(reloads) + " reloads in this " +
         (loop ? "loop" : "function");
}

// Returns true for calls that do not come from the source.
bool IsRuntime(const std::string& callee) {
  return callee.empty() || callee.starts_with("__kmpc") || callee.starts_with("llvm.");
}

// Returns a text for readers about a remark of any pass except the vectoriser. It is empty if the
// remark is not informative.
std::string OtherText(const Document& document) {
  const bool missed = document.kind != "Passed";
  if (document.pass == "regalloc") return Spills(document);
  if (document.pass == "licm") return missed ? Text(document) : std::string();
  if (document.pass == "loop-unroll") return Text(document);
  if (document.pass == "transform-warning") return Text(document);
  if (document.pass == "inline" && missed && !IsRuntime(Find(document, "Callee")))
    return Text(document);
  return {};
}

std::string RemarkKind(const Document& document) {
  if (document.kind == "Passed") return "passed";
  return document.kind.starts_with("Analysis") ? "analysis" : "missed";
}

// Reads documents in the record's order. The vectoriser first gives its reasons, at the locations
// of the statements (which may be in inlined functions), and then names the loop itself.
class RecordReader final {
 public:
  void Add(const Document& document) {
    if (document.pass == "loop-vectorize") return AddVectoriser(document);
    if (!document.own() || document.line == 0) return;
    if (std::string text = OtherText(document); !text.empty()) Keep(document, std::move(text));
  }
  std::vector<Remark> Take() { return list_.Take(); }

 private:
  void AddVectoriser(const Document& document) {
    if (document.function != function_) reason_.clear();
    function_ = document.function;
    if (document.kind.starts_with("Analysis")) return AddReason(document);
    std::string text = Text(document);
    if (document.kind == "Missed" && !reason_.empty()) text = reason_;
    reason_.clear();
    if (document.own() && document.line > 0) Keep(document, std::move(text));
  }

  void AddReason(const Document& document) {
    const std::string text = Text(document);
    // This remark does not say whether there is vector code.
    if (text.find("interleaving") != std::string::npos) return;
    if (document.own() && document.line > 0) Keep(document, text);
    if (!reason_.empty()) return;
    reason_ = text;
    if (!document.own() && !document.file.empty()) {
      const std::size_t slash = document.file.rfind('/');
      reason_ += " (in " + document.file.substr(slash == std::string::npos ? 0 : slash + 1) + ")";
    }
  }

  void Keep(const Document& document, std::string text) {
    list_.Add({.line = document.line,
               .pass = document.pass,
               .kind = RemarkKind(document),
               .text = std::move(text),
               .compiler = "clang++"});
  }

  RemarkList list_;
  std::string function_;
  std::string reason_;  // reason for the loop whose own remark comes next
};

}  // namespace

std::vector<Remark> ReadClangRemarks(std::string_view yaml) {
  RecordReader record;
  DocumentReader reader;
  bool open = false;
  for (const std::string& line : SplitLines(yaml)) {
    const bool begins = line.starts_with("--- !");
    if (open && (begins || line.starts_with("..."))) {
      record.Add(reader.document());
      open = false;
    }
    if (begins) {
      reader.Begin(std::string_view(line).substr(5));
      open = true;
    } else if (open) {
      reader.Add(line);
    }
  }
  return record.Take();  // a document that is cut off is not a document
}

}  // namespace pragma
