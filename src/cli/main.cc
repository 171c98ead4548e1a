#include "base/interrupt.h"
#include "cli/app.h"

int main(int argc, char** argv) {
  pragma::InstallInterruptHandlers();
  return pragma::RunProgram(argc, argv);
}
