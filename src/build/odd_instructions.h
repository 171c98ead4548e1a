// Instructions that no kernel needs: clocks, counters, random numbers, and registers that calls
// leave alone. With them a kernel could tell how late it is, or count its calls.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pragma {

// Returns "rdtsc", "syscall", ..., each once, found by byte patterns of x86-64, which may occur by
// chance.
[[nodiscard]] std::vector<std::string> OddInstructions(std::string_view code);
// Returns whether any of these is forbidden, so that a disassembly must show whether it is really
// present.
[[nodiscard]] bool CallForDisassembly(const std::vector<std::string>& found);
// Searches objdump's listing for a forbidden instruction. Returns which one it is and what to do,
// or an empty text if there is none.
[[nodiscard]] std::string InstructionComplaint(std::string_view disassembly);

}  // namespace pragma
