// Runs the whole command line: parses it, builds the context and runs the chosen command.
#pragma once

namespace pragma {

// Returns the exit code of the program.
[[nodiscard]] int RunProgram(int argc, char** argv);

}  // namespace pragma
