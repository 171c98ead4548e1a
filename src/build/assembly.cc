#include "build/assembly.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "build/assembly_text.h"

namespace pragma {
namespace {

constexpr std::string_view kSource = "kernel.cpp";
constexpr std::size_t kNoBlock = static_cast<std::size_t>(-1);

int ToNumber(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value >= 0 ? value : -1;
}

bool IsPrefix(std::string_view mnemonic) {
  constexpr std::string_view kPrefixes[] = {"lock",   "rep",   "repe",     "repz",
                                            "repne",  "repnz", "notrack",  "bnd",
                                            "data16", "rex64", "xacquire", "xrelease"};
  return IsOneOf(mnemonic, kPrefixes);
}

// Returns whether a call never returns. The label after such a call is not reached from it.
bool NeverReturns(std::string_view name) {
  constexpr std::string_view kNames[] = {"__cxa_throw",
                                         "__cxa_rethrow",
                                         "_Unwind_Resume",
                                         "abort",
                                         "exit",
                                         "__stack_chk_fail",
                                         "_ZSt9terminatev",
                                         "__clang_call_terminate",
                                         "__cxa_bad_cast",
                                         "__cxa_throw_bad_array_new_length",
                                         "__assert_fail"};
  return IsOneOf(name, kNames) || name.find("__throw_") != std::string_view::npos;
}

// Returns "f" for "f.cold", "f.cold.1".
std::string FunctionName(std::string_view label) {
  const std::size_t at = label.find(".cold");
  if (at == std::string_view::npos || at == 0) return std::string(label);
  const std::string_view rest = label.substr(at + 5);
  return std::string(rest.empty() || rest.front() == '.' ? label.substr(0, at) : label);
}

// Section: a section as its directive names it.
struct Section {
  std::string name;
  std::string directive;  // directive that switches to the section
  bool code = false;
};

Section NamedSection(const Statement& statement) {
  if (statement.name != ".section" && statement.name != ".pushsection") {
    return {statement.name, "\t" + statement.name, statement.name == ".text"};
  }
  Section section;
  if (statement.operands.empty()) return section;
  section.name = Unquoted(statement.operands[0]);
  section.directive = "\t.section\t" + Join(statement.operands, ",");
  section.code = section.name.starts_with(".text") ||
                 (statement.operands.size() > 1 &&
                  Unquoted(statement.operands[1]).find('x') != std::string_view::npos &&
                  !section.name.starts_with(".debug"));
  return section;
}

// Sections: follows the directives that say which section the next statement is in.
class Sections {
 public:
  void See(const Statement& statement) {
    const std::string& name = statement.name;
    if (name == ".popsection") {
      if (stack_.empty()) return;
      Switch(std::move(stack_.back()));
      stack_.pop_back();
    } else if (name == ".previous") {
      std::swap(now_, previous_);
    } else if (name == ".pushsection") {
      if (stack_.size() < kDeepest) stack_.push_back(now_);
      Switch(NamedSection(statement));
    } else if (name == ".section" || name == ".text" || name == ".data" || name == ".bss") {
      Switch(NamedSection(statement));
    }
  }
  [[nodiscard]] const Section& now() const { return now_; }

 private:
  static constexpr std::size_t kDeepest = 64;
  void Switch(Section next) { previous_ = std::exchange(now_, std::move(next)); }
  Section now_{".text", "\t.text", true};
  Section previous_ = now_;
  std::vector<Section> stack_;
};

bool IsData(std::string_view directive) {
  constexpr std::string_view kData[] = {".long",  ".quad",    ".word",   ".short",
                                        ".byte",  ".value",   ".int",    ".4byte",
                                        ".8byte", ".uleb128", ".sleb128"};
  return IsOneOf(directive, kData);
}

// References: labels that something refers to. Only these can be entered from elsewhere.
struct References {
  std::set<std::string> all;
  std::set<std::string> tables;  // labels referred to by data: possible targets of an indirect jump
};

References FindReferences(const std::vector<Statement>& statements) {
  References references;
  Sections sections;
  for (const Statement& statement : statements) {
    sections.See(statement);
    const bool instruction = statement.kind == Statement::Kind::kInstruction;
    if (!instruction && !IsData(statement.name)) continue;
    const std::string& section = sections.now().name;
    if (section.starts_with(".debug")) continue;
    const bool table = !instruction && !section.starts_with(".gcc_except_table");
    for (const std::string& operand : statement.operands) {
      for (std::string& name : NamesIn(operand)) {
        if (table) references.tables.insert(name);
        references.all.insert(std::move(name));
      }
    }
  }
  return references;
}

// Spot: the current position in one section of code.
struct Spot {
  std::string function;
  std::size_t open = kNoBlock;      // block that the next instruction would belong to
  bool fresh = true;                // true: the next instruction begins a block
  bool catches = false;             // true: the function has landing pads
  std::vector<std::string> labels;  // labels of the open block
};

class Walk {
 public:
  explicit Walk(std::vector<Statement> statements)
      : statements_(std::move(statements)), references_(FindReferences(statements_)) {}

  Assembly Run() {
    for (std::size_t i = 0; i < statements_.size(); ++i) Step(i);
    LinkJumps();
    for (Block& block : assembly_.blocks) Finish(block);
    for (Statement& statement : statements_) assembly_.lines.push_back(std::move(statement.text));
    return std::move(assembly_);
  }

 private:
  void Step(std::size_t line) {
    const Statement& statement = statements_[line];
    switch (statement.kind) {
      case Statement::Kind::kNothing: break;
      case Statement::Kind::kDirective: Directive(statement); break;
      case Statement::Kind::kLabel:
        if (sections_.now().code) Label(statement.name);
        break;
      case Statement::Kind::kInstruction:
        if (sections_.now().code) Instruct(statement, line);
        break;
    }
  }

  void Directive(const Statement& statement) {
    const std::vector<std::string>& operands = statement.operands;
    if (statement.name == ".file" && !operands.empty()) {
      SeeFile(operands);
    } else if (statement.name == ".loc" && !operands.empty()) {
      SeePlace(operands[0]);
    } else if (statement.name == ".cfi_lsda" || statement.name == ".cfi_endproc") {
      spots_[sections_.now().name].catches = statement.name == ".cfi_lsda";
    } else {
      sections_.See(statement);
    }
  }

  // Handles `.file 1 "dir" "name"`, which is one operand, because no comma separates its parts.
  void SeeFile(const std::vector<std::string>& operands) {
    const int number = ToNumber(operands[0]);
    const std::size_t end = operands[0].rfind('"');
    if (number < 0 || end == std::string::npos || end == 0) return;
    const std::size_t begin = operands[0].rfind('"', end - 1);
    if (begin == std::string::npos) return;
    std::string_view name = std::string_view(operands[0]).substr(begin + 1, end - begin - 1);
    if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos) {
      name.remove_prefix(slash + 1);
    }
    if (name == kSource) source_files_.insert(number);
  }

  // Handles `.loc 1 12 5 is_stmt 0`.
  void SeePlace(std::string_view text) {
    const std::size_t space = text.find_first_of(" \t");
    if (space == std::string_view::npos || !source_files_.contains(ToNumber(text))) return;
    const int line = ToNumber(Trim(text.substr(space)));
    if (line > 0) source_line_ = line;
  }

  void Label(const std::string& name) {
    Spot& spot = spots_[sections_.now().name];
    if (!name.starts_with(".L")) {
      const bool local = std::isdigit(static_cast<unsigned char>(name[0])) != 0;
      if (!local) {
        spot.function = FunctionName(name);
        source_line_ = 0;
      }
      spot.fresh = true;
    } else if (references_.all.contains(name)) {
      spot.fresh = true;
    }
    spot.labels.push_back(name);
  }

  void Instruct(const Statement& statement, std::size_t line) {
    Instruction instruction;
    instruction.mnemonic = statement.name;
    instruction.operands = statement.operands;
    instruction.text_line = std::exchange(prefix_line_, kNoBlock);
    if (instruction.text_line == kNoBlock) instruction.text_line = line;
    instruction.prefix = std::exchange(prefix_, {});
    instruction.source_line = source_line_;
    while (IsPrefix(instruction.mnemonic)) {
      instruction.prefix = instruction.mnemonic;
      if (instruction.operands.empty()) {
        prefix_ = instruction.prefix;
        prefix_line_ = instruction.text_line;
        return;
      }
      TakeMnemonic(instruction);
    }
    Append(std::move(instruction));
  }

  // Corrects an instruction such as "rep movsq", which was read as a mnemonic "rep" with the
  // operand "movsq".
  static void TakeMnemonic(Instruction& instruction) {
    const std::string first = std::exchange(instruction.operands.front(), {});
    const std::size_t space = std::min(first.find_first_of(" \t"), first.size());
    instruction.mnemonic = first.substr(0, space);
    instruction.operands.front() = Trim(std::string_view(first).substr(space));
    if (instruction.operands.size() == 1 && instruction.operands.front().empty()) {
      instruction.operands.clear();
    }
  }

  void Append(Instruction instruction) {
    Spot& spot = spots_[sections_.now().name];
    // Code of another section may be located between two parts of this one.
    if (spot.fresh || spot.open == kNoBlock || spot.open + 1 != assembly_.blocks.size()) {
      Open(spot);
    }
    const std::string& mnemonic = instruction.mnemonic;
    const bool leaves = IsJump(mnemonic) || IsReturn(mnemonic) ||
                        (IsCall(mnemonic) && NeverReturns(CalledName(instruction)));
    // A call that throws leaves its block early, for another place in the same function.
    spot.fresh = leaves || IsConditionalJump(mnemonic) || (spot.catches && IsCall(mnemonic));
    assembly_.instructions.push_back(std::move(instruction));
    assembly_.blocks.back().end = assembly_.instructions.size();
    if (leaves) spot.open = kNoBlock;
  }

  void Open(Spot& spot) {
    std::vector<Block>& blocks = assembly_.blocks;
    if (spot.open != kNoBlock && blocks[spot.open].function == spot.function) {
      blocks[spot.open].successors.push_back(blocks.size());
    }
    Block block;
    block.function = spot.function;
    block.first = block.end = assembly_.instructions.size();
    for (std::string& label : spot.labels) {
      const bool symbol = !label.starts_with(".L");
      if (symbol || (block.label.empty() && references_.all.contains(label))) block.label = label;
      block_of_.insert_or_assign(std::move(label), blocks.size());
    }
    spot.labels.clear();
    spot.open = blocks.size();
    blocks.push_back(std::move(block));
    if (section_names_.insert(sections_.now().name).second) {
      assembly_.code_sections.push_back(sections_.now().directive);
    }
  }

  void LinkJumps() {
    std::map<std::string, std::vector<std::size_t>> tables;  // maps a function to the labels that
                                                             // its tables name
    for (const std::string& label : references_.tables) {
      const auto found = block_of_.find(label);
      if (found == block_of_.end() || !label.starts_with(".L")) continue;
      tables[assembly_.blocks[found->second].function].push_back(found->second);
    }
    for (Block& block : assembly_.blocks) {
      const Instruction& last = assembly_.instructions[block.end - 1];
      if (!IsJump(last.mnemonic) && !IsConditionalJump(last.mnemonic)) continue;
      LinkJump(last, tables[block.function], block);
    }
  }

  void LinkJump(const Instruction& jump, const std::vector<std::size_t>& tables, Block& block) {
    const std::string target = jump.operands.empty() ? "" : jump.operands[0];
    if (target.starts_with('*')) {
      block.unknown_successors = tables.empty() && CalledName(jump).empty();
      block.successors.insert(block.successors.end(), tables.begin(), tables.end());
      return;
    }
    const auto found = block_of_.find(target);
    if (found == block_of_.end()) {
      block.unknown_successors = target.empty() || target.starts_with(".L") ||
                                 std::isdigit(static_cast<unsigned char>(target[0])) != 0;
    } else if (assembly_.blocks[found->second].function == block.function) {
      block.successors.push_back(found->second);
    }
  }

  void Finish(Block& block) const {
    const auto tidy = [](auto& values) {
      std::ranges::sort(values);
      const auto doubles = std::ranges::unique(values);
      values.erase(doubles.begin(), doubles.end());
    };
    tidy(block.successors);
    for (std::size_t i = block.first; i < block.end; ++i) {
      const int line = assembly_.instructions[i].source_line;
      if (line > 0) block.source_lines.push_back(line);
    }
    tidy(block.source_lines);
  }

  std::vector<Statement> statements_;
  References references_;
  Assembly assembly_;
  Sections sections_;
  std::set<std::string> section_names_;
  std::map<std::string, Spot> spots_;  // by section
  std::map<std::string, std::size_t> block_of_;
  std::set<int> source_files_;  // file numbers of kernel.cpp
  int source_line_ = 0;
  std::string prefix_;  // prefix with a line of its own, before the next instruction
  std::size_t prefix_line_ = kNoBlock;
};

}  // namespace

bool CanInstrument() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

Assembly ParseAssembly(std::string_view text) { return Walk(SplitStatements(text)).Run(); }

}  // namespace pragma
