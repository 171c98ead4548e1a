// LanguageWords: what prompts say differently for each language that candidates are written in.
// Whole sections are partials of their own: prompts/cpp/, prompts/cuda/, prompts/triton/.
#pragma once

#include <string_view>

#include "core/candidate.h"

namespace pragma {

struct LanguageWords {
  std::string_view language;         // "CUDA C++"
  std::string_view craft;            // "CUDA C++ on NVIDIA GPUs": what one is an expert in
  std::string_view product;          // "CUDA kernel"
  std::string_view processor;        // "CPU", "GPU"
  std::string_view fence;            // of a block of code
  std::string_view comment;          // what begins one
  std::string_view whole_file;       // of a reply, as a reminder
  std::string_view first_structure;  // what a first version should have from the start
  std::string_view change_terms;     // what advice should settle
  std::string_view plan_terms;
  std::string_view library_ideas;  // what highly optimised libraries do
  std::string_view side_changes;   // what a change may need outside its block
  std::string_view first_goal;
  std::string_view faster_goal;
};

// Of a language that models are asked to write: not of plain Python.
[[nodiscard]] const LanguageWords& WordsOf(Language language);

}  // namespace pragma
