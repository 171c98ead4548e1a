#include "build/trace_calls.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "build/assembly.h"
#include "build/memory_access.h"
#include "build/text_insertion.h"
#include "worker/profiler/trace_model.h"

namespace pragma {
namespace {

// Bytes by which the stack pointer has moved when a report takes the address: the red zone, and the
// one register that the report pushes first.
constexpr int kStackShift = 128 + 8;
constexpr int kMostBytes = 64;

// Saves what the callee may change and the kernel may still need: the flags (lahf and seto are
// cheaper than pushf) and the general registers. rbx keeps the stack pointer during its alignment.
// The caller pushed the site's number, and the return removes it. {0}: name, {1}: the variable to
// call through, {2}: moves of the arguments.
constexpr std::string_view kStub = R"({0}:
	pushq	%rdi
	movq	%rax, %rdi
	lahf
	seto	%al
	pushq	%rax
	pushq	%rbx
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
{2}	movq	%rsp, %rbx
	andq	$-16, %rsp
	cld
	call	*{1}(%rip)
	movq	%rbx, %rsp
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rbx
	popq	%rax
	addb	$127, %al
	sahf
	popq	%rdi
	ret	$8
)";
// The pushed number is located above ten registers and the return address.
constexpr std::string_view kAccessMoves = "\tmovl\t88(%rsp), %esi\n";
constexpr std::string_view kBranchMoves = "\tmovzbl\t%dil, %esi\n\tmovl\t88(%rsp), %edi\n";

constexpr std::string_view kAccessStub = ".Lpragma_report_access";
constexpr std::string_view kBranchStub = ".Lpragma_report_branch";
constexpr std::string_view kAccessVariable = ".Lpragma_access_function";
constexpr std::string_view kBranchVariable = ".Lpragma_branch_function";
constexpr std::string_view kNothing = ".Lpragma_report_nothing";

// Returns the code of a report around `move`, which fills rax and leaves the flags unchanged.
std::string Report(std::string_view move, std::size_t number, std::string_view stub) {
  return fmt::format(
      "\tleaq\t-128(%rsp), %rsp\n\tpushq\t%rax\n{}\tpushq\t${}\n\tcall\t{}\n\tpopq\t%rax\n"
      "\tleaq\t128(%rsp), %rsp\n",
      move, number, stub);
}

bool IsTraceable(const MemoryAccess& access, const Address& address, std::string_view operand) {
  // Special relocations (@GOTPCREL and those of thread-local variables) require their own
  // instruction.
  return !access.gather && address.segment.empty() && access.bytes > 0 &&
         access.bytes <= kMostBytes && operand.find('@') == std::string_view::npos;
}

std::string TakeAddress(std::string_view operand, const Address& address) {
  std::string text(WithoutBraces(operand));
  if (address.base == "rsp") {
    const std::string displacement = address.displacement.empty() ? "" : "+" + address.displacement;
    text = fmt::format("{}{}{}", kStackShift, displacement, text.substr(text.rfind('(')));
  }
  return fmt::format("\tleaq\t{}, %rax\n", text);
}

std::uint8_t KindNumber(const TraceSite& site) {
  switch (site.kind) {
    case AccessKind::kStore: return site.non_temporal ? TRACE_NT_STORE : TRACE_STORE;
    case AccessKind::kLoadAndStore: return TRACE_LOAD_AND_STORE;
    case AccessKind::kPrefetch: return TRACE_PREFETCH;
    default: return TRACE_LOAD;
  }
}

// Calls and jumps, and push and pop, are left out. Both kinds have operands that hold an address
// without accessing memory through it.
bool IsLeftOut(const Instruction& instruction) {
  const std::string_view name = instruction.mnemonic;
  return IsCall(name) || IsJump(name) || name.starts_with("push") || name == "pop" ||
         name == "popq";
}

class Tracing {
 public:
  explicit Tracing(const Assembly& assembly) : assembly_(assembly) {}

  TraceProgram Run() {
    for (std::size_t i = 0; i < assembly_.instructions.size(); ++i) Instrument(i);
    program_.text = insertions_.Render(assembly_.lines, Stubs() + Variables() + Tables());
    return std::move(program_);
  }

 private:
  void Instrument(std::size_t index) {
    const Instruction& instruction = assembly_.instructions[index];
    if (IsLeftOut(instruction)) return;
    if (IsConditionalJump(instruction.mnemonic)) {
      ReportBranch(index);
      return;
    }
    if (IsStringInstruction(instruction)) {
      program_.not_covered.push_back(index);
      return;
    }
    const MemoryAccess access = AccessOf(instruction);
    if (access.kind != AccessKind::kNone) ReportAccess(index, access);
  }

  void ReportAccess(std::size_t index, const MemoryAccess& access) {
    const Instruction& instruction = assembly_.instructions[index];
    const std::string& operand = instruction.operands[access.operand];
    const Address address = ParseAddress(operand);
    if (!IsTraceable(access, address, operand)) {
      program_.not_covered.push_back(index);
      return;
    }
    insertions_.Before(instruction.text_line,
                       Report(TakeAddress(operand, address), program_.sites.size(), kAccessStub));
    program_.sites.push_back({.instruction = index,
                              .source_line = instruction.source_line,
                              .bytes = static_cast<std::uint16_t>(access.bytes),
                              .kind = access.kind,
                              .non_temporal = access.non_temporal});
  }

  void ReportBranch(std::size_t index) {
    const Instruction& instruction = assembly_.instructions[index];
    // Jumps that test a register (jrcxz, loop) have no corresponding set instruction.
    if (!instruction.mnemonic.starts_with('j') || instruction.mnemonic.ends_with("cxz")) return;
    const std::string move = fmt::format("\tset{}\t%al\n", instruction.mnemonic.substr(1));
    insertions_.Before(instruction.text_line, Report(move, program_.branches.size(), kBranchStub));
    program_.branches.push_back({.instruction = index, .source_line = instruction.source_line});
  }

  static std::string Stubs() {
    return "\t.text\n" +
           fmt::format(fmt::runtime(kStub), kAccessStub, kAccessVariable, kAccessMoves) +
           fmt::format(fmt::runtime(kStub), kBranchStub, kBranchVariable, kBranchMoves) +
           fmt::format("{}:\n\tret\n", kNothing);
  }

  static std::string Variables() {
    std::string text = "\t.data\n\t.balign\t8\n";
    for (const auto& [symbol, local] : {std::pair(kTraceAccessSymbol, kAccessVariable),
                                        std::pair(kTraceBranchSymbol, kBranchVariable)}) {
      text += fmt::format(
          "\t.globl\t{0}\n\t.type\t{0}, @object\n\t.size\t{0}, 8\n{0}:\n{1}:\n\t.quad\t{2}\n",
          symbol, local, kNothing);
    }
    return text;
  }

  [[nodiscard]] std::string Tables() const {
    std::string text = "\t.section\t.rodata,\"a\",@progbits\n\t.balign\t8\n";
    for (const auto& [symbol, count] :
         {std::pair(kTraceSiteCountSymbol, program_.sites.size()),
          std::pair(kTraceBranchCountSymbol, program_.branches.size())}) {
      text +=
          fmt::format("\t.globl\t{0}\n\t.type\t{0}, @object\n\t.size\t{0}, 8\n{0}:\n\t.quad\t{1}\n",
                      symbol, count);
    }
    text += fmt::format("\t.globl\t{0}\n\t.type\t{0}, @object\n\t.size\t{0}, {1}\n{0}:\n",
                        kTraceSitesSymbol, sizeof(trace_site) * program_.sites.size());
    for (const TraceSite& site : program_.sites) {
      text += fmt::format("\t.short\t{}\n\t.byte\t{}, 0\n\t.long\t{}\n", site.bytes,
                          KindNumber(site), site.source_line);
    }
    return text;
  }

  const Assembly& assembly_;
  Insertions insertions_;
  TraceProgram program_;
};

}  // namespace

TraceProgram InsertTraceCalls(const Assembly& assembly) { return Tracing(assembly).Run(); }

}  // namespace pragma
