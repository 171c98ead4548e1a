// What recheck found: the JSON object and the text for people.
#pragma once

#include <string>

#include "core/task.h"
#include "evidence/bundle.h"
#include "evidence/recheck.h"
#include "report/terminal.h"

namespace pragma {

struct Rechecked {
  OpenedBundle opened;
  Task task;  // as described here; named as in the bundle
  Rejudged now;
  RecheckReport report;
};

[[nodiscard]] std::string RecheckObject(const Rechecked& rechecked);
// Everything of the bundle is foreign text and is made safe to show.
[[nodiscard]] std::string RecheckText(const Terminal& terminal, const Rechecked& rechecked);

}  // namespace pragma
