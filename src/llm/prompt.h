// Prompt templates: logic-less text with {{names}}, in which every name must have a value.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pragma {

// PromptData: the values that a template may name. A name belongs to one of the three maps. List
// items also see the names of the enclosing data.
struct PromptData {
  std::map<std::string, std::string> texts;              // {{name}}
  std::map<std::string, bool> flags;                     // {{#name}}…{{/name}}, {{^name}}…{{/name}}
  std::map<std::string, std::vector<PromptData>> lists;  // {{#name}}…{{/name}}: rendered once for
                                                         // each item
};

// PromptLibrary: the *.mustache files of one folder. Its partials ({{> name}}) are the files of the
// folder partials/ and of the folder for the language that prompts are about. Nothing is escaped,
// because a prompt is plain text.
class PromptLibrary final {
 public:
  // Reads every template at once, so that the prompts of a run do not change half way. `language`
  // names a folder in `folder`. It is empty for prompts that are about no language.
  [[nodiscard]] static Result<PromptLibrary> Load(const std::filesystem::path& folder,
                                                  std::string_view language = {});
  [[nodiscard]] bool Has(const std::string& name) const { return templates_.contains(name); }
  // Renders a template. Fails if the template does not exist or is malformed, and for every name
  // that it uses and `data` lacks.
  [[nodiscard]] Result<std::string> Render(const std::string& name, const PromptData& data) const;

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::string> templates_;
  std::map<std::string, std::string> partials_;
};

}  // namespace pragma
