// llm_probe SPEC [BASE_URL]: asks a model the question on standard input and prints the completion
// as JSON. Exit code 1 and the error on stderr when there is none. Only for tests.
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "base/clock.h"
#include "base/interrupt.h"
#include "llm/completion.h"
#include "llm/model.h"

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: llm_probe SPEC [BASE_URL] < question\n";
    return 2;
  }
  pragma::InstallInterruptHandlers();
  const std::string question((std::istreambuf_iterator<char>(std::cin)), {});
  pragma::ModelOptions options;
  if (argc == 3) options.base_url = argv[2];
  options.timeout = pragma::Seconds(30);
  options.max_retries = 2;
  pragma::SystemClock clock;
  const auto model = pragma::MakeModel(argv[1], options, clock);
  if (!model) {
    std::cerr << model.error().message << "\n";
    return 1;
  }
  const auto completion = (*model)->Complete(
      {{.role = "system", .text = "Be brief."}, {.role = "user", .text = question}},
      {.temperature = 0.5, .max_tokens = 100},
      {.run = "", .node = 1, .role = "probe", .ordinal = 0});
  if (!completion) {
    std::cerr << completion.error().message << "\n";
    return 1;
  }
  std::cout << pragma::CompletionToJson(*completion) << "\n";
  return 0;
}
