#include "base/interrupt.h"
#include "cli/app.h"

namespace {

// Nothing of a library may be called here, and no sanitizer: none of them is ready yet.
#define PRAGMA_BEFORE_LIBRARIES __attribute__((no_sanitize("address", "undefined", "thread")))

PRAGMA_BEFORE_LIBRARIES bool BeginsWith(const char* text, const char* prefix) {
  while (*prefix != '\0') {
    if (*text++ != *prefix++) return false;
  }
  return true;
}

PRAGMA_BEFORE_LIBRARIES bool ConfiguresThreads(const char* variable) {
  return BeginsWith(variable, "OMP_") || BeginsWith(variable, "GOMP_") ||
         BeginsWith(variable, "KMP_") || BeginsWith(variable, "MKL_");
}

// Takes the OpenMP variables of the user's shell out of the environment. libmuparser brings GNU's
// OpenMP runtime along, whose constructor binds this process to a processor if they say so, and
// then the affinity mask would not tell how many processors may be used.
PRAGMA_BEFORE_LIBRARIES void ForgetThreadVariables(int /*argc*/, char** /*argv*/,
                                                   char** environment) {
  char** kept = environment;
  for (char** variable = environment; *variable != nullptr; ++variable) {
    if (!ConfiguresThreads(*variable)) *kept++ = *variable;
  }
  *kept = nullptr;
}

// The functions of this section run before the constructors of shared libraries.
[[gnu::section(".preinit_array"),
  gnu::used]] void (*const before_libraries)(int, char**, char**) = ForgetThreadVariables;

}  // namespace

int main(int argc, char** argv) {
  pragma::InstallInterruptHandlers();
  return pragma::RunProgram(argc, argv);
}
