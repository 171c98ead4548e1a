// layers: evidence knowledge profile
// files: serve/protocol app/evaluation_request app/candidate_file report/json_text
//
// A client of `pragma serve` may send anything. A message that is accepted must be the same when it
// is written again, and reading the request in it must do no harm.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "app/evaluation_request.h"
#include "base/file.h"
#include "serve/protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto scratch = pragma::TempDir::Create();
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  static_cast<void>(pragma::ParseHello(line));
  static_cast<void>(pragma::ParseReply(line));
  const auto request = pragma::ParseServeRequest(line);
  if (!request) return 0;
  const auto again = pragma::ParseServeRequest(pragma::RequestLine(*request));
  if (!again || again->key != request->key || again->request != request->request) std::abort();
  const auto evaluation =
      pragma::ParseRequest(request->request, "/nonexistent", scratch.value().path());
  if (evaluation) static_cast<void>(pragma::RequestText(*evaluation, 0));
  return 0;
}
