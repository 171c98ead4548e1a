// Embeddings from a service that speaks OpenAI's protocol.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "http/http.h"
#include "knowledge/embedders.h"
#include "knowledge/embedding.h"
#include "llm/backoff.h"
#include "llm/model.h"
#include "llm/service.h"
#include "llm/wire.h"

namespace pragma {
namespace {

constexpr std::size_t kBatch = 64;  // texts per request

// The result of one try.
struct Attempt {
  Result<std::vector<Vector>> outcome = Fail("not tried");
  bool retry = false;
  std::optional<Seconds> retry_after;
};

class ServiceEmbedder final {
 public:
  ServiceEmbedder(Service service, ModelOptions options, Clock& clock)
      : service_(std::move(service)),
        options_(std::move(options)),
        clock_(&clock),
        backoff_(SystemSeed()) {}

  Result<std::vector<Vector>> Embed(const std::vector<std::string>& texts) {
    std::vector<Vector> vectors;
    for (std::size_t at = 0; at < texts.size(); at += kBatch) {
      const std::size_t end = std::min(texts.size(), at + kBatch);
      for (Vector& vector : TRY(Batch({texts.begin() + static_cast<std::ptrdiff_t>(at),
                                       texts.begin() + static_cast<std::ptrdiff_t>(end)}))) {
        vectors.push_back(std::move(vector));
      }
    }
    return vectors;
  }

 private:
  Result<std::vector<Vector>> Batch(const std::vector<std::string>& texts);
  [[nodiscard]] Attempt Try(const std::vector<std::string>& texts) const;
  [[nodiscard]] Attempt Refused(const HttpResponse& response) const;
  [[nodiscard]] std::string Url() const { return service_.base_url + "/embeddings"; }

  Service service_;
  ModelOptions options_;
  Clock* clock_;
  Backoff backoff_;
};

Result<std::vector<Vector>> ServiceEmbedder::Batch(const std::vector<std::string>& texts) {
  for (int tries = 1;; ++tries) {
    Attempt attempt = Try(texts);
    if (attempt.outcome) return std::move(attempt.outcome);
    Error error = attempt.outcome.error();
    error.message =
        WithoutKey(service_, fmt::format("openai:{}: {}", service_.model, error.message));
    if (attempt.retry && tries > options_.max_retries) {
      error.message += fmt::format(" (gave up after {} tries)", tries);
    }
    const bool too_long = attempt.retry_after && *attempt.retry_after > options_.timeout;
    if (!attempt.retry || too_long || tries > options_.max_retries) return std::unexpected(error);
    TRY(SleepUnlessInterrupted(*clock_, backoff_.Delay(tries - 1, attempt.retry_after)));
  }
}

Attempt ServiceEmbedder::Try(const std::vector<std::string>& texts) const {
  HttpRequest request;
  request.url = Url();
  request.total_timeout = options_.timeout;
  request.headers.emplace_back("Accept", "application/json");
  if (!service_.key.empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + service_.key);
  }
  request.body =
      nlohmann::json{{"model", service_.model}, {"input", texts}, {"encoding_format", "float"}}
          .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  Result<HttpResponse> response = HttpPost(request);
  if (!response) {
    const bool retry = response.error().kind == ErrorKind::kUnavailable;
    return {.outcome = std::unexpected(std::move(response).error()), .retry = retry};
  }
  if (response->status < 200 || response->status >= 300) return Refused(*response);
  return {.outcome = ParseVectors(response->body, texts.size())};
}

Attempt ServiceEmbedder::Refused(const HttpResponse& response) const {
  const bool retry = WorthRetrying(response.status);
  const std::string hint = response.status == 401 || response.status == 403
                               ? ": check OPENAI_API_KEY"
                           : response.status == 404 ? ": check the model's name and OPENAI_BASE_URL"
                                                    : "";
  return {.outcome = Fail(retry ? ErrorKind::kUnavailable : ErrorKind::kUsage,
                          fmt::format("{} answered {}{} ({})", UrlForMessages(Url()),
                                      response.status, hint, ServiceComplaint(response.body))),
          .retry = retry,
          .retry_after = response.retry_after};
}

}  // namespace

Result<Embedder> MakeServiceEmbedder(const std::string& model, const ModelOptions& options,
                                     Clock& clock) {
  const Service service = TRY(FindService(Protocol::kOpenAi, model, options));
  const auto made = std::make_shared<ServiceEmbedder>(service, options, clock);
  // Two services may have a model with the same name.
  return Embedder{
      .name = fmt::format("openai:{} at {}", model, UrlForMessages(service.base_url)),
      .embed = [made](const std::vector<std::string>& texts) { return made->Embed(texts); }};
}

}  // namespace pragma
