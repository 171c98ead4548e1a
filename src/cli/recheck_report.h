// Reports what recheck found, as a JSON object and as text for people.
#pragma once

#include <string>

#include "core/task.h"
#include "evidence/bundle.h"
#include "evidence/recheck.h"
#include "report/terminal.h"

namespace pragma {

struct Rechecked {
  OpenedBundle opened;
  Task task;  // as described on this machine; named as in the bundle
  Rejudged now;
  RecheckReport report;
};

[[nodiscard]] std::string RecheckObject(const Rechecked& rechecked);
// Everything from the bundle is untrusted text. It is escaped before it is shown.
[[nodiscard]] std::string RecheckText(const Terminal& terminal, const Rechecked& rechecked);

}  // namespace pragma
