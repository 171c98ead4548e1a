// LanguageWords: the wording in prompts that differs between the languages of candidates. Whole
// sections that differ are separate partials: prompts/cpp/, prompts/cuda/, prompts/triton/.
#pragma once

#include <string_view>

#include "core/candidate.h"

namespace pragma {

struct LanguageWords {
  std::string_view language;         // "CUDA C++"
  std::string_view processors;       // what it runs on, unless a backend says more: "CPUs"
  std::string_view product;          // "CUDA kernel"
  std::string_view processor;        // "CPU", "GPU"
  std::string_view fence;            // info string of a fenced code block
  std::string_view comment;          // start of a comment
  std::string_view whole_file;       // reminder that a reply is a whole file
  std::string_view first_structure;  // what a first version should contain from the start
  std::string_view change_terms;     // what advice should decide
  std::string_view plan_terms;
  std::string_view library_ideas;  // techniques of highly optimised libraries
  std::string_view side_changes;   // what a change may need outside its block
  std::string_view first_goal;
  std::string_view faster_goal;
};

// Returns the wording for a language that models are asked to write, which excludes plain Python.
[[nodiscard]] const LanguageWords& WordsOf(Language language);

}  // namespace pragma
