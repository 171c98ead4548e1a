// layers: http llm
// Parses the body and headers of a service's answer, in each protocol, in one piece and as a
// stream.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "http/http.h"
#include "llm/quirks.h"
#include "llm/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const auto protocol :
       {pragma::Protocol::kOpenAi, pragma::Protocol::kAnthropic, pragma::Protocol::kResponses}) {
    for (const auto& completion :
         {pragma::ParseReply(protocol, body), pragma::ParseStream(protocol, body)}) {
      if (completion && (completion->tokens_in < 0 || completion->tokens_out < 0)) std::abort();
      if (!completion && completion.error().message.empty()) std::abort();
    }
  }
  const std::string complaint = pragma::ServiceComplaint(body);
  if (complaint.find('\n') != std::string::npos) std::abort();
  pragma::Quirks quirks;
  (void)pragma::LearnQuirk({.complaint = complaint, .body = body, .request = body}, quirks);
  (void)pragma::RoomForReply(complaint, 4096, 16384);
  const auto wait = pragma::ParseRetryAfter(body, 1.7e9);
  if (wait && !(wait->count() >= 0)) std::abort();
  (void)pragma::UrlForMessages(body);
  return 0;
}
