// What became of a whole model, for people and as JSON (docs/whole-models.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/compiled_model.h"
#include "core/timing.h"
#include "report/html_page.h"
#include "report/terminal.h"

namespace pragma {

struct ModelRow {
  std::string name;  // of the unit: "u1"
  std::string kind;  // class of the modules
  std::string path;  // of the first of them; "" is the model itself
  std::size_t uses = 1;
  bool compiled = false;  // in the form in which only torch.compile calls them
  std::size_t operators = 0;
  double share = 0;                 // of the model's time with Torch
  std::optional<Interval> speedup;  // of the part over eager
  std::optional<Interval> whole;    // the model's time without it over that with it
  std::string outcome;              // "kept", or why it is not
  std::vector<std::string> runs;
};

struct ModelLeftRow {
  std::string path;  // of the first module
  std::size_t uses = 1;
  std::string kind;
  double share = 0;
  std::string why;
};

struct ModelFigures {
  std::optional<Interval> eager_ms;
  std::optional<Interval> compile_ms;
  CompiledModel compile;
  std::optional<Interval> kernels_ms;
  std::optional<Interval> compiled_kernels_ms;  // with torch.compile around the kernels
  CompiledModel compiled_kernels;               // torch.compile around them
  bool compiled_is_faster = false;  // of the two; the speedups are those of the faster one
  std::optional<Interval> speedup_eager;
  std::optional<Interval> speedup_compile;
  std::size_t rounds = 0;
  std::map<std::string, std::string> slow_launches;  // kernel -> why no graph replays its launches
  double error = 0;
  double eager_error = 0;
  double limit = 0;
  std::string reference;
  double first_call_eager = 0;
  double first_call_kernels = 0;
  std::int64_t peak_eager = 0;
  std::int64_t peak_kernels = 0;
};

struct ModelReport {
  std::string name;
  std::string kind;
  std::int64_t parameters = 0;
  std::size_t operators = 0;
  std::size_t calls = 1;  // example calls that the file gives
  double seconds = 0;     // of one call, as it was looked at
  int threads = 1;
  std::string cpu;
  std::string gpu;  // on which it is measured; empty: on the processor
  std::string torch;
  std::vector<ModelRow> parts;
  std::vector<ModelLeftRow> left;
  std::optional<ModelFigures> figures;
  std::string folder;  // what was written; empty: nothing
};

// What is known before anything is searched: the parts, and how much could be gained at most.
[[nodiscard]] std::string ModelPartsText(const Terminal& terminal, const ModelReport& report);
// The result. It ends with a newline.
[[nodiscard]] std::string ModelText(const Terminal& terminal, const ModelReport& report);
// The result as one JSON object with "schema": 1.
[[nodiscard]] std::string ModelObject(const ModelReport& report);
// The result as the content of an HTML page (report/model.js).
[[nodiscard]] PageContent ModelPageContent(const ModelReport& report);

}  // namespace pragma
