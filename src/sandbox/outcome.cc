#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <string>
#include <string_view>

#include "sandbox/jail.h"

namespace pragma {
namespace {

struct SignalText {
  int number;
  std::string_view name;
  std::string_view meaning;
};

constexpr SignalText kSignals[] = {
    {SIGSEGV, "SIGSEGV", "invalid memory access"},
    {SIGBUS, "SIGBUS", "access to memory that is not there"},
    {SIGFPE, "SIGFPE", "integer division by zero or overflow"},
    {SIGILL, "SIGILL",
     "illegal instruction: built for another processor, or unreachable code was reached"},
    {SIGABRT, "SIGABRT", "abort: a failed assertion, an uncaught exception or a corrupted heap"},
    {SIGTRAP, "SIGTRAP", "trap instruction"},
    {SIGXCPU, "SIGXCPU", "processor time limit reached"},
    {SIGXFSZ, "SIGXFSZ", "file size limit reached"},
    {SIGKILL, "SIGKILL", "not by pragma: most likely the system ran out of memory"},
    {SIGTERM, "SIGTERM", "asked to end from outside"},
    {SIGPIPE, "SIGPIPE", "wrote to a closed pipe"},
};

std::string DescribeSignal(int number) {
  if (number == SIGSYS) return "used a forbidden system call (SIGSYS)";
  for (const SignalText& text : kSignals) {
    if (text.number != number) continue;
    return "killed by " + std::string(text.name) + " (" + std::string(text.meaning) + ")";
  }
  const char* abbreviation = ::sigabbrev_np(number);
  if (abbreviation == nullptr) return "killed by signal " + std::to_string(number);
  return "killed by SIG" + std::string(abbreviation) + " (signal " + std::to_string(number) + ")";
}

}  // namespace

Outcome Outcome::FromStatus(int status) {
  Outcome outcome;
  const bool signalled = WIFSIGNALED(status);
  outcome.kind = signalled ? Kind::kSignalled : Kind::kExited;
  outcome.code = signalled ? WTERMSIG(status) : WEXITSTATUS(status);
  return outcome;
}

std::string Outcome::Describe() const {
  switch (kind) {
    case Kind::kExited: return "ended with exit code " + std::to_string(code);
    case Kind::kSignalled: return DescribeSignal(code);
    case Kind::kKilled: return "stopped by pragma";
  }
  return {};
}

}  // namespace pragma
