// Instructions that no kernel needs: clocks, counters, random numbers, and registers that calls
// leave alone. A kernel could tell by them how late it is, or count its calls in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pragma {

// By byte patterns of x86-64, which may be chance: "rdtsc", "syscall", ... Each once.
[[nodiscard]] std::vector<std::string> OddInstructions(std::string_view code);
// Whether any of these is forbidden, so that a disassembly must tell whether it is there.
[[nodiscard]] bool CallForDisassembly(const std::vector<std::string>& found);
// Of objdump's listing: which forbidden instruction it has, and what to do; empty: none.
[[nodiscard]] std::string InstructionComplaint(std::string_view disassembly);

}  // namespace pragma
