#include "build/ptx_audit.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace pragma {
namespace {

using Tokens = std::vector<std::string_view>;

constexpr const char* kClockAdvice =
    ": device code may not look at a clock or count launches; leave it out, a kernel computes from "
    "its arguments alone";

bool IsNameChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

// PtxLexer: splits PTX into words, with their leading dot or percent sign, and single other
// characters. Text that two readers could split differently (escapes in strings, odd characters)
// gives a complaint.
class PtxLexer final {
 public:
  explicit PtxLexer(std::string_view text) : text_(text) {}

  Tokens Run() {
    while (at_ < text_.size() && complaint_.empty()) Next();
    return std::move(tokens_);
  }
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

 private:
  [[nodiscard]] char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void Complain(const char* what) {
    complaint_ = std::string("the device code has ") + what +
                 ", which no compiler writes: leave it out of inline assembly";
  }

  void Next() {
    const char c = Peek();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else if (c == '/' && (Peek(1) == '/' || Peek(1) == '*')) {
      Comment();
    } else if (c == '"') {
      String();
    } else if (c == '#') {
      Complain("a preprocessor's line");
    } else if (std::isprint(static_cast<unsigned char>(c)) == 0) {
      Complain("a character outside ASCII");
    } else {
      Word();
    }
  }

  void Comment() {
    const bool line = Peek(1) == '/';
    const std::size_t end =
        line ? text_.find_first_of("\r\n", at_) : text_.find("*/", at_ + std::size_t{2});
    if (end == std::string_view::npos && !line) return Complain("a comment without an end");
    at_ = end == std::string_view::npos ? text_.size() : end + (line ? 1 : 2);
  }

  void String() {
    const std::size_t end = text_.find_first_of("\"\\\r\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] != '"')
      return Complain("a string with an escape or without an end");
    tokens_.push_back("\"\"");
    at_ = end + 1;
  }

  void Word() {
    const std::size_t begin = at_++;
    const bool word = IsNameChar(text_[begin]) || text_[begin] == '.';
    while (word && at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
    tokens_.push_back(text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Tokens tokens_;
  std::string complaint_;
};

// Returns the tokens without .loc and .file, which end without a semicolon.
Tokens WithoutPlaces(const Tokens& tokens) {
  Tokens rest;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] != ".loc" && tokens[i] != ".file") {
      rest.push_back(tokens[i]);
      continue;
    }
    const auto follows = [&] {
      if (i + 1 == tokens.size()) return false;
      const std::string_view next = tokens[i + 1];
      return next == "," || next == "\"\"" || next == "+" || next == "function_name" ||
             next == "inlined_at" || next.starts_with("$L__info") ||
             std::isdigit(static_cast<unsigned char>(next.front())) != 0;
    };
    while (follows()) ++i;
  }
  return rest;
}

// Returns whether it is a special register that tells time or counts something: clocks, performance
// monitors, and the number of the launch.
bool TellsTime(std::string_view token) {
  while (token.starts_with('%')) token.remove_prefix(1);
  if (token.starts_with("clock") || token.starts_with("globaltimer")) return true;
  if (token == "gridid") return true;
  return token.starts_with("pm") && token.size() > 2 &&
         std::isdigit(static_cast<unsigned char>(token[2])) != 0;
}

std::string TimeComplaint(const Tokens& tokens) {
  for (const std::string_view token : tokens) {
    if (token.starts_with('%') && TellsTime(token))
      return "the device code reads " + std::string(Shorten(token, 40)) + kClockAdvice;
    // No PTX instruction has such a name today. Instructions are refused by any of these names.
    const std::string_view opcode = token.starts_with('.') ? token.substr(1) : token;
    if (opcode == "clock" || opcode == "clock64" || opcode == "globaltimer")
      return "the device code uses " + std::string(token) + kClockAdvice;
    if (token == ".include") return "the device code includes a file: leave it out";
  }
  return {};
}

std::size_t Number(std::string_view token) {
  std::size_t value = 0;
  const bool hex = token.starts_with("0x") || token.starts_with("0X");
  if (hex) token.remove_prefix(2);
  const auto [end, error] =
      std::from_chars(token.data(), token.data() + token.size(), value, hex ? 16 : 10);
  return error == std::errc() ? value : 0;
}

// Returns the bytes of ".u32" and the like. Textures and similar types are handles.
std::size_t TypeBytes(std::string_view type) {
  if (type.starts_with('.') && type.size() > 2 && type.ends_with("ref"))
    return sizeof(std::uint64_t);
  if (type == ".pred") return 1;
  std::size_t digits = type.size();
  while (digits > 0 && std::isdigit(static_cast<unsigned char>(type[digits - 1])) != 0) --digits;
  const bool number = digits == 2 && type.size() > 2 && type[0] == '.' &&
                      std::string_view("busf").find(type[1]) != std::string_view::npos;
  return number ? Number(type.substr(digits)) / 8 : 0;
}

struct Declaration {
  std::string name;
  std::size_t bytes = 0;
};

std::size_t Times(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::size_t>::max() : product;
}

// Reads a declaration ".align 4 .v2 .u32 name[3][4] = {...}, other" up to the semicolon.
std::vector<Declaration> ReadDeclaration(std::span<const std::string_view> tokens) {
  std::vector<Declaration> found;
  std::size_t element = 1;
  int depth = 0;
  bool named = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i];
    if (token == "{" || token == "(") ++depth;
    if (token == "}" || token == ")") --depth;
    if (token == ",") named = false;
    if (depth > 0) continue;
    if (token == ".align") {
      ++i;
    } else if (!named && token.starts_with('.')) {
      if (const std::size_t bytes = TypeBytes(token); bytes > 0) element = bytes * element;
      if (token == ".v2" || token == ".v4") element = Number(token.substr(2));
    } else if (!named && IsNameChar(token.front())) {
      found.push_back({.name = std::string(token), .bytes = element});
      named = true;
    } else if (token == "[" && !found.empty() && i + 1 < tokens.size()) {
      found.back().bytes = Times(found.back().bytes, Number(tokens[i + 1]));
    }
  }
  return found;
}

// AddressFlow: finds where the address of each variable goes within one function. It ignores the
// order of the instructions: a register that may hold the address is tainted by it.
class AddressFlow final {
 public:
  AddressFlow(std::span<const std::string_view> body, const std::set<std::string_view>& variables)
      : variables_(variables) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (body[i] != ";" && body[i] != "{" && body[i] != "}") continue;
      const bool vector = body[i] == "{" && i > begin && body[begin].find('.') != 0;
      if (vector) {  // an operand such as in "ld.v2.f32 {%a, %b}, [%c];"
        while (i < body.size() && body[i] != ";") ++i;
      }
      if (i > begin) statements_.push_back(body.subspan(begin, std::min(i, body.size()) - begin));
      begin = i + 1;
    }
  }

  // Returns the variables whose address, or an address computed from it, is used by anything but a
  // load.
  std::set<std::string_view> Written() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (const auto statement : statements_) changed = Visit(statement) || changed;
    }
    return std::move(written_);
  }

 private:
  std::set<std::string_view> Held(std::string_view token) const {
    if (variables_.contains(token)) return {token};
    const auto known = registers_.find(token);
    return known == registers_.end() ? std::set<std::string_view>() : known->second;
  }

  // Propagates the taint through one statement. Returns whether anything new was learnt.
  bool Visit(std::span<const std::string_view> statement) {
    std::size_t first = 0;  // skip "@%p" and labels
    if (statement[0] == "@") first = statement.size() > 1 && statement[1] == "!" ? 3 : 2;
    while (first + 1 < statement.size() && statement[first + 1] == ":") first += 2;
    if (first >= statement.size()) return false;
    const std::string_view opcode = statement[first];
    if (opcode.starts_with('.')) return false;  // a declaration
    std::set<std::string_view> held;
    const bool load = opcode == "ld" || opcode == "ldu" || opcode == "prefetch";
    const bool arithmetic = IsOneOf(opcode, kPassesOn);
    std::size_t i = first + 1;
    while (i < statement.size() && statement[i].starts_with('.')) ++i;
    const std::string_view target = i < statement.size() ? statement[i] : std::string_view();
    for (std::size_t j = i; j < statement.size(); ++j) {
      if (arithmetic && j == i) continue;
      held.merge(Held(statement[j]));
    }
    if (held.empty() || load) return false;
    if (arithmetic && target.starts_with('%')) {
      std::set<std::string_view>& into = registers_[target];
      const std::size_t before = into.size();
      into.merge(held);
      return into.size() != before;
    }
    const std::size_t before = written_.size();
    written_.merge(held);
    return written_.size() != before;
  }

  static constexpr std::string_view kPassesOn[] = {"mov", "add", "sub", "cvta", "cvt",
                                                   "mad", "shl", "or",  "and",  "selp"};
  const std::set<std::string_view>& variables_;
  std::vector<std::span<const std::string_view>> statements_;
  std::map<std::string_view, std::set<std::string_view>> registers_;
  std::set<std::string_view> written_;
};

class PtxReader final {
 public:
  explicit PtxReader(const Tokens& tokens) : tokens_(tokens) {}

  PtxFacts Run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) Visit(i);
    FindWritten();
    return std::move(facts_);
  }

 private:
  void Visit(std::size_t i) {
    const std::string_view token = tokens_[i];
    if (token == "{") ++depth_;
    if (token == "}") --depth_;
    if (token == ".entry" && i + 1 < tokens_.size()) facts_.entries.emplace_back(tokens_[i + 1]);
    if (token == ".entry" || token == ".func") local_bytes_ = 0;
    if (token == "malloc") facts_.has_heap = true;
    if (!StartsStatement(i)) return;
    if (token == ".global" || token == ".const") AddVariables(i, token == ".const");
    if (token == ".local") AddLocal(i);
  }

  // Returns whether the token begins a statement. ".global" also occurs within instructions
  // (ld.global).
  [[nodiscard]] bool StartsStatement(std::size_t i) const {
    for (; i > 0; --i) {
      const std::string_view before = tokens_[i - 1];
      if (before == ".visible" || before == ".extern" || before == ".weak" || before == ".common")
        continue;
      return before == ";" || before == "{" || before == "}" || before == ")" || before == ":" ||
             IsHeader(i - 1);
    }
    return true;
  }
  // Returns whether the token belongs to ".version 9.0 .target sm_90a .address_size 64", which have
  // no semicolons.
  [[nodiscard]] bool IsHeader(std::size_t i) const {
    return depth_ == 0 && !tokens_[i].starts_with('.') && tokens_[i] != "," && tokens_[i] != "(";
  }

  [[nodiscard]] std::span<const std::string_view> Statement(std::size_t i) const {
    std::size_t end = i;
    while (end < tokens_.size() && tokens_[end] != ";") ++end;
    return std::span(tokens_).subspan(i, end - i);
  }

  void AddVariables(std::size_t i, bool constant) {
    for (const Declaration& found : ReadDeclaration(Statement(i).subspan(1))) {
      facts_.variables.push_back({.name = found.name, .bytes = found.bytes, .constant = constant});
    }
  }
  void AddLocal(std::size_t i) {
    for (const Declaration& found : ReadDeclaration(Statement(i).subspan(1)))
      local_bytes_ += found.bytes;
    facts_.local_bytes = std::max(facts_.local_bytes, local_bytes_);
  }

  void FindWritten() {
    std::set<std::string_view> names;
    for (const PtxVariable& variable : facts_.variables) names.insert(variable.name);
    std::set<std::string_view> written = NamedElsewhere(names);
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i] == "{" && depth++ == 0) begin = i + 1;
      if (tokens_[i] == "}" && --depth == 0 && !IsInitializer(begin - 1))
        written.merge(AddressFlow(std::span(tokens_).subspan(begin, i - begin), names).Written());
    }
    for (PtxVariable& variable : facts_.variables)
      variable.only_read = depth == 0 && !written.contains(variable.name);
  }

  [[nodiscard]] bool IsInitializer(std::size_t brace) const {
    return brace > 0 && tokens_[brace - 1] == "=";
  }

  // Returns the names that occur in the initialiser of another variable.
  [[nodiscard]] std::set<std::string_view> NamedElsewhere(
      const std::set<std::string_view>& names) const {
    std::set<std::string_view> found;
    bool value = false;
    for (const std::string_view token : tokens_) {
      if (token == "=") value = true;
      if (token == ";") value = false;
      if (value && names.contains(token)) found.insert(token);
    }
    return found;
  }

  const Tokens& tokens_;
  int depth_ = 0;
  std::size_t local_bytes_ = 0;
  PtxFacts facts_;
};

}  // namespace

PtxFacts ReadPtx(std::string_view text) {
  PtxLexer lexer(text);
  const Tokens tokens = WithoutPlaces(lexer.Run());
  PtxFacts facts;
  if (lexer.complaint().empty()) facts = PtxReader(tokens).Run();
  facts.complaint = lexer.complaint().empty() ? TimeComplaint(tokens) : lexer.complaint();
  return facts;
}

}  // namespace pragma
