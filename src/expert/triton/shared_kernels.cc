#include "expert/triton/shared_kernels.h"

#include <fmt/format.h>

#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/task.h"
#include "expert/ir/program.h"
#include "expert/triton/kernel_text.h"

namespace pragma::expert::triton {
namespace {

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Calls `each` for what may be the name of a variable, and for the text between such words, in
// order. An attribute (tl.sum) or a keyword (axis=1) has a name of its own.
template <class Each>
void VisitWords(std::string_view text, const Each& each) {
  for (std::size_t at = 0; at < text.size();) {
    const bool word = IsWord(text[at]);
    std::size_t end = at + 1;
    while (end < text.size() && IsWord(text[end]) == word) ++end;
    const bool attribute = at > 0 && text[at - 1] == '.';
    const bool keyword = end < text.size() && text[end] == '=';
    each(text.substr(at, end - at), word && !attribute && !keyword);
    at = end;
  }
}

// Adds the variables that a line assigns: "a = ...", "a, b = ..." or "for a in ...".
void AddAssigned(std::string_view line, std::set<std::string, std::less<>>& names) {
  const std::size_t first = line.find_first_not_of(' ');
  if (first == std::string_view::npos || line[first] == '#') return;
  std::string_view rest = line.substr(first);
  const bool loops = rest.starts_with("for ");
  if (loops) rest.remove_prefix(4);
  const std::size_t end = rest.find(loops ? " in " : " = ");
  if (end == std::string_view::npos) return;
  const std::string_view targets = rest.substr(0, end);
  for (const char c : targets)
    if (!IsWord(c) && c != ',' && c != ' ') return;
  VisitWords(targets, [&](std::string_view word, bool is_word) {
    if (is_word) names.emplace(word);
  });
}

// A kernel without the names of its own variables, and its buffers in the order in which the text
// first uses them.
struct Nameless {
  std::string key;
  std::vector<int> buffers;
};

Nameless WithoutNames(const Program& program, const KernelText& kernel) {
  std::map<std::string, int, std::less<>> parameters;
  for (const int buffer : kernel.buffers) parameters[BufferOf(program, buffer).name] = buffer;
  std::set<std::string, std::less<>> names;
  for (const auto& [name, buffer] : parameters) names.insert(name);
  std::string_view body = kernel.body;
  while (!body.empty()) {
    const std::size_t end = body.find('\n');
    AddAssigned(body.substr(0, end), names);
    body.remove_prefix(end == std::string_view::npos ? body.size() : end + 1);
  }
  Nameless nameless;
  std::map<std::string, std::size_t, std::less<>> numbers;
  VisitWords(kernel.body, [&](std::string_view word, bool is_word) {
    if (!is_word || !names.contains(word)) {
      nameless.key += word;
      return;
    }
    const auto [place, fresh] = numbers.try_emplace(std::string(word), numbers.size());
    nameless.key += fmt::format("${}", place->second);
    const auto parameter = parameters.find(word);
    if (fresh && parameter != parameters.end()) {
      nameless.buffers.push_back(parameter->second);
      nameless.key += fmt::format(":{}", DTypeName(BufferOf(program, parameter->second).dtype));
    }
  });
  for (const Config& config : kernel.configs) {
    nameless.key += fmt::format("\n{} {}", config.warps, config.stages);
    for (const auto& [name, value] : config.constants)
      nameless.key += fmt::format(" {}={}", name, value);
  }
  nameless.key += kernel.measured ? "\nmeasured" : "";
  return nameless;
}

// A kernel that is written, and its buffers in the order in which its text first uses them.
struct Written {
  std::size_t place = 0;
  std::vector<int> buffers;
};

// Returns the buffers of a kernel in the order of the parameters of an earlier one that equals it.
std::vector<int> InOrderOf(const KernelText& first, const std::vector<int>& of_first,
                           const std::vector<int>& of_other) {
  std::map<int, int> role;
  for (std::size_t i = 0; i < of_first.size(); ++i) role[of_first[i]] = of_other[i];
  std::vector<int> arguments;
  for (const int buffer : first.buffers) arguments.push_back(role.at(buffer));
  return arguments;
}

}  // namespace

void ShareKernels(const Program& program, std::vector<KernelText>& kernels) {
  std::map<std::string, Written> known;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const Nameless nameless = WithoutNames(program, kernels[k]);
    if (nameless.buffers.size() != kernels[k].buffers.size()) continue;
    const auto [found, fresh] = known.try_emplace(nameless.key, Written{k, nameless.buffers});
    if (fresh) continue;
    const KernelText& first = kernels[found->second.place];
    kernels[k].arguments = InOrderOf(first, found->second.buffers, nameless.buffers);
    kernels[k].name = first.name;
    kernels[k].shared = true;
  }
}

}  // namespace pragma::expert::triton
