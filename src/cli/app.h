// The whole command line: parse, build the context, run the chosen command.
#pragma once

namespace pragma {

// The exit code of the program.
[[nodiscard]] int RunProgram(int argc, char** argv);

}  // namespace pragma
