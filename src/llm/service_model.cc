// The model that asks a hosted or local service: one POST per completion, with retries.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/result.h"
#include "http/http.h"
#include "llm/backoff.h"
#include "llm/completion.h"
#include "llm/model.h"
#include "llm/models.h"
#include "llm/service.h"
#include "llm/wire.h"

namespace pragma {
namespace {

constexpr int kMostQuirks = 2;  // how many refusals of one call may add a quirk

std::string_view KeyVariable(Protocol protocol) {
  switch (protocol) {
    case Protocol::kOpenAi: return "OPENAI_API_KEY";
    case Protocol::kAnthropic: return "ANTHROPIC_API_KEY";
  }
  return "";
}

std::string_view UrlVariable(Protocol protocol) {
  switch (protocol) {
    case Protocol::kOpenAi: return "OPENAI_BASE_URL";
    case Protocol::kAnthropic: return "ANTHROPIC_BASE_URL";
  }
  return "";
}

// Attempt: the result of one try.
struct Attempt {
  Result<Completion> outcome = Fail("not tried");
  bool retry = false;
  std::optional<Seconds> retry_after;
  bool learnt = false;  // the service refused a setting that the next try leaves out
};

class ServiceModel final : public Model {
 public:
  ServiceModel(Service service, ModelOptions options, Clock& clock)
      : service_(std::move(service)),
        options_(std::move(options)),
        clock_(clock),
        backoff_(SystemSeed()) {}

  Result<Completion> Complete(const std::vector<Message>& messages, const Sampling& sampling,
                              const CallKey& key) override;
  [[nodiscard]] std::string name() const override {
    return (service_.protocol == Protocol::kOpenAi ? "openai:" : "anthropic:") + service_.model;
  }

 private:
  [[nodiscard]] std::string Url() const;
  [[nodiscard]] HttpRequest MakeRequest(const std::vector<Message>& messages,
                                        const Sampling& sampling) const;
  Attempt Try(const std::vector<Message>& messages, const Sampling& sampling);
  Attempt Judge(const HttpResponse& response);
  Attempt Refused(const HttpResponse& response);
  [[nodiscard]] std::string RefusalMessage(int status, const std::string& complaint) const;
  Result<void> WaitBeforeRetry(int retry, const Attempt& attempt);
  [[nodiscard]] std::unexpected<Error> GiveUp(ErrorKind kind, const std::string& message) const {
    return Fail(kind, WithoutKey(service_, name() + ": " + message));
  }

  Service service_;
  ModelOptions options_;
  Clock& clock_;
  Backoff backoff_;
  Quirks quirks_;
};

Result<Completion> ServiceModel::Complete(const std::vector<Message>& messages,
                                          const Sampling& sampling, const CallKey& /*key*/) {
  const TimePoint start = clock_.Now();
  int learnt = 0;
  for (int tries = 1;; ++tries) {
    Attempt attempt = Try(messages, sampling);
    if (attempt.outcome) {
      Completion completion = std::move(*attempt.outcome);
      FinishCompletion(completion, messages, options_.price);
      completion.seconds = Seconds(clock_.Now() - start).count();
      return completion;
    }
    if (attempt.learnt && learnt++ < kMostQuirks) continue;
    const Error& error = attempt.outcome.error();
    if (!attempt.retry) return GiveUp(error.kind, error.message);
    if (tries > options_.max_retries) {
      return GiveUp(error.kind,
                    fmt::format("gave up after {} tries; the last: {}", tries, error.message));
    }
    TRY(WaitBeforeRetry(tries - 1, attempt));
  }
}

Attempt ServiceModel::Try(const std::vector<Message>& messages, const Sampling& sampling) {
  Result<HttpResponse> response = HttpPost(MakeRequest(messages, sampling));
  if (response) return Judge(*response);
  const bool retry = response.error().kind == ErrorKind::kUnavailable;
  return {.outcome = std::unexpected(std::move(response).error()), .retry = retry};
}

Attempt ServiceModel::Judge(const HttpResponse& response) {
  if (response.status < 200 || response.status >= 300) return Refused(response);
  Result<Completion> completion = ParseReply(service_.protocol, response.body);
  if (completion) return {.outcome = std::move(completion)};
  Error error = completion.error();
  error.message +=
      fmt::format(" (status {}, {}, from {})", response.status,
                  response.content_type.empty() ? "no content type" : response.content_type,
                  UrlForMessages(Url()));
  return {.outcome = std::unexpected(std::move(error)),
          .retry = true,
          .retry_after = response.retry_after};
}

Attempt ServiceModel::Refused(const HttpResponse& response) {
  const std::string complaint = ServiceComplaint(response.body);
  if (response.status >= 300 && response.status < 400) {
    return {.outcome = Fail(ErrorKind::kUsage,
                            fmt::format("{} redirects to {}, which is not followed; set {} to it",
                                        UrlForMessages(Url()), response.location,
                                        UrlVariable(service_.protocol)))};
  }
  // An exhausted quota is not a rate limit, so waiting does not help.
  const bool no_quota = response.body.find("insufficient_quota") != std::string::npos;
  if (WorthRetrying(response.status) && !no_quota) {
    return {.outcome = Fail(ErrorKind::kUnavailable,
                            fmt::format("{} answered {}: {}", UrlForMessages(Url()),
                                        response.status, complaint)),
            .retry = true,
            .retry_after = response.retry_after};
  }
  const ErrorKind kind = no_quota ? ErrorKind::kUnavailable : ErrorKind::kUsage;
  return {.outcome = Fail(kind, RefusalMessage(response.status, complaint)),
          .learnt = response.status == 400 && LearnQuirk(complaint, quirks_)};
}

std::string ServiceModel::RefusalMessage(int status, const std::string& complaint) const {
  const std::string where = UrlForMessages(Url());
  const std::string_view key = KeyVariable(service_.protocol);
  if (status == 401 || status == 403) {
    return service_.key.empty()
               ? fmt::format("{} wants a key ({}): set {} ({})", where, status, key, complaint)
               : fmt::format("{} refused the key ({}): check {} and that it may use model {} ({})",
                             where, status, key, service_.model, complaint);
  }
  if (status == 404) {
    return fmt::format("{} knows no model {} or no such path (404): check the name and {} ({})",
                       where, service_.model, UrlVariable(service_.protocol), complaint);
  }
  return fmt::format("{} refused the request for model {} ({}): {}", where, service_.model, status,
                     complaint);
}

Result<void> ServiceModel::WaitBeforeRetry(int retry, const Attempt& attempt) {
  const Error& error = attempt.outcome.error();
  if (attempt.retry_after && *attempt.retry_after > options_.timeout) {
    return GiveUp(
        ErrorKind::kUnavailable,
        fmt::format("{}; it asks to wait {:.0f} s, longer than the time limit of {:.0f} s",
                    error.message, attempt.retry_after->count(), options_.timeout.count()));
  }
  const Seconds delay = backoff_.Delay(retry, attempt.retry_after);
  Log(LogLevel::kWarning,
      WithoutKey(service_,
                 fmt::format("{}: {}; trying again in {:.1f} s ({} of {})", name(), error.message,
                             delay.count(), retry + 1, options_.max_retries)));
  return SleepUnlessInterrupted(clock_, delay);
}

std::string ServiceModel::Url() const {
  switch (service_.protocol) {
    case Protocol::kOpenAi: return service_.base_url + "/chat/completions";
    case Protocol::kAnthropic:
      return service_.base_url +
             (service_.base_url.ends_with("/v1") ? "/messages" : "/v1/messages");
  }
  return {};
}

HttpRequest ServiceModel::MakeRequest(const std::vector<Message>& messages,
                                      const Sampling& sampling) const {
  HttpRequest request;
  request.url = Url();
  request.total_timeout = options_.timeout;
  request.body = RequestBody(service_.protocol, service_.model, messages, sampling, quirks_);
  request.headers.emplace_back("Accept", "application/json");
  if (service_.protocol == Protocol::kAnthropic) {
    request.headers.emplace_back("anthropic-version", "2023-06-01");
    if (!service_.key.empty()) request.headers.emplace_back("x-api-key", service_.key);
  } else if (!service_.key.empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + service_.key);
  }
  return request;
}

}  // namespace

std::unique_ptr<Model> MakeServiceModel(Service service, const ModelOptions& options,
                                        Clock& clock) {
  return std::make_unique<ServiceModel>(std::move(service), options, clock);
}

}  // namespace pragma
